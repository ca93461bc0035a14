import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';
import { requestCost } from '../../shared/cost.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

describe('rules 4 and 5: names and bodies', () => {
  it('rule 4: names are compared exactly', () => {
    broker.ready('w1', 'echo');
    for (const name of ['Echo', 'echo ', 'ech', 'echo2']) broker.request('c1', 'x', name);
    expect(broker.stats.counters.dispatches).toBe(0);
  });

  it('rule 4: a lower serviceNameMaxBytes refuses longer names, of clients and of workers', () => {
    broker = new BrokerUnderTest({ serviceNameMaxBytes: 4 });
    expect(broker.request('c1', 'x', 'echo!')).toEqual(['note request-dropped service-invalid c1 echo!']);
    expect(broker.ready('w1', 'echo!')).toEqual(['note message-dropped service-invalid w1']);
    expect(broker.ready('w1', 'echo')).toEqual(['worker-ready w1 echo']);
  });

  it('rule 5: body frames reach worker and client as the same objects, in order, including empty ones', () => {
    const body = [new Uint8Array(0), new Uint8Array([1, 2]), new Uint8Array(0)];
    broker.ready('w1');
    const request = { kind: 'client-request', version: '0.2', service: 'echo', body } as const;
    const peer = { key: 'c1', id: new Uint8Array([0x63, 0x31]) };
    const [toWorker] = broker.engine.step({ kind: 'message', peer, command: request }, 0);
    const reply = { kind: 'worker-final', version: '0.2', client: peer.id, body } as const;
    const worker = { key: 'w1', id: new Uint8Array([0x77, 0x31]) };
    const [toClient] = broker.engine.step({ kind: 'message', peer: worker, command: reply }, 0);
    for (const effect of [toWorker, toClient]) {
      const sent = effect?.kind === 'send' && 'body' in effect.command ? effect.command.body : [];
      expect(sent.map((frame, i) => frame === body[i])).toEqual([true, true, true]);
    }
  });
});

describe('memory of waiting requests', () => {
  /** What a worker was sent for earlier requests, each a small part of the memory block it arrived in, and too large to wait as text. */
  function waited(count: number, requestQueueMaxBytes = 1_000_000): readonly (readonly Uint8Array[])[] {
    broker = new BrokerUnderTest({ requestQueueMaxBytes, maxMessageBytes: 1_000_000 });
    const peer = { key: 'c1', id: Uint8Array.of(99, 49) };
    for (let index = 0; index < count; index++) {
      const body = [new Uint8Array(8192).fill(index).subarray(0, 300), new Uint8Array(8192).subarray(5, 5)];
      const command = { kind: 'client-request', version: '0.2', service: 'echo', body } as const;
      broker.engine.step({ kind: 'message', peer, command }, 0);
    }
    const bodies: (readonly Uint8Array[])[] = [];
    for (let index = 0; index < count; index++) {
      const worker = { key: `w${index}`, id: Uint8Array.of(119, index) };
      const ready = { kind: 'worker-ready', version: '0.2', service: 'echo' } as const;
      const framed = { ...ready, leadingEmpty: true };
      for (const effect of broker.engine.step({ kind: 'message', peer: worker, command: framed }, 0))
        if (effect.kind === 'send' && effect.command.kind === 'worker-request') bodies.push(effect.command.body);
    }
    return bodies;
  }

  it('rule 18: is their own size, not that of the block they came in, once many wait', () => {
    const bodies = waited(100);
    expect(bodies.map(([head]) => [...new Set(head)])).toEqual(Array.from({ length: 100 }, (_, index) => [index]));
    expect(bodies.map(([head, tail]) => [head?.length, tail?.length])).toEqual(bodies.map(() => [300, 0]));
    const held = bodies.flat().map(({ buffer }) => buffer.byteLength);
    expect(held.filter((bytes) => bytes > 600).length).toBeLessThan(50);
    expect(held.slice(-100)).toEqual(Array.from({ length: 50 }, () => [300, 0]).flat());
  });

  it('rule 18: counts the memory that is really held', () => {
    broker = new BrokerUnderTest({ requestQueueMaxBytes: 64 * 8192, maxMessageBytes: 8192 });
    const request = (frame: Uint8Array): number => {
      const before = broker.engine.heldBytes;
      const command = { kind: 'client-request', version: '0.2', service: 'echo', body: [frame] } as const;
      broker.engine.step({ kind: 'message', peer: { key: 'c1', id: Uint8Array.of(1) }, command }, 0);
      return broker.engine.heldBytes - before;
    };
    request(new Uint8Array(100));
    const compact = request(new Uint8Array(100));
    expect(request(new Uint8Array(8192).subarray(0, 100)) - compact).toBe(8192 - 100);
    // No slack is left for another one.
    expect(request(new Uint8Array(8192).subarray(0, 100))).toBe(compact);
    broker.ready('w1');
    broker.ready('w2');
    broker.ready('w3');
    broker.ready('w4');
    expect(broker.engine.heldBytes).toBeLessThan(8192 + 8 * 2048);
  });

  it('rule 18: is not copied while few requests wait', () => {
    expect(
      waited(3, 10_000_000)
        .flat()
        .map(({ buffer }) => buffer.byteLength),
    ).toEqual(Array.from({ length: 6 }, () => 8192));
  });
});

describe('reused request objects', () => {
  it('do not change anything that came in or went out before', () => {
    const bodies: Uint8Array[][] = [[Uint8Array.of(1)], [Uint8Array.of(2), Uint8Array.of(3)], [Uint8Array.of(4)]];
    const asked = bodies.map((body) => [...body]);
    broker.ready('w1');
    const sent = bodies.map((body) => {
      const command = { kind: 'client-request', version: '0.2', service: 'echo', body } as const;
      const effects = broker.engine.step(
        { kind: 'message', peer: { key: 'c1', id: Uint8Array.of(99, 49) }, command },
        0,
      );
      broker.final('w1', 'c1', 'done');
      return effects.flatMap((effect) =>
        effect.kind === 'send' && 'body' in effect.command ? [effect.command.body] : [],
      );
    });
    expect(sent).toEqual(asked.map((body) => [body]));
    expect(bodies).toEqual(asked);
  });

  it('begin with all attempts, whatever the last request used', () => {
    broker = new BrokerUnderTest({ maxAttempts: 2 });
    broker.request('c1', 'poison');
    for (const name of ['w1', 'w2']) {
      broker.ready(name);
      broker.gone(name);
    }
    broker.request('c2', 'good');
    broker.ready('w3');
    broker.gone('w3');
    expect(broker.ready('w4')).toEqual(['worker-ready w4 echo', '-> w4 REQUEST c2 "good"']);
  });
});

describe('rule 14: the job of a lost worker', () => {
  it('rule 14: goes to the front of the queue', () => {
    broker.ready('w1');
    broker.request('c1', 'first');
    broker.request('c1', 'second');
    broker.gone('w1');
    expect(broker.ready('w2')).toEqual(['worker-ready w2 echo', '-> w2 REQUEST c1 "first"']);
  });

  it('rule 14: is dispatched at most maxAttempts times', () => {
    broker.request('c1', 'poison');
    for (const name of ['w1', 'w2']) {
      broker.ready(name);
      expect(broker.gone(name)).toEqual([`worker-lost ${name} echo gone`]);
    }
    broker.ready('w3');
    expect(broker.gone('w3')).toEqual(['worker-lost w3 echo gone', 'note request-dropped attempts-exhausted c1 echo']);
    expect(broker.stats.counters).toMatchObject({ dispatches: 3, resends: 2 });
  });

  it('rule 14: is not dispatched again after a PARTIAL of it', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'hello');
    broker.partial('w1', 'c1', 'half');
    expect(broker.gone('w1')).toEqual(['worker-lost w1 echo gone', 'note request-dropped lost-after-partial c1 echo']);
  });

  it('rule 14: is dispatched again after a PARTIAL with resendAfterPartial', () => {
    broker = new BrokerUnderTest({ resendAfterPartial: true });
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'hello');
    broker.partial('w1', 'c1', 'half');
    expect(broker.gone('w1')).toContain('-> w2 REQUEST c1 "hello"');
  });

  it('rule 14: is not dispatched again when its client is gone', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'hello');
    broker.gone('c1');
    expect(broker.gone('w1')).toEqual(['worker-lost w1 echo gone', 'note request-dropped client-gone c1 echo']);
  });

  it('rule 14: is resent within the same step if a worker is idle', () => {
    broker = new BrokerUnderTest({ muteExpiryMs: 7500 });
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'hello');
    const lines = broker.advance(2500);
    broker.heartbeat('w2');
    lines.push(...broker.advance(5000));
    expect(lines.filter((line) => !line.includes('HEARTBEAT'))).toEqual([
      '7500ms: worker-lost w1 echo expired',
      '7500ms: -> w2 REQUEST c1 "hello"',
    ]);
  });

  it('rule 14: several lost jobs return in the order in which they were lost', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'first');
    broker.request('c1', 'second');
    broker.gone('w1');
    broker.gone('w2');
    expect(broker.ready('w3')).toContain('-> w3 REQUEST c1 "first"');
  });
});

describe('rule 17: how long requests wait', () => {
  it('rule 17: requests are dropped a slice at a time, if many have waited too long', () => {
    broker = new BrokerUnderTest({ requestTtlMs: 1000 });
    for (let index = 0; index < 150; index++) broker.request(`c${index % 30}`, 'x');
    const expired = [1000, 1, 1].map((ms) => {
      broker.advance(ms);
      return broker.dropped['expired-unserved'];
    });
    expect(expired).toEqual([64, 128, 150]);
  });

  it('rule 17: so are those that waited when the last worker left, and later ones stay', () => {
    broker = new BrokerUnderTest({ requestTtlMs: 1000 });
    broker.ready('w1', 'x');
    for (let index = 0; index < 150; index++) broker.request(`c${index % 30}`, 'x', 'x');
    broker.gone('w1');
    broker.advance(500);
    for (let index = 0; index < 100; index++) broker.request(`c${index}`, 'later', 'x');
    const expired = [500, 1, 1, 1, 496].map((ms) => {
      broker.advance(ms);
      return broker.dropped['expired-unserved'];
    });
    // The one that came back from the worker is not among those that waited.
    expect(expired).toEqual([65, 129, 150, 150, 150]);
    broker.advance(10);
    expect(broker.dropped['expired-unserved']).toBe(250);
    expect(broker.engine.deadline).toBe(Infinity);
  });

  it('rule 17: a request for a service without workers is dropped after requestTtlMs', () => {
    broker.request('c1', 'hello');
    expect(broker.advance(29_999)).toEqual([]);
    expect(broker.advance(1)).toEqual(['30000ms: note request-dropped expired-unserved c1 echo']);
    expect(broker.stats).toMatchObject({ services: [], clients: 0, openRequests: 0, openBytes: 0 });
  });

  it('rule 17: each request has its own time', () => {
    broker.request('c1', 'first');
    broker.advance(10_000);
    broker.request('c2', 'second');
    expect(broker.advance(40_000)).toEqual([
      '30000ms: note request-dropped expired-unserved c1 echo',
      '40000ms: note request-dropped expired-unserved c2 echo',
    ]);
  });

  it('rule 17: the time starts again when the last worker leaves', () => {
    broker.ready('w1');
    broker.request('c1', 'running');
    broker.request('c2', 'waiting');
    broker.advance(5000);
    broker.gone('w1');
    expect(broker.advance(29_999)).toEqual([]);
    expect(broker.advance(1)).toEqual([
      '35000ms: note request-dropped expired-unserved c1 echo',
      '35000ms: note request-dropped expired-unserved c2 echo',
    ]);
  });

  it('rule 17: requests that come after the last worker left have their own time', () => {
    broker.ready('w1');
    broker.request('c1', 'running');
    broker.gone('w1');
    broker.advance(10_000);
    broker.request('c2', 'later');
    expect(broker.advance(40_000)).toEqual([
      '30000ms: note request-dropped expired-unserved c1 echo',
      '40000ms: note request-dropped expired-unserved c2 echo',
    ]);
  });

  it('rule 17: waiting for busy workers has no limit by default', () => {
    broker = new BrokerUnderTest({ muteExpiryMs: 10_000_000 });
    broker.request('c1', 'first');
    broker.request('c2', 'second');
    broker.ready('w1');
    expect(broker.advance(1_000_000).filter((line) => line.includes('dropped'))).toEqual([]);
  });

  it('rule 17: the time without workers ends when one registers, even for requests that waited before', () => {
    broker = new BrokerUnderTest({ muteExpiryMs: 10_000_000 });
    broker.ready('w1');
    broker.request('c1', 'first');
    broker.request('c2', 'second');
    broker.gone('w1');
    broker.advance(10_000);
    broker.ready('w2');
    expect(broker.advance(100_000).filter((line) => line.includes('dropped'))).toEqual([]);
  });

  it('rule 17: busyTtlMs limits the wait for busy workers', () => {
    broker = new BrokerUnderTest({ muteExpiryMs: 10_000_000, busyTtlMs: 1000 });
    broker.ready('w1');
    broker.request('c1', 'running');
    broker.request('c2', 'waiting');
    expect(broker.advance(1000)).toEqual(['1000ms: note request-dropped expired-busy c2 echo']);
  });

  it('rule 17: busyTtlMs begins when the first worker comes', () => {
    broker = new BrokerUnderTest({ muteExpiryMs: 10_000_000, busyTtlMs: 1000 });
    broker.request('c1', 'first');
    broker.request('c2', 'second');
    broker.advance(20_000);
    broker.ready('w1');
    expect(broker.advance(999)).toEqual([]);
    expect(broker.advance(1)).toEqual(['21000ms: note request-dropped expired-busy c2 echo']);
  });

  it('rule 17: a dispatched request has no such limit', () => {
    broker = new BrokerUnderTest({ muteExpiryMs: 10_000_000, requestTtlMs: 1000, busyTtlMs: 1000 });
    broker.request('c1', 'first');
    broker.ready('w1');
    expect(broker.advance(100_000).filter((line) => line.includes('dropped'))).toEqual([]);
  });
});

describe('rule 18: bounded queues', () => {
  it('rule 18: the newest request over requestQueueMax is dropped', () => {
    broker = new BrokerUnderTest({ requestQueueMax: 2 });
    broker.request('c1', 'first');
    broker.request('c1', 'second');
    expect(broker.request('c1', 'third')).toEqual(['note request-dropped queue-full c1 echo']);
    expect(broker.request('c1', 'elsewhere', 'sum')).toEqual([]);
    expect(broker.ready('w1')).toContain('-> w1 REQUEST c1 "first"');
  });

  it('rule 18: running requests do not count as queued', () => {
    broker = new BrokerUnderTest({ requestQueueMax: 1 });
    broker.ready('w1');
    broker.request('c1', 'running');
    expect(broker.request('c1', 'waiting')).toEqual([]);
  });

  it('rule 18: all open requests together are bounded by requestQueueMaxBytes', () => {
    const one = requestCost([new Uint8Array(1000)]);
    broker = new BrokerUnderTest({ requestQueueMaxBytes: 2 * one, maxMessageBytes: 1024 });
    const body = 'x'.repeat(1000);
    broker.ready('w1');
    broker.request('c1', body);
    broker.request('c2', body, 'sum');
    expect(broker.stats.openBytes).toBe(2 * one);
    expect(broker.request('c3', body, 'other')).toEqual(['note request-dropped queue-full c3 other']);
    broker.final('w1', 'c1', 'done');
    expect(broker.request('c3', body, 'other')).toEqual([]);
  });

  it('rule 18: requests of empty frames have a cost, too', () => {
    broker = new BrokerUnderTest({ requestQueueMaxBytes: 65_536, maxMessageBytes: 1024 });
    for (let i = 0; i < 1000; i++) broker.request('c1', '');
    expect(broker.stats.openRequests).toBeLessThan(200);
  });

  it('rule 18: when a queue is full, a client with far more waiting gives up its newest for one with less', () => {
    broker = new BrokerUnderTest({ requestQueueMax: 40 });
    for (let i = 0; i < 40; i++) broker.request('flood', `f${i}`);
    expect(broker.request('flood', 'more')).toEqual(['note request-dropped queue-full flood echo']);
    expect(broker.request('c1', 'mine')).toEqual(['note request-dropped displaced flood echo']);
    expect(broker.stats).toMatchObject({ openRequests: 40, counters: { dropped: { displaced: 1, 'queue-full': 1 } } });
    expect(broker.ready('w1')).toContain('-> w1 REQUEST flood "f0"');
    expect(broker.final('w1', 'flood', 'done')).toContain('-> w1 REQUEST c1 "mine"');
    const rest: string[] = [];
    for (let i = 1; i < 39; i++) rest.push(...broker.final('w1', i === 1 ? 'c1' : 'flood', 'done'));
    expect(rest).toContain('-> w1 REQUEST flood "f38"');
    expect(rest).not.toContain('-> w1 REQUEST flood "f39"');
  });

  it('rule 18: as many make room as it takes when requests that came back have overfilled the queue', () => {
    broker = new BrokerUnderTest({ requestQueueMax: 40 });
    for (const worker of ['w1', 'w2']) broker.ready(worker);
    for (let i = 0; i < 42; i++) broker.request('flood', `f${i}`);
    for (const worker of ['w1', 'w2']) broker.gone(worker);
    broker.request('c1', 'mine');
    expect(broker.stats).toMatchObject({ openRequests: 40, counters: { dropped: { displaced: 3 } } });
    for (const worker of ['w3', 'w4']) broker.ready(worker);
    broker.final('w3', 'flood', 'done');
    expect(broker.final('w4', 'flood', 'done')).toContain('-> w4 REQUEST c1 "mine"');
  });

  it('rule 18: no client gives up anything for one that has as much, or when it has only a few requests', () => {
    broker = new BrokerUnderTest({ requestQueueMax: 45 });
    for (const client of ['a', 'b', 'c']) for (let i = 0; i < 15; i++) broker.request(client, 'x');
    expect(broker.request('d', 'x')).toEqual(['note request-dropped queue-full d echo']);
    broker = new BrokerUnderTest({ requestQueueMax: 80 });
    for (const client of ['a', 'b']) for (let i = 0; i < 40; i++) broker.request(client, 'x');
    expect(broker.request('a', 'x')).toEqual(['note request-dropped queue-full a echo']);
  });

  it('rule 18: when all bytes are used, the client with most of them waiting gives up as many requests as one request needs', () => {
    const bytes = 40_000;
    const one = requestCost([new Uint8Array(bytes)]);
    broker = new BrokerUnderTest({ requestQueueMaxBytes: 4 * one, maxMessageBytes: 2 * bytes });
    for (let i = 0; i < 4; i++) broker.request('flood', 'x'.repeat(bytes), 'nobody');
    expect(broker.request('flood', 'x', 'nobody')).toEqual(['note request-dropped queue-full flood nobody']);
    broker.request('c1', 'y'.repeat(bytes + 1));
    expect(broker.stats).toMatchObject({ openRequests: 3, counters: { dropped: { displaced: 2 } } });
    broker.ready('w1');
    expect(broker.stats.counters.dispatches).toBe(1);
  });

  it('rule 18: no client gives up a place for a request whose bytes would not fit', () => {
    broker = new BrokerUnderTest({ requestQueueMax: 40, requestQueueMaxBytes: 26_000, maxMessageBytes: 20_000 });
    for (let i = 0; i < 40; i++) broker.request('flood', 'x');
    expect(broker.request('c1', 'y'.repeat(5000))).toEqual(['note request-dropped queue-full c1 echo']);
    expect(broker.stats.openRequests).toBe(40);
    expect(broker.request('c1', 'y')).toEqual(['note request-dropped displaced flood echo']);
  });

  it('rule 18: a refused request leaves nothing behind', () => {
    broker = new BrokerUnderTest({ requestQueueMaxBytes: 1024, maxMessageBytes: 1024 });
    broker.request('c1', 'x'.repeat(1000));
    expect(broker.stats).toMatchObject({ services: [], clients: 0, openRequests: 0, openBytes: 0 });
  });

  it('rule 18: servicesMax bounds the requested names', () => {
    broker = new BrokerUnderTest({ servicesMax: 2 });
    broker.request('c1', 'x', 'one');
    broker.request('c1', 'x', 'two');
    expect(broker.request('c1', 'x', 'three')).toEqual(['note request-dropped services-limit c1 three']);
    expect(broker.request('c1', 'x', 'two')).toEqual([]);
  });

  it('rule 18: a client may request only a share of them, and others are served', () => {
    broker = new BrokerUnderTest({ servicesMax: 200 });
    for (let name = 0; name < 19; name++) expect(broker.request('c1', 'x', `name${name}`)).toEqual([]);
    expect(broker.request('c1', 'x', 'more')).toEqual(['note request-dropped services-limit c1 more']);
    expect(broker.request('c1', 'x', 'name0')).toEqual([]);
    expect(broker.request('c2', 'x', 'more')).toEqual([]);
    expect(broker.request('c1', 'x', 'more')).toEqual([]);
  });

  it('rule 18: all sockets with one key have one common share of them', () => {
    broker = new BrokerUnderTest({ servicesMax: 200 });
    for (let name = 0; name < 200; name++) broker.request(`c${name}@ada`, 'x', `name${name}`);
    expect(broker.stats).toMatchObject({ openRequests: 19, counters: { dropped: { 'services-limit': 181 } } });
    expect(broker.request('c1@bob', 'x', 'more')).toEqual([]);
  });

  it('rule 18: names that are only requested keep no worker from registering', () => {
    broker = new BrokerUnderTest({ servicesMax: 2 });
    broker.request('c1', 'x', 'one');
    broker.request('c1', 'x', 'two');
    expect(broker.ready('w1', 'three')).toEqual(['worker-ready w1 three']);
    expect(broker.ready('w2', 'one')).toContain('worker-ready w2 one');
    expect(broker.ready('w3', 'two')).toEqual(['note message-dropped services-limit w3', '-> w3 DISCONNECT']);
    broker.disconnect('w1');
    expect(broker.ready('w4', 'two')).toContain('worker-ready w4 two');
  });

  it('rule 18: servicesMax bounds the registered names; the worker gets DISCONNECT', () => {
    broker = new BrokerUnderTest({ servicesMax: 1 });
    broker.ready('w1', 'one');
    expect(broker.ready('w2', 'two')).toEqual(['note message-dropped services-limit w2', '-> w2 DISCONNECT']);
    broker.disconnect('w1');
    expect(broker.ready('w2', 'two')).toEqual(['worker-ready w2 two']);
  });

  it('rule 18: workersMax bounds the workers', () => {
    broker = new BrokerUnderTest({ workersMax: 1 });
    broker.ready('w1');
    expect(broker.ready('w2')).toEqual(['note message-dropped workers-limit w2', '-> w2 DISCONNECT']);
  });
});

it('rule 18: registrationsPerSecondMax bounds how often one peer registers', () => {
  broker = new BrokerUnderTest({ registrationsPerSecondMax: 2 });
  for (let round = 0; round < 2; round++) {
    expect(broker.ready('w1')).toEqual(['worker-ready w1 echo']);
    broker.disconnect('w1');
  }
  expect(broker.ready('w1')).toEqual(['note message-dropped registrations-limit w1', '-> w1 DISCONNECT']);
  expect(broker.ready('w2')).toEqual(['worker-ready w2 echo']);
  broker.advance(500);
  expect(broker.ready('w1')).toEqual(['worker-ready w1 echo']);
});

describe('rule 19: pipelining clients', () => {
  it('rule 19: requests of one client to one service start in order', () => {
    for (const body of ['1', '2', '3']) broker.request('c1', body);
    expect(broker.ready('w1')).toContain('-> w1 REQUEST c1 "1"');
    expect(broker.final('w1', 'c1', 'a')).toEqual(['-> c1 FINAL echo "a"', '-> w1 REQUEST c1 "2"']);
    expect(broker.final('w1', 'c1', 'b')).toEqual(['-> c1 FINAL echo "b"', '-> w1 REQUEST c1 "3"']);
  });

  it('rule 19: replies of several workers may overtake each other', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', '1');
    broker.request('c1', '2');
    expect(broker.final('w2', 'c1', 'b')).toEqual(['-> c1 FINAL echo "b"']);
    expect(broker.final('w1', 'c1', 'a')).toEqual(['-> c1 FINAL echo "a"']);
  });

  it('rule 19: clientRequestsMax bounds the open requests of a client, running ones included', () => {
    broker = new BrokerUnderTest({ clientRequestsMax: 2 });
    broker.ready('w1');
    broker.request('c1', '1');
    broker.request('c1', '2', 'sum');
    expect(broker.request('c1', '3')).toEqual(['note request-dropped client-limit c1 echo']);
    expect(broker.request('c2', '1')).toEqual([]);
    broker.final('w1', 'c1', 'done');
    expect(broker.request('c1', '3')).toEqual([]);
  });
});

describe('rule 20: fairness', () => {
  it('rule 20: dispatch rotates over the waiting clients', () => {
    broker.ready('w1');
    broker.request('c0', 'running');
    for (const body of ['1', '2', '3']) broker.request('c1', body);
    broker.request('c2', 'a');
    broker.request('c3', 'A');
    const started: string[] = [];
    for (let client = 'c0', i = 0; i < 5; i++) {
      const line = broker.final('w1', client, 'done').find((text) => text.startsWith('-> w1')) ?? '';
      client = line.split(' ')[3] ?? '';
      started.push(line);
    }
    expect(started.map((line) => line.slice(-3, -1).replace('"', ''))).toEqual(['1', 'a', 'A', '2', '3']);
  });
});

describe('rule 21: the choice of a worker', () => {
  it('rule 21: is the least recently used idle one', () => {
    for (const name of ['w1', 'w2', 'w3']) broker.ready(name);
    expect(broker.request('c1', '1')).toEqual(['-> w1 REQUEST c1 "1"']);
    expect(broker.request('c1', '2')).toEqual(['-> w2 REQUEST c1 "2"']);
    broker.final('w2', 'c1', 'b');
    broker.final('w1', 'c1', 'a');
    expect(broker.request('c1', '3')).toEqual(['-> w3 REQUEST c1 "3"']);
    expect(broker.request('c1', '4')).toEqual(['-> w2 REQUEST c1 "4"']);
    expect(broker.request('c1', '5')).toEqual(['-> w1 REQUEST c1 "5"']);
  });

  it('rule 21: gives a worker one job at a time', () => {
    broker.ready('w1');
    broker.request('c1', '1');
    expect(broker.request('c1', '2')).toEqual([]);
  });

  it('rule 21: one service without free workers does not delay another', () => {
    broker.ready('w1', 'slow');
    broker.ready('w2', 'fast');
    broker.request('c1', '1', 'slow');
    broker.request('c1', '2', 'slow');
    expect(broker.request('c1', '3', 'fast')).toEqual(['-> w2 REQUEST c1 "3"']);
  });

  it('rule 21: heartbeats do not change the order', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.heartbeat('w1');
    expect(broker.request('c1', '1')).toEqual(['-> w1 REQUEST c1 "1"']);
  });
});

describe('rule 22: replies', () => {
  it('rule 22: PARTIALs are forwarded as they arrive', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    expect(broker.partial('w1', 'c1', '1')).toEqual(['-> c1 PARTIAL echo "1"']);
    expect(broker.partial('w1', 'c1', '2')).toEqual(['-> c1 PARTIAL echo "2"']);
    expect(broker.final('w1', 'c1', '3')).toEqual(['-> c1 FINAL echo "3"']);
  });

  it('rule 22: FINAL closes one request, not the client’s others', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', '1');
    broker.request('c1', '2');
    broker.final('w1', 'c1', 'a');
    expect(broker.partial('w2', 'c1', 'b')).toEqual(['-> c1 PARTIAL echo "b"']);
  });

  it('names the service of the request, which the worker does not repeat', () => {
    broker.ready('w1', 'sum');
    broker.request('c1', 'hello', 'sum');
    expect(broker.final('w1', 'c1', '3')).toEqual(['-> c1 FINAL sum "3"']);
  });
});

describe('a client that is gone', () => {
  it('has its waiting requests dropped and counted', () => {
    broker.ready('w1');
    for (const body of ['1', '2', '3']) broker.request('c1', body);
    broker.request('c2', 'other');
    expect(broker.gone('c1')).toEqual(['note request-dropped client-gone c1 echo']);
    expect(broker.dropped).toEqual({ 'client-gone': 2 });
    expect(broker.final('w1', 'c1', 'done')).toContain('-> w1 REQUEST c2 "other"');
  });

  it('has a share of them dropped per step, and may return meanwhile', () => {
    for (let i = 0; i < 1500; i++) broker.request('c1', 'old', 'sum');
    broker.request('c2', 'other', 'sum');
    broker.gone('c1');
    expect(broker.dropped).toEqual({ 'client-gone': 512 });
    broker.request('c1', 'new', 'sum');
    broker.advance(1);
    expect(broker.dropped).toEqual({ 'client-gone': 1024 });
    broker.advance(1);
    expect(broker.dropped).toEqual({ 'client-gone': 1500 });
    expect(broker.stats).toMatchObject({ clients: 2, openRequests: 2 });
    expect(broker.ready('w1', 'sum')).toContain('-> w1 REQUEST c2 "other"');
    expect(broker.final('w1', 'c2', 'done')).toContain('-> w1 REQUEST c1 "new"');
  });

  it('has none of them given to a worker that is free before they are dropped', () => {
    for (let i = 0; i < 1500; i++) broker.request('c1', 'old', 'sum');
    broker.gone('c1');
    expect(broker.ready('w1', 'sum')).toEqual(['worker-ready w1 sum']);
    expect(broker.request('c2', 'other', 'sum')).toEqual(['-> w1 REQUEST c2 "other"']);
    expect(broker.final('w1', 'c2', 'done')).toEqual(['-> c2 FINAL sum "done"']);
    broker.advance(2);
    expect(broker.dropped).toEqual({ 'client-gone': 1500 });
  });

  it('that leaves many behind does not keep the broker from draining', () => {
    for (let i = 0; i < 1500; i++) broker.request('c1', 'old', 'sum');
    broker.gone('c1');
    expect(broker.drain()).toContain('drained');
    expect(broker.dropped).toEqual({ 'client-gone': 512, drained: 988 });
    expect(broker.engine.deadline).toBe(Infinity);
  });

  it('has them dropped at all services, resent ones included', () => {
    broker.ready('w1');
    for (const body of ['again', 'echo']) broker.request('c1', body);
    broker.request('c1', 'sum', 'sum');
    broker.request('c2', 'other');
    broker.gone('w1');
    broker.gone('c1');
    expect(broker.dropped).toEqual({ 'client-gone': 3 });
    expect(broker.stats).toMatchObject({ clients: 1, openRequests: 1, services: [{ name: 'echo', waiting: 1 }] });
    expect(broker.ready('w2')).toContain('-> w2 REQUEST c2 "other"');
  });

  it('has its running job finished and the reply dropped, whole or in parts', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.gone('c1');
    expect(broker.partial('w1', 'c1', 'half')).toEqual(['note reply-dropped reply-undeliverable c1 echo']);
    expect(broker.final('w1', 'c1', 'done')).toEqual([]);
    expect(broker.dropped).toEqual({ 'reply-undeliverable': 2 });
    expect(broker.stats).toMatchObject({ openRequests: 0, openBytes: 0 });
  });

  it('is a new client when it returns: it gets no reply to an earlier request', () => {
    broker.ready('w1');
    broker.request('c1', 'before');
    broker.gone('c1');
    broker.request('c1', 'after');
    expect(broker.final('w1', 'c1', 'to before')).toEqual([
      'note reply-dropped reply-undeliverable c1 echo',
      '-> w1 REQUEST c1 "after"',
    ]);
    expect(broker.final('w1', 'c1', 'to after')).toEqual(['-> c1 FINAL echo "to after"']);
  });

  it('leaves no service that only it requested', () => {
    broker.request('c1', 'x', 'nobody');
    broker.gone('c1');
    expect(broker.stats).toMatchObject({ services: [], clients: 0, openRequests: 0 });
  });
});

describe('notes', () => {
  it('come once per minute about the same peer and reason; the counters count all', () => {
    broker.frames('x', 'nonsense');
    broker.now = 59_999;
    expect(broker.frames('x', 'nonsense')).toEqual([]);
    expect(broker.frames('y', 'nonsense')).toEqual(['note message-dropped unknown-header y']);
    broker.now = 60_000;
    expect(broker.frames('x', 'nonsense')).toEqual(['note message-dropped unknown-header x']);
    expect(broker.dropped).toEqual({ 'unknown-header': 4 });
    expect(broker.stats.counters.notesWithheld).toBe(1);
  });

  it('stay bounded, whatever identities are invented', () => {
    let notes = 0;
    for (let i = 0; i < 10_000; i++) notes += broker.frames(`s${i}`, 'nonsense').length;
    expect(notes).toBe(4096);
    expect(broker.dropped).toEqual({ 'unknown-header': 10_000 });
  });
});

describe('long bodies are released', () => {
  const asked = `asked${' '.repeat(2 ** 14)}`;
  const said = `said${' '.repeat(2 ** 14)}`;
  /** What these effects release, in order. */
  const released = (lines: readonly string[]): string[] =>
    lines.flatMap((line) => (line.startsWith('release ') ? [line.slice(8).trim()] : []));

  it('with FINAL: the reply once it is sent, and the request, which is no longer needed', () => {
    broker.ready('w1');
    expect(released(broker.request('c1', asked))).toEqual([]);
    const lines = broker.final('w1', 'c1', said);
    expect(lines[0]).toMatch(/^-> c1 FINAL/);
    expect(released(lines)).toEqual(['said', 'asked']);
  });

  it('with each PARTIAL, and not the request yet', () => {
    broker.ready('w1');
    broker.request('c1', asked);
    expect(released(broker.partial('w1', 'c1', said))).toEqual(['said']);
    expect(released(broker.final('w1', 'c1', 'done'))).toEqual(['asked']);
  });

  it('not while a lost worker’s request waits for the next one', () => {
    broker.ready('w1');
    broker.request('c1', asked);
    expect(released(broker.gone('w1'))).toEqual([]);
    expect(broker.ready('w2').some((line) => line.startsWith('-> w2 REQUEST'))).toBe(true);
    expect(released(broker.final('w2', 'c1', 'done'))).toEqual(['asked']);
  });

  it('with a request that is given up', () => {
    broker.request('c1', asked);
    expect(released(broker.gone('c1'))).toEqual(['asked']);
  });

  it('with a request that is refused', () => {
    broker = new BrokerUnderTest({ requestQueueMax: 1 });
    broker.request('c1', 'asked');
    expect(released(broker.request('c1', asked))).toEqual(['asked']);
  });

  it('not with parts of a reply that waits for the rest', () => {
    broker = new BrokerUnderTest({ bridge: true });
    broker.ready('w1');
    broker.request('c1', 'asked', 'echo', '0.1');
    expect(released(broker.partial('w1', 'c1', said))).toEqual([]);
    expect(released(broker.final('w1', 'c1', 'done'))).toEqual(['said']);
  });
});
