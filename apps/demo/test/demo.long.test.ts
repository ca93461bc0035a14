// What `npm start` does: all files of the repository. `demo.test.ts` sends some.
import { Programs } from '@proj/appkit/testing';
import { afterEach, describe, expect, it } from 'vitest';

const programs = new Programs();
afterEach(() => programs.end());

describe('proj-demo', () => {
  it('sends the files of this repository, and loses only a worker', async () => {
    const { code, stdout, stderr } = await programs.run('demo', ['--once']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const quarter of ['25 %', '50 %', '75 %', '100 %']) expect(stdout).toContain(`  ${quarter} (`);
    expect(stdout).toMatch(/ {2}worker 1 \(process \d+\) is frozen with jobs in hand, then killed\./);
    const [, requests, answers] = /Nothing was lost: (\d+) requests, (\d+) answers, 0 of them wrong/.exec(stdout) ?? [];
    expect(Number(requests)).toBeGreaterThan(100);
    expect(answers).toBe(requests);
    expect(Number(/gave (\d+) jobs of lost workers to others/.exec(stdout)?.[1])).toBeGreaterThan(0);
    const rows = stdout.split('\n').filter((line) => /^(text-stats|sha256) /.test(line));
    expect(rows.map((row) => row.split(/ +/)[4])).toEqual(['3', '3']);
  });
});
