/** Rules 9 to 16: how a request reaches a worker, and how its result returns. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest, jobBody } from '../../../test/emqp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

/** A broker with these options and worker w1 for queue default with one slot. */
function withWorker(options: ConstructorParameters<typeof BrokerUnderTest>[0] = {}): void {
  broker = new BrokerUnderTest(options);
  broker.inform('w1');
  broker.ready('w1');
}

/** Who got which job, from all messages. */
const dispatched = (lines: readonly string[]) =>
  lines.flatMap((line) => /-> (\w+) REQUEST (\w+)/.exec(line)?.slice(1).join(' ') ?? []);

describe('the acceptance', () => {
  it('rule 9: is sent at dispatch', () => {
    withWorker();
    expect(broker.request('c1', 'm1')).toEqual(['-> c1 ACCEPTED m1', '-> w1 REQUEST m1 default']);
  });

  it('rule 9: is sent when the request waits, and not again when it is dispatched', () => {
    broker.inform('w1');
    expect(broker.request('c1', 'm1')).toEqual(['-> c1 ACCEPTED m1']);
    expect(broker.ready('w1')).toEqual(['-> w1 REQUEST m1 default']);
  });

  it('rule 9: is not sent again when the job goes to another worker', () => {
    withWorker();
    broker.request('c1', 'm1', 'default', 'guarantee');
    broker.inform('w2');
    broker.ready('w2');
    expect(broker.gone('w1')).toEqual(['left w1 gone', '-> w2 REQUEST m1 default']);
  });

  it('rule 9: is not sent for a refused request', () => {
    broker = new BrokerUnderTest({ defaultQueueMax: 1 });
    broker.request('c1', 'm1');
    expect(broker.request('c1', 'm2')).toEqual(['note request-dropped queue-full c1 default']);
    expect(broker.say('c1', 'REQUEST', 'm3', 'default', '')).toEqual(['note message-dropped frame-count c1']);
  });

  it.each([
    ['reply', ['-> c1 ACCEPTED m1']],
    ['ack', ['-> c1 ACK m1']],
    ['both', ['-> c1 ACCEPTED m1', '-> c1 ACK m1']],
  ] as const)('rule 9: is sent as acceptance %s says', (acceptance, expected) => {
    broker = new BrokerUnderTest({ acceptance });
    expect(broker.request('c1', 'm1')).toEqual(expected);
  });

  it('rule 9: goes to a scheduler like to any client', () => {
    broker.scheduler('s1');
    expect(broker.request('s1', 'm1', 'default', 'reply-requested')).toEqual(['-> s1 ACCEPTED m1']);
  });
});

describe('the result', () => {
  it('rule 10: goes to the client that requested it', () => {
    withWorker();
    broker.request('c1', 'm1', 'default', 'reply-requested');
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
    expect(broker.stats.counters).toMatchObject({ results: 1, processed: 1 });
  });

  it.each(['reply-requested, timeout:9', '{"reply-requested": true}'])('rule 10: is requested by %j', (headers) => {
    withWorker();
    broker.request('c1', 'm1', 'default', headers);
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
  });

  it('rule 10: goes to no client that did not request it', () => {
    withWorker();
    broker.request('c1', 'm1');
    expect(broker.reply('w1', 'm1')).toEqual([]);
    expect(broker.stats.openRequests).toBe(0);
  });

  it('rule 10: goes once', () => {
    withWorker();
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.reply('w1', 'm1');
    expect(broker.reply('w1', 'm1')).toEqual(['note message-dropped reply-unknown w1']);
  });

  it('rule 10: is given up a slice at a time, if many take too long', () => {
    broker = new BrokerUnderTest({ resultRouteTtlMs: 5000 });
    broker.inform('w1');
    broker.ready('w1', 150);
    for (let index = 0; index < 150; index++) broker.request('c1', `m${index}`, 'default', 'reply-requested');
    const expired = [5000, 1, 1].map((ms) => {
      broker.live(ms, 'w1');
      return broker.dropped['result-expired'];
    });
    expect(expired).toEqual([64, 128, 150]);
  });

  it('rule 10: is dropped and counted when it takes too long', () => {
    withWorker({ resultRouteTtlMs: 5000 });
    broker.request('c1', 'm1', 'default', 'reply-requested');
    expect(broker.live(5000, 'w1')).toEqual(['5000ms: note reply-dropped result-expired c1']);
    expect(broker.reply('w1', 'm1')).toEqual(['note message-dropped reply-unknown w1']);
    expect(broker.stats.awaitedResults).toBe(0);
  });

  it('rule 10: of the oldest job is no longer awaited if there are too many', () => {
    broker = new BrokerUnderTest({ resultRouteMax: 2 });
    broker.inform('w1');
    broker.ready('w1', 3);
    for (const id of ['m1', 'm2']) broker.request('c1', id, 'default', 'reply-requested');
    expect(broker.request('c2', 'm3', 'default', 'reply-requested')).toContain('note reply-dropped result-evicted c1');
    expect(broker.reply('w1', 'm1')).toEqual(['note message-dropped reply-unknown w1']);
    expect(broker.reply('w1', 'm3')).toEqual(['-> c2 RESULT m3 {"value": 5}']);
  });

  it('rule 11: for equal ids finds its client by worker', () => {
    broker.inform('w1');
    broker.inform('w2');
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'uuid', 'default', 'reply-requested');
    broker.request('c2', 'uuid', 'default', 'reply-requested');
    expect(broker.reply('w2', 'uuid', 'two')).toEqual(['-> c2 RESULT uuid two']);
    expect(broker.reply('w1', 'uuid', 'one')).toEqual(['-> c1 RESULT uuid one']);
  });

  it('rule 11: for equal ids at one worker belongs to the first job', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.request('c1', 'uuid', 'default', 'reply-requested');
    broker.request('c2', 'uuid', 'default', 'reply-requested');
    expect(broker.reply('w1', 'uuid', 'one')).toEqual(['-> c1 RESULT uuid one']);
    expect(broker.reply('w1', 'uuid', 'two')).toEqual(['-> c2 RESULT uuid two']);
  });
});

describe('forwarding', () => {
  it('rule 12: forwards id, queue, headers and body unchanged', () => {
    withWorker();
    const effects = broker.engine.step(
      {
        kind: 'message',
        port: 'frontend',
        peer: { key: '\0\xff', id: Uint8Array.of(0, 255) },
        command: {
          kind: 'request',
          id: '\0\xfe',
          queue: 'é',
          headers: Uint8Array.of(0xff, 0x2c),
          body: Uint8Array.of(0x80),
        },
      },
      0,
    );
    expect(effects.map((effect) => (effect.kind === 'send' ? effect.command : effect))).toMatchObject([
      { kind: 'accepted', of: '\0\xfe' },
      { kind: 'request', id: '\0\xfe', queue: 'é', headers: Uint8Array.of(0xff, 0x2c), body: Uint8Array.of(0x80) },
    ]);
  });
});

describe('dispatch', () => {
  it('rule 13: prefers the worker with the highest weight as long as it has a slot', () => {
    broker.inform('w1', 'a:10');
    broker.inform('w2', 'a:20');
    broker.ready('w1', 2);
    broker.ready('w2', 2);
    const lines = ['m1', 'm2', 'm3'].flatMap((id) => broker.request('c1', id, 'a'));
    expect(dispatched(lines)).toEqual(['w2 m1', 'w2 m2', 'w1 m3']);
  });

  it('rule 13: alternates between equal weights', () => {
    broker.inform('w1', 'a');
    broker.inform('w2', 'a');
    broker.ready('w1', 2);
    broker.ready('w2', 2);
    const lines = ['m1', 'm2', 'm3', 'm4'].flatMap((id) => broker.request('c1', id, 'a'));
    expect(dispatched(lines)).toEqual(['w1 m1', 'w2 m2', 'w1 m3', 'w2 m4']);
  });

  it('rule 13: the last one used comes last, even if it was used for another queue', () => {
    broker.inform('w1', 'a', 'b');
    broker.inform('w2', 'a', 'b');
    broker.ready('w1', 2);
    broker.ready('w2', 2);
    expect(dispatched([...broker.request('c1', 'm1', 'a'), ...broker.request('c1', 'm2', 'b')])).toEqual([
      'w1 m1',
      'w2 m2',
    ]);
  });

  it('rule 13: READY drains by weight, not by the order of INFORM', () => {
    broker.inform('w1', 'low:1', 'high:9', 'middle:5');
    for (const queue of ['low', 'middle', 'high']) broker.request('c1', queue, queue);
    expect(dispatched(broker.ready('w1', 3))).toEqual(['w1 high', 'w1 middle', 'w1 low']);
  });

  it('rule 13: READY drains queues of equal weight in turn, the one served least recently first', () => {
    broker.inform('w1', 'a', 'b');
    for (const id of ['a1', 'a2', 'a3']) broker.request('c1', id, 'a');
    for (const id of ['b1', 'b2']) broker.request('c1', id, 'b');
    expect(dispatched(broker.ready('w1', 5))).toEqual(['w1 a1', 'w1 b1', 'w1 a2', 'w1 b2', 'w1 a3']);
  });

  it('rule 13: clients take turns within a queue, the jobs of each in their order', () => {
    broker.inform('w1');
    for (const [client, id] of [
      ['c1', 'm1'],
      ['c1', 'm2'],
      ['c2', 'm3'],
      ['c1', 'm4'],
    ] as const)
      broker.request(client, id);
    expect(dispatched(broker.ready('w1', 4))).toEqual(['w1 m1', 'w1 m3', 'w1 m2', 'w1 m4']);
  });

  it('rule 13: with 300 jobs of one client waiting, another client’s job is the next but one', () => {
    broker.inform('w1');
    for (let i = 0; i < 300; i++) broker.request('c1', `a${i}`);
    expect(dispatched(broker.ready('w1'))).toEqual(['w1 a0']);
    broker.request('c2', 'b');
    expect(dispatched(broker.ready('w1', 3))).toEqual(['w1 a1', 'w1 b', 'w1 a2']);
  });

  it('rule 13: a job that comes back uses no client’s turn', () => {
    broker.inform('w1');
    for (const id of ['a1', 'a2']) broker.request('c1', id, 'default', 'guarantee');
    broker.request('c2', 'b1');
    expect(dispatched(broker.ready('w1'))).toEqual(['w1 a1']);
    broker.gone('w1');
    broker.inform('w2');
    expect(dispatched(broker.ready('w2', 3))).toEqual(['w2 a1', 'w2 b1', 'w2 a2']);
  });

  it('rule 13: a client at the other port with the same routing id has its own turns', () => {
    broker.inform('w1');
    broker.request('c1', 'm1');
    broker.request('c1', 'm2');
    broker.framesAt('backend', 'c1', '', 'eMQP/1.0', 'REQUEST', 'm3', 'default', '', jobBody());
    expect(dispatched(broker.ready('w1', 3))).toEqual(['w1 m1', 'w1 m3', 'w1 m2']);
  });

  it('rule 13: a worker without a slot gets nothing', () => {
    broker.inform('w1', 'a:99');
    broker.inform('w2', 'a:1');
    broker.ready('w2');
    expect(dispatched(broker.request('c1', 'm1', 'a'))).toEqual(['w2 m1']);
    expect(dispatched(broker.request('c1', 'm2', 'a'))).toEqual([]);
  });
});

describe('a queue without workers', () => {
  it('rule 14: its requests go to default at once, under the name the client wrote', () => {
    withWorker();
    expect(broker.request('c1', 'm1', 'nosuch')).toContain('-> w1 REQUEST m1 nosuch');
    broker.request('c1', 'm2', 'other');
    expect(broker.stats.queues).toEqual([{ name: 'default', workers: 1, waiting: 1, inFlight: 1 }]);
  });

  it('rule 14: with `wait` they wait under their own name until a worker lists it', () => {
    withWorker({ unknownQueue: 'wait' });
    expect(broker.request('c1', 'm1', 'mail')).toEqual(['-> c1 ACCEPTED m1']);
    broker.inform('w2', 'mail');
    expect(dispatched(broker.ready('w2'))).toEqual(['w2 m1']);
  });

  it('rule 14: with `wait` they move to default after requestTtlMs, each in its turn', () => {
    broker = new BrokerUnderTest({ unknownQueue: 'wait', requestTtlMs: 5000 });
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.request('c1', 'm1', 'mail');
    broker.live(2000, 'w1');
    broker.request('c1', 'm2', 'mail');
    expect(broker.live(8000, 'w1')).toEqual(['5000ms: -> w1 REQUEST m1 mail', '7000ms: -> w1 REQUEST m2 mail']);
    expect(broker.stats.counters.moved).toBe(2);
  });

  it.each([1, 3, 150])('rule 14: they move a slice at a time, if many have waited too long in %i queues', (queues) => {
    broker = new BrokerUnderTest({ unknownQueue: 'wait', requestTtlMs: 5000 });
    for (let index = 0; index < 150; index++) broker.request(`c${index}`, `m${index}`, `mail-${index % queues}`);
    const moved = [5000, 1, 1].map((ms) => {
      broker.advance(ms);
      return broker.stats.counters.moved;
    });
    expect(moved).toEqual([64, 128, 150]);
  });

  it('rule 14: requests that wait when the last worker leaves stay, and move the same way', () => {
    broker.inform('w1');
    broker.inform('w2', 'mail');
    broker.request('c1', 'm1', 'mail');
    broker.live(20_000, 'w1', 'w2');
    broker.bye('w2');
    broker.live(29_000, 'w1');
    expect(broker.stats.queues).toContainEqual({ name: 'mail', workers: 0, waiting: 1, inFlight: 0 });
    expect(dispatched(broker.ready('w1'))).toEqual([]);
    expect(dispatched(broker.live(1000, 'w1'))).toEqual(['w1 m1']);
    expect(broker.stats.queues.map(({ name }) => name)).toEqual(['default']);
  });

  it('rule 14: a worker that comes in time keeps them where they are', () => {
    broker.inform('w2', 'mail');
    broker.request('c1', 'm1', 'mail');
    broker.bye('w2');
    broker.advance(29_000);
    broker.inform('w3', 'mail');
    broker.live(60_000, 'w3');
    expect(dispatched(broker.ready('w3'))).toEqual(['w3 m1']);
  });

  it('rule 14: nothing expires by age', () => {
    broker.request('c1', 'm1');
    broker.advance(86_400_000);
    broker.inform('w1');
    expect(dispatched(broker.ready('w1'))).toEqual(['w1 m1']);
  });

  it('rule 14: with `wait`, names beyond the limit share default', () => {
    broker = new BrokerUnderTest({ unknownQueue: 'wait', queuesMax: 1 });
    broker.request('c1', 'm1', 'a');
    broker.request('c1', 'm2', 'b');
    expect(broker.stats.queues.map(({ name, waiting }) => `${name} ${waiting}`)).toEqual(['a 1', 'default 1']);
  });

  it('rule 14: names that clients only request keep no worker out', () => {
    broker = new BrokerUnderTest({ unknownQueue: 'wait', queuesMax: 2 });
    broker.request('c1', 'm1', 'a');
    broker.request('c1', 'm2', 'b');
    expect(broker.inform('w1', 'c')).toContain('joined w1 worker');
    expect(broker.inform('w2', 'a')).toContain('joined w2 worker');
    expect(broker.inform('w3', 'b')).toEqual(['note message-dropped queues-limit w3']);
    broker.gone('w1');
    expect(broker.inform('w3', 'b')).toContain('joined w3 worker');
  });

  it('rule 14: a client may request only a share of the names, and others are served', () => {
    broker = new BrokerUnderTest({ unknownQueue: 'wait', queuesMax: 200 });
    for (let n = 0; n < 19; n++) broker.request('c1', `m${n}`, `q${n}`);
    broker.request('c1', 'm20', 'more');
    const waiting = (...names: string[]) =>
      names.map((name) => broker.stats.queues.find((queue) => queue.name === name)?.waiting);
    expect(waiting('more', 'default')).toEqual([undefined, 1]);
    broker.request('c2', 'm1', 'more');
    broker.request('c1', 'm21', 'more');
    expect(waiting('more', 'default')).toEqual([2, 1]);
    broker.inform('w1', 'q0');
    broker.request('c1', 'm22', 'another');
    expect(waiting('another', 'default')).toEqual([1, 1]);
  });
});

describe('bounds', () => {
  it('rule 15: a named queue is bounded by queueMax, default by defaultQueueMax', () => {
    broker = new BrokerUnderTest({ queueMax: 1, defaultQueueMax: 2 });
    broker.inform('w1', 'a', 'default');
    expect(broker.request('c1', 'm1', 'a')).toHaveLength(1);
    expect(broker.request('c1', 'm2', 'a')).toEqual(['note request-dropped queue-full c1 a']);
    broker.request('c1', 'm3');
    expect(broker.request('c1', 'm4')).toEqual(['-> c1 ACCEPTED m4']);
    expect(broker.request('c2', 'm5')).toEqual(['note request-dropped queue-full c2 default']);
    expect(broker.stats.counters).toMatchObject({ requests: 3, dropped: { 'queue-full': 2 } });
  });

  it('rule 15: all queues together are bounded in bytes, which are returned', () => {
    broker = new BrokerUnderTest({ queueMaxBytes: 4000, maxMessageBytes: 2000 });
    broker.inform('w1');
    const body = 'x'.repeat(1500);
    expect(broker.request('c1', 'm1', 'default', '', body)).toEqual(['-> c1 ACCEPTED m1']);
    expect(broker.request('c1', 'm2', 'default', '', body)).toEqual(['note request-dropped queue-full c1 default']);
    broker.ready('w1');
    expect(broker.stats.openBytes).toBe(0);
    expect(broker.request('c1', 'm3', 'default', '', body)).toEqual(['-> c1 ACCEPTED m3']);
  });

  it('rule 15: when a queue is full, a client with far more waiting gives up its newest for one with less', () => {
    broker = new BrokerUnderTest({ defaultQueueMax: 40 });
    for (let i = 0; i < 40; i++) broker.request('flood', `f${i}`, 'default', 'reply-requested');
    expect(broker.request('flood', 'more')).toEqual(['note request-dropped queue-full flood default']);
    expect(broker.request('c1', 'mine')).toEqual([
      '-> flood RESULT f39 {"value": "job lost: too many of its client were waiting"}',
      'note request-dropped displaced flood default',
      '-> c1 ACCEPTED mine',
    ]);
    broker.inform('w1');
    broker.ready('w1');
    expect(broker.reply('w1', 'f0')).toContain('-> flood RESULT f0 {"value": 5}');
    expect(broker.ready('w1')).toContain('-> w1 REQUEST mine default');
    expect(broker.stats.counters).toMatchObject({ requests: 41, dropped: { displaced: 1, 'queue-full': 1 } });
  });

  it('rule 15: no client gives up anything for one that has as much, or when it has only a few jobs', () => {
    broker = new BrokerUnderTest({ defaultQueueMax: 45 });
    for (const client of ['a', 'b', 'c']) for (let i = 0; i < 15; i++) broker.request(client, `${client}${i}`);
    expect(broker.request('d', 'x')).toEqual(['note request-dropped queue-full d default']);
    broker = new BrokerUnderTest({ defaultQueueMax: 80 });
    for (const client of ['a', 'b']) for (let i = 0; i < 40; i++) broker.request(client, `${client}${i}`);
    expect(broker.request('a', 'x')).toEqual(['note request-dropped queue-full a default']);
  });

  it('rule 15: when all bytes are used, the client with most of them waiting gives up as many jobs as one job needs, in any queue', () => {
    broker = new BrokerUnderTest({ queueMaxBytes: 170_000, maxMessageBytes: 90_000 });
    broker.inform('w1', 'a:1', 'b:1', 'c:1');
    const body = 'x'.repeat(40_000);
    for (const id of ['f0', 'f1']) broker.request('flood', id, 'a', '', body);
    for (const id of ['f2', 'f3']) broker.request('flood', id, 'b', '', body);
    expect(broker.request('flood', 'f4', 'b', '', 'x'.repeat(9000))).toHaveLength(1);
    expect(broker.request('c1', 'mine', 'c', '', 'y'.repeat(60_000))).toContain('-> c1 ACCEPTED mine');
    expect(broker.dropped).toEqual({ 'queue-full': 1, displaced: 2 });
  });

  it('rule 15: no client makes room for a job that would still not fit', () => {
    broker = new BrokerUnderTest({ queueMaxBytes: 178_000, maxMessageBytes: 150_000 });
    broker.inform('w1');
    for (let i = 0; i < 100; i++) broker.request('flood', `f${i}`, 'default', '', 'x'.repeat(1000));
    expect(broker.request('c1', 'mine', 'default', '', 'y'.repeat(120_000))).toEqual([
      'note request-dropped queue-full c1 default',
    ]);
    expect(broker.dropped).toEqual({ 'queue-full': 1 });
  });

  it.each(['', 'guarantee'])(
    'rule 15: a client has at most a 32nd of all bytes, and one job, waiting where nobody serves (%j)',
    (headers) => {
      broker = new BrokerUnderTest({ queueMaxBytes: 2 ** 22, maxMessageBytes: 2 ** 20 });
      const request = (client: string, id: string, bytes = 50_000) =>
        broker.request(client, id, 'default', headers, 'x'.repeat(bytes))[0];
      const accepted = (client: string) => ['1', '2', '3', '4'].map((id) => request(client, id)?.startsWith('->'));
      expect(accepted('flood')).toEqual([true, true, true, false]);
      expect(accepted('other')).toEqual([true, true, true, false]);
      expect([request('large', '1', 500_000), request('large', '2', 1)]).toEqual([
        '-> large ACCEPTED 1',
        'note request-dropped queue-full large default',
      ]);
      broker.inform('w1');
      expect(request('flood', '5')).toBe('-> flood ACCEPTED 5');
    },
  );

  it('rule 15: a guaranteed job is not given up for another client', () => {
    broker = new BrokerUnderTest({ defaultQueueMax: 40 });
    for (let i = 0; i < 20; i++) broker.request('flood', `f${i}`);
    for (let i = 0; i < 20; i++) broker.request('flood', `g${i}`, 'default', 'guarantee');
    expect(broker.request('c1', 'm1')).toContain('-> c1 ACCEPTED m1');
    broker.inform('w1');
    broker.ready('w1', 40);
    expect(broker.dropped).toEqual({ displaced: 1 });
    expect(broker.stats.counters.dispatches).toBe(40);
  });

  it('rule 15: a client may have guaranteed jobs waiting as long as three times as many can be added', () => {
    broker = new BrokerUnderTest({ defaultQueueMax: 100 });
    for (let i = 0; i < 100; i++) broker.request('flood', `f${i}`, 'default', 'guarantee');
    expect([broker.stats.openRequests, broker.dropped]).toEqual([75, { 'queue-full': 25 }]);
    for (let i = 0; i < 10; i++) broker.request('c1', `m${i}`, 'default', 'guarantee');
    expect(broker.stats.openRequests).toBe(85);
  });

  it('rule 15: the same limit applies to the bytes of a client’s kept jobs, including running ones', () => {
    broker = new BrokerUnderTest({ queueMaxBytes: 100_000, maxMessageBytes: 10_000 });
    broker.inform('w1');
    broker.ready('w1', 1000);
    for (let i = 0; i < 100; i++) broker.request('flood', `f${i}`, 'default', 'retry-count:1', 'x'.repeat(4000));
    expect(broker.stats.openBytes).toBeGreaterThan(70_000);
    expect(broker.stats.openBytes).toBeLessThan(80_000);
    const before = broker.stats.openRequests;
    broker.request('c1', 'm1', 'default', 'guarantee', 'x'.repeat(4000));
    expect(broker.stats.openRequests).toBe(before + 1);
  });

  it('rule 15: only guaranteed jobs are charged while they run', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.request('c1', 'm1');
    expect(broker.stats.openBytes).toBe(0);
    broker.request('c1', 'm2', 'default', 'guarantee');
    expect(broker.stats.openBytes).toBeGreaterThan(jobBody().length);
    broker.reply('w1', 'm2');
    expect(broker.stats.openBytes).toBe(0);
  });
});

describe('a worker that cannot be reached', () => {
  it('rule 16: is forgotten, and the request goes to the next one', () => {
    withWorker();
    broker.inform('w2');
    broker.ready('w2');
    broker.request('c1', 'm1');
    expect(broker.undeliverable('w1')).toEqual(['left w1 unreachable', '-> w2 REQUEST m1 default']);
    expect(broker.dropped).toEqual({});
  });

  it('rule 16: without another one the request waits in front', () => {
    withWorker();
    broker.request('c1', 'm1');
    broker.request('c1', 'm2');
    expect(broker.undeliverable('w1')).toEqual(['left w1 unreachable']);
    broker.inform('w2');
    expect(dispatched(broker.ready('w2', 2))).toEqual(['w2 m1', 'w2 m2']);
  });

  it('rule 16: is routed like a new one when its queue has lost its last worker', () => {
    withWorker();
    broker.inform('w2', 'mail');
    broker.ready('w2');
    broker.request('c1', 'm1', 'mail');
    expect(broker.undeliverable('w2')).toEqual(['left w2 unreachable', '-> w1 REQUEST m1 mail']);
  });

  it('rule 16: a request that came back is no attempt', () => {
    broker = new BrokerUnderTest({ guaranteeAttempts: 2 });
    for (const worker of ['w1', 'w2', 'w3']) {
      broker.inform(worker);
      broker.ready(worker);
    }
    broker.request('c1', 'm1', 'default', 'guarantee');
    expect(broker.undeliverable('w1')).toContain('-> w2 REQUEST m1 default');
    expect(broker.gone('w2')).toContain('-> w3 REQUEST m1 default');
    expect(broker.gone('w3')).toContain('note request-dropped guarantee-exhausted c1 default');
  });

  it('rule 16: the result of a request that came back reaches its client', () => {
    withWorker();
    broker.inform('w2');
    broker.ready('w2');
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.undeliverable('w1');
    expect(broker.reply('w2', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
  });

  it('rule 16: a worker that does not read is lost like one that is gone', () => {
    withWorker();
    broker.request('c1', 'm1');
    expect(broker.undeliverable('w1', 'congested')).toEqual(['left w1 congested']);
    expect(broker.stats.queues).toEqual([{ name: 'default', workers: 0, waiting: 1, inFlight: 0 }]);
  });

  it('rule 16: all requests that come back continue, even if the worker is forgotten by then', () => {
    broker.inform('w1');
    broker.ready('w1', 3);
    for (const id of ['m1', 'm2', 'm3']) broker.request('c1', id, 'default', 'reply-requested');
    broker.inform('w2');
    broker.ready('w2', 2);
    expect(broker.undeliverable('w1', 'congested', 'm2')).toEqual(['left w1 congested', '-> w2 REQUEST m2 default']);
    expect(broker.undeliverable('w1', 'congested', 'm3')).toEqual(['-> w2 REQUEST m3 default']);
    expect(broker.dropped).toEqual({});
  });

  it('rule 16: jobs that do not come back may have arrived: they are answered, or lost after leaveGraceMs', () => {
    broker.inform('w1');
    broker.ready('w1', 3);
    for (const id of ['m1', 'm2', 'm3']) broker.request('c1', id, 'default', 'reply-requested');
    broker.undeliverable('w1', 'congested', 'm3');
    expect(broker.reply('w1', 'm1')).toEqual(['-> c1 RESULT m1 {"value": 5}']);
    expect(broker.advance(5000)).toEqual([
      '5000ms: -> c1 RESULT m2 {"value": "job lost with its worker"}',
      '5000ms: note request-dropped jobs-lost c1 default',
    ]);
    expect(broker.stats).toMatchObject({ leaving: 0, openRequests: 1 });
  });

  it('rule 16: jobs that do not come back are lost at once when the connection is gone', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    for (const id of ['m1', 'm2']) broker.request('c1', id);
    broker.undeliverable('w1', 'unreachable', 'm2');
    expect(broker.gone('w1')).toEqual(['note request-dropped jobs-lost c1 default']);
  });

  it('rule 16: guaranteed jobs continue at once, before the request that came back', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.request('c1', 'm1', 'default', 'guarantee');
    broker.request('c1', 'm2');
    broker.undeliverable('w1', 'unreachable', 'm2');
    broker.inform('w2');
    expect(dispatched(broker.ready('w2', 2))).toEqual(['w2 m1', 'w2 m2']);
  });

  it('rule 16: an undeliverable heartbeat means the same', () => {
    broker.inform('w1');
    expect(broker.undeliverable('w1')).toEqual(['left w1 unreachable']);
  });

  it('rule 16: a request that crossed the worker’s goodbye goes to the next one', () => {
    withWorker();
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.inform('w2');
    broker.ready('w2');
    broker.bye('w1');
    expect(broker.undeliverable('w1')).toEqual(['-> w2 REQUEST m1 default']);
    expect(broker.stats.leaving).toBe(0);
  });

  it('an undeliverable reply is dropped and counted', () => {
    withWorker();
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.reply('w1', 'm1');
    expect(broker.undeliverable('c1', 'congested')).toEqual(['note reply-dropped reply-undeliverable c1']);
    expect(broker.undeliverable('c1')).toEqual([]);
    expect(broker.dropped).toEqual({ 'reply-undeliverable': 2 });
  });

  it('a client that leaves at once loses only its replies', () => {
    broker.request('c1', 'm1');
    broker.gone('c1');
    broker.inform('w1');
    expect(broker.ready('w1')).toEqual(['-> w1 REQUEST m1 default']);
  });
});
