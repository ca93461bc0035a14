/** Rules 16 to 20: workers that are lost with more jobs than one step may end. */
import { beforeEach, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';

/** Jobs that one step loses or sends on. */
const SLICE = 64;

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

/** A worker with this many jobs, the first of which has the id `m0`. */
function busy(worker: string, jobs: number, headers: (job: number) => string): void {
  broker.inform(worker);
  broker.ready(worker, jobs);
  for (let job = 0; job < jobs; job++) broker.request('c1', `m${job}`, 'default', headers(job));
}

const oddAreKept = (job: number): string => (job % 2 === 1 ? 'guarantee,reply-requested' : 'reply-requested');

it('rules 17 and 20: jobs are lost a slice at a time, then the others go on in their order', () => {
  busy('w1', 150, oddAreKept);
  broker.gone('w1');
  const seen = [[broker.stats.openRequests, broker.stats.counters.resends]];
  for (let step = 0; step < 2; step++) {
    broker.advance(1);
    seen.push([broker.stats.openRequests, broker.stats.counters.resends]);
  }
  expect(seen).toEqual([
    [150 - SLICE, 0],
    [75, 2 * SLICE - 75],
    [75, 75],
  ]);
  broker.inform('w2');
  const again = broker.ready('w2', 75).map((line) => line.split(' ')[3]);
  expect(again).toEqual(Array.from({ length: 75 }, (_, index) => `m${2 * index + 1}`));
});

it('rule 17: a job that is answered before its turn comes does not go on', () => {
  busy('w1', 150, oddAreKept);
  broker.gone('w1');
  broker.inform('w1');
  expect(broker.reply('w1', 'm149')).toEqual(['-> c1 RESULT m149 {"value": 5}']);
  broker.advance(2);
  expect([broker.stats.openRequests, broker.stats.counters.resends]).toEqual([74, 74]);
});

it('rule 20: many workers that are lost at once share the slice', () => {
  for (const worker of Array.from({ length: 10 }, (_, index) => `w${index}`)) busy(worker, 10, () => '');
  const before = broker.stats.openRequests;
  broker.access();
  expect(before - broker.stats.openRequests).toBeLessThanOrEqual(SLICE);
  broker.advance(1);
  expect([before, broker.stats.openRequests, broker.stats.counters.dropped['jobs-lost']]).toEqual([100, 0, 100]);
});

it('rule 16: guaranteed jobs of a worker that cannot be reached go on a slice at a time', () => {
  busy('w1', 100, () => 'guarantee');
  broker.undeliverable('w1', 'unreachable', 'm0');
  const first = broker.stats.counters.resends;
  broker.advance(1);
  expect([first, broker.stats.counters.resends]).toEqual([SLICE + 1, 100]);
});

it('rule 18: a worker that leaves under the name of a lost one can still answer', () => {
  busy('w1', 100, () => 'reply-requested');
  broker.bye('w1');
  broker.gone('w1');
  broker.inform('w1');
  broker.ready('w1');
  broker.request('c2', 'late', 'default', 'reply-requested');
  broker.bye('w1');
  broker.advance(1);
  expect(broker.stats.leaving).toBe(1);
  expect(broker.reply('w1', 'late')).toEqual(['-> c2 RESULT late {"value": 5}']);
});

it('rule 27: a broker that stops waits until each job is lost', () => {
  busy('w1', 100, () => 'reply-requested');
  broker.gone('w1');
  expect(broker.drain()).not.toContain('drained');
  const rest = broker.advance(1);
  expect(rest.filter((line) => line.includes('job lost with its worker'))).toHaveLength(100 - SLICE);
  expect(rest.at(-1)).toContain('drained');
});

it('rule 27: a broker whose time is up loses the rest at once', () => {
  broker = new BrokerUnderTest({ drainMs: 1 });
  busy('w1', 300, () => 'reply-requested');
  broker.drain();
  broker.gone('w1');
  const rest = broker.advance(1);
  expect(rest.at(-1)).toContain('drained');
  expect([broker.stats.openRequests, broker.engine.deadline]).toEqual([0, Infinity]);
});
