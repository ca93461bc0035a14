/** Rules 13 and 29: which worker is next in a queue, and what is remembered about forgotten queues. */
import { describe, expect, it } from 'vitest';
import { peerNamed } from '../../../../test/keyed.js';
import { Worker } from '../peers/peers.js';
import { Queues } from './queues.js';

const newQueues = (queuesMax = 10_000) =>
  new Queues({ queueMax: 10, defaultQueueMax: 20, queueMaxBytes: 10_000, queuesMax });

describe('queues', () => {
  it('rule 29: totals of the last 1000 forgotten queues are kept', () => {
    const queues = newQueues();
    for (let i = 0; i <= 1000; i++) {
      const queue = queues.open(`q${i}`, 0);
      queue.totals.processed = 1;
      queues.tidy(queue);
    }
    expect(queues.size).toBe(0);
    expect([...queues.totals()]).toHaveLength(1000);
    expect(queues.open('q0', 0).totals.processed).toBe(0);
    expect(queues.open('q1000', 0).totals.processed).toBe(1);
  });

  it('rule 29: a queue in which nothing was done leaves no totals', () => {
    const queues = newQueues();
    queues.tidy(queues.open('a', 0));
    expect([...queues.totals()]).toEqual([]);
  });

  it('rule 15: default has its own bound, and does not count among the names', () => {
    const queues = newQueues(1);
    expect([queues.open('a', 0).max, queues.open('default', 0).max]).toEqual([10, 20]);
    expect([queues.mayServe(['a', 'default']), queues.mayServe(['a', 'b'])]).toEqual([true, false]);
    expect(queues.mayAsk()).toBe(false);
  });
});

describe('free subscriptions', () => {
  it('rule 13: the highest weight first, then the first to come; a weight without workers is skipped', () => {
    const queues = newQueues();
    const subscriptions = [5, 9, 5, 1].map((weight, i) => {
      const worker = new Worker('backend', peerNamed(`w${i}`), 0);
      worker.subscribe([{ weight, name: 'a' }], queues, 0);
      return worker.subscriptions[0]!;
    });
    const { free } = queues.open('a', 0);
    for (const subscription of subscriptions) free.add(subscription);
    const order: number[] = [];
    while (free.first !== undefined) {
      order.push(subscriptions.indexOf(free.first));
      free.remove(free.first);
    }
    expect(order).toEqual([1, 0, 2, 3]);
    expect(free.first).toBeUndefined();
    expect([...free.values()]).toEqual([]);
  });
});
