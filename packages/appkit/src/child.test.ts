import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ChildProgram } from './child.js';

let folder: string;
let children: ChildProgram[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'appkit-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    child.kill('SIGKILL');
    await child.exit;
  }
  rmSync(folder, { recursive: true });
});

function start(source: string): ChildProgram {
  const script = join(folder, 'program.mjs');
  writeFileSync(script, source);
  const child = new ChildProgram('sample', script, []);
  children.push(child);
  return child;
}

const WAIT = "setInterval(() => {}, 1000); console.log(JSON.stringify({ level: 'info', msg: 'listening', port: 1 }));";

it('finds a log record that was written before, and one that comes later', async () => {
  const child = start(`console.log('noise'); ${WAIT}`);
  expect(await child.record('listening')).toMatchObject({ port: 1 });
  expect(await child.record('listening', { port: 1 })).toMatchObject({ level: 'info' });
});

it('rejects if the program ends without the record, with its output', async () => {
  const child = start("console.error('sample: no luck'); process.exit(1)");
  await expect(child.record('listening')).rejects.toThrow(
    'sample ended (exit code 1) before it logged "listening": sample: no luck',
  );
});

it('asks a program to stop', async () => {
  const child = start(`process.on('SIGTERM', () => process.exit(0)); ${WAIT}`);
  await child.record('listening');
  expect(await child.stop(60_000)).toMatchObject({ code: 0, signal: null });
});

it('ends a program that does not stop', async () => {
  const child = start(`process.on('SIGTERM', () => {}); ${WAIT}`);
  await child.record('listening');
  expect(await child.stop(1)).toMatchObject({ code: null, signal: 'SIGKILL' });
});

it('reports a script that does not exist', async () => {
  const child = new ChildProgram('ghost', join(folder, 'none.mjs'), []);
  children.push(child);
  await expect(child.record('listening')).rejects.toThrow(/^ghost ended \(exit code 1\).*Cannot find module/s);
});
