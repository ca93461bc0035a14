/** Rule 21: workers that an operator removes. */
import { describe, expect, it } from 'vitest';
import { PoolUnderTest, QueueUnderTest } from '../../../test/ppp/under-test.js';

describe('a dismissed worker', () => {
  it('rule 21: is forgotten at once, and its job goes to another', () => {
    const queue = new QueueUnderTest();
    queue.ready('w1');
    queue.request('c1', 'hello');
    queue.ready('w2');
    expect(queue.step({ kind: 'dismiss', worker: 'w1', isGraceful: false })).toEqual([
      'worker-lost w1 dismissed',
      expect.stringMatching(/^-> w2 .*hello/),
    ]);
    expect(queue.ready('w1')).toEqual(['worker-ready w1']);
  });

  it('rule 21: finishes its job first if it is drained, and gets no other', () => {
    const queue = new QueueUnderTest();
    queue.ready('w1');
    queue.request('c1', 'one');
    queue.request('c2', 'two');
    expect(queue.step({ kind: 'dismiss', worker: 'w1', isGraceful: true })).toEqual([]);
    expect(queue.reply('w1', 'c1', 'done')).toEqual([
      expect.stringMatching(/^-> c1 .*done/),
      'worker-lost w1 dismissed',
    ]);
    expect(queue.ready('w2')).toContainEqual(expect.stringMatching(/^-> w2 .*two/));
  });

  it('rule 21: leaves at once if it is drained without a job; other workers stay', () => {
    const pool = new PoolUnderTest();
    pool.ready('w1');
    pool.ready('w2');
    expect(pool.step({ kind: 'dismiss', worker: '7731', isGraceful: true })).toEqual(['worker-lost w1 dismissed']);
    expect(pool.step({ kind: 'dismiss', worker: 'w1', isGraceful: false })).toEqual([]);
    expect(pool.stats.workers).toBe(1);
  });
});
