/** Rule 22: what is remembered about scheduled jobs, and how many. */
import { beforeEach, describe, expect, it } from 'vitest';
import { peerNamed } from '../../../../test/keyed.js';
import { Scheduler } from './peers.js';
import { Assignments } from './schedulers.js';

const scheduler = (name: string) => new Scheduler('frontend', peerNamed(name), 0);

let assignments: Assignments;
let first: Scheduler;
beforeEach(() => {
  assignments = new Assignments();
  first = scheduler('s1');
  assignments.add(first);
});

describe('assignments', () => {
  it('rule 22: the oldest is forgotten beyond 100,000 jobs', () => {
    for (let i = 0; i <= 100_000; i++) assignments.assign(`job ${i}`);
    expect(assignments.jobs).toBe(100_000);
    expect(first.jobs.has('job 0')).toBe(false);
    const second = scheduler('s2');
    assignments.add(second);
    expect(assignments.assign('job 100000')).toBe(first);
    expect(assignments.assign('job 0')).toBe(second);
  });

  it('rule 22: the oldest is forgotten beyond 64 Mi characters', () => {
    for (let i = 0; i < 65; i++) assignments.assign(`${i} `.padEnd(1 << 20, 'x'));
    expect(assignments.jobs).toBe(64);
    assignments.forget(`64 `.padEnd(1 << 20, 'x'));
    assignments.assign('small');
    expect(assignments.jobs).toBe(64);
  });

  it('rule 22: a scheduler that leaves takes its jobs along, and the one before it is the last again', () => {
    const second = scheduler('s2');
    assignments.add(second);
    assignments.assign('a');
    assignments.remove(second);
    expect(assignments.jobs).toBe(0);
    expect(assignments.assign('a')).toBe(first);
    assignments.remove(first);
    expect(assignments.assign('a')).toBeUndefined();
  });
});
