import { describe, expect, it } from 'vitest';
import { tables, verdict, whereToLook } from './report.js';
import { ServiceFigures } from './tally.js';

function tallyOf(service: string, flaw: Partial<Pick<ServiceFigures, 'failed' | 'mismatched'>> = {}): ServiceFigures {
  const tally = new ServiceFigures(service);
  tally.sent = 2;
  tally.answer(11, 0, 10);
  tally.answer(12, 0, 20);
  return Object.assign(tally, flaw);
}

describe('tables', () => {
  it('show a row per service and per worker, even for a worker that answered nothing', () => {
    const workers = [
      { name: 'worker 1', pid: 11, wasKilled: true },
      { name: 'worker 2', pid: 12, wasKilled: false },
      { name: 'worker 3', pid: 13, wasKilled: false },
    ];
    expect(tables([tallyOf('echo')], workers)).toEqual([
      '',
      'service  requests  answers  wrong  workers used  p50 ms  p99 ms  answers/s',
      'echo            2        2      0             2    10.0    20.0        100',
      '',
      'worker    pid  echo',
      'worker 1   11     1  killed half-way',
      'worker 2   12     1',
      'worker 3   13     0',
      '',
    ]);
  });
});

describe('verdict', () => {
  it('says that nothing was lost, and what happened', () => {
    expect(verdict([tallyOf('a'), tallyOf('b')], { broker: 3, client: 1 })).toEqual([
      'Nothing was lost: 4 requests, 4 answers, 0 of them wrong.',
      'The broker gave 3 jobs of lost workers to others; the client had to repeat 1 requests.',
    ]);
  });

  it.each([
    ['a wrong answer', { mismatched: 1 }, '4 requests, 4 answers, 1 of them wrong, 0 requests failed.'],
    ['a failed request', { failed: 1 }, '4 requests, 4 answers, 0 of them wrong, 1 requests failed.'],
  ])('does not hide %s', (_, flaw, counts) => {
    expect(verdict([tallyOf('a'), tallyOf('b', flaw)], { broker: 0, client: 0 })[0]).toBe(
      `NOT ALL WENT WELL: ${counts}`,
    );
  });
});

describe('whereToLook', () => {
  it('names commands that reach this broker and this queue', () => {
    const lines = whereToLook(
      'tcp://127.0.0.1:7',
      { receive: 'tcp://127.0.0.1:8', send: 'tcp://127.0.0.1:9', monitor: 'tcp://127.0.0.1:10' },
      (app) => `run ${app}`,
    );
    expect(lines).toContain('  run cli services --connect tcp://127.0.0.1:7');
    expect(lines.filter((line) => /^ {2}run cli (push|monitor|pull) /.test(line))).toEqual([
      '  run cli push hello --connect tcp://127.0.0.1:8',
      '  run cli monitor --connect tcp://127.0.0.1:10',
      '  run cli pull --connect tcp://127.0.0.1:9',
    ]);
    const others = lines.filter((line) => /^ {2}run (?!cli (push|monitor|pull) )/.test(line));
    expect(others.every((line) => line.includes('tcp://127.0.0.1:7'))).toBe(true);
  });
});
