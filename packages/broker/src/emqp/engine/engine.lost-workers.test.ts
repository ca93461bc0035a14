/** Rules 16 to 20: workers that are lost, or leave, with more jobs than one step may end. */
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

const everyThirdIs =
  (...headers: readonly string[]) =>
  (job: number): string =>
    headers[job % 3] ?? '';

it('rule 18: jobs of a worker that leaves end as unconfirmed a slice at a time; others can still be answered', () => {
  busy('w1', 300, everyThirdIs('', 'reply-requested', 'guarantee'));
  broker.bye('w1');
  const seen = [broker.stats.counters.unconfirmed];
  seen.push((broker.advance(1), broker.stats.counters.unconfirmed));
  expect([seen, broker.stats.openRequests]).toEqual([[SLICE, 100], 200]);
  expect(broker.reply('w1', 'm298')).toEqual(['-> c1 RESULT m298 {"value": 5}']);
  for (let job = 0; job < 300; job++) if (job % 3 > 0 && job !== 298) broker.reply('w1', `m${job}`);
  expect([broker.stats.openRequests, broker.stats.leaving]).toEqual([0, 0]);
});

it('rule 18: jobs without a reply end as unconfirmed even if the connection ends before their turn', () => {
  for (const headers of ['', 'reply-requested']) {
    broker = new BrokerUnderTest();
    busy('w1', 150, (job) => (job === 0 ? headers : ''));
    broker.bye('w1');
    broker.gone('w1');
    broker.advance(2);
    expect([broker.stats.counters.unconfirmed, broker.stats.openRequests]).toEqual([headers === '' ? 150 : 149, 0]);
  }
});

it('rules 11 and 18: a worker that leaves again can answer what it had each time, the oldest first', () => {
  for (const client of ['c1', 'c2', 'c3', 'c4']) {
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.request(client, 'same', 'default', 'reply-requested');
  }
  broker.request('c5', 'other', 'default', 'reply-requested');
  broker.bye('w1');
  expect([broker.stats.leaving, broker.engine.detail(0).workers[0]?.running]).toEqual([1, 5]);
  broker.undeliverable('w1', 'unreachable', 'same');
  broker.inform('w2');
  expect(broker.ready('w2')).toEqual(['-> w2 REQUEST same default']);
  expect(broker.reply('w2', 'same')).toEqual(['-> c4 RESULT same {"value": 5}']);
  broker.reply('w1', 'other');
  expect(broker.say('w1', 'REPLY', 'p', '{"value": 5}')).toEqual(['note message-dropped reply-ambiguous w1']);
  const answered = ['c1', 'c2'].map(() => broker.reply('w1', 'same'));
  expect(answered).toEqual([['-> c1 RESULT same {"value": 5}'], ['-> c2 RESULT same {"value": 5}']]);
  expect(broker.say('w1', 'REPLY', 'p', '{"value": 5}')).toEqual(['-> c3 RESULT same {"value": 5}']);
  expect(broker.stats.leaving).toBe(0);
});

it('rule 18: of a worker that leaves over and over, the jobs of its last 64 departures can be answered', () => {
  broker = new BrokerUnderTest({ registrationsPerSecondMax: 1000 });
  for (let time = 0; time < 66; time++) {
    broker.inform('w1');
    broker.ready('w1');
    broker.request('c1', `m${time}`, 'default', 'reply-requested');
  }
  broker.advance(1);
  const lost = broker.stats.counters.dropped['jobs-lost'];
  expect([broker.stats.leaving, broker.stats.openRequests, lost]).toEqual([1, 65, 1]);
  const answers = ['m0', 'm1', 'm64'].map((id) => broker.reply('w1', id));
  expect(answers).toEqual([
    ['note message-dropped reply-unknown w1'],
    ['-> c1 RESULT m1 {"value": 5}'],
    ['-> c1 RESULT m64 {"value": 5}'],
  ]);
  broker.gone('w1');
  broker.advance(1);
  expect([broker.stats.leaving, broker.stats.openRequests]).toEqual([0, 0]);
});

it('rule 16: jobs of an unreachable worker that are not guaranteed may still come back', () => {
  busy('w1', 300, everyThirdIs('', 'reply-requested', 'guarantee'));
  broker.undeliverable('w1', 'unreachable', 'm0');
  expect([broker.stats.counters.resends, broker.stats.openRequests]).toEqual([SLICE + 1, 300]);
  broker.advance(1);
  expect([broker.stats.counters.resends, broker.stats.openRequests]).toEqual([101, 300]);
  broker.undeliverable('w1', 'unreachable', 'm1');
  broker.inform('w2');
  const again = broker.ready('w2', 102).map((line) => line.split(' ')[3]);
  expect([again[0], again[SLICE], again[101], new Set(again).size]).toEqual(['m2', 'm0', 'm1', 102]);
});

it('rule 19: jobs that end in silence do so a slice at a time, and later ones stay', () => {
  busy('w1', 150, () => 'guarantee');
  broker.live(11_000, 'w1');
  broker.ready('w1', 150);
  expect(broker.stats.counters.unconfirmed).toBe(SLICE);
  broker.request('c1', 'late', 'default', 'guarantee');
  broker.advance(2);
  expect([broker.stats.counters.unconfirmed, broker.stats.openRequests]).toEqual([150, 1]);
});

it('rule 20: jobs lost with processes that were replaced are told a slice at a time', () => {
  busy('w1', 150, oddAreKept);
  broker.live(11_000, 'w1');
  for (const job of [0, 1]) broker.reply('w1', `m${job}`);
  broker.ready('w1', 2);
  const before = broker.ready('w1', 147);
  expect([before.length, broker.stats.counters.dropped['jobs-lost']]).toEqual([0, 0]);
  const first = broker.ready('w1');
  broker.request('c1', 'late', 'default', 'reply-requested');
  // Those that are kept go to another process of the same worker.
  expect(first.filter((line) => line.includes('job lost')).map((line) => line.split(' ')[3])).toEqual(
    Array.from({ length: SLICE / 2 }, (_, index) => `m${2 * index + 2}`),
  );
  broker.advance(2);
  expect([broker.stats.counters.dropped['jobs-lost'], broker.stats.counters.resends]).toEqual([74, 74]);
  expect(broker.stats.openRequests).toBe(75);
});

it('rule 20: a worker that has left may answer even those of its jobs that may be lost', () => {
  busy('w1', 5, () => 'reply-requested');
  broker.live(11_000, 'w1');
  broker.ready('w1', 3);
  broker.bye('w1');
  for (let job = 0; job < 5; job++)
    expect(broker.reply('w1', `m${job}`)).toEqual([`-> c1 RESULT m${job} {"value": 5}`]);
});
