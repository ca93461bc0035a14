import { encodeZ85 } from '@proj/transport/curve';
import { describe, expect, it } from 'vitest';
import type { Delta } from '../src/model.js';
import { observe } from '../src/observe.js';
import type { Observer, ObserveOptions } from '../src/observe.js';
import { client, durations, fakeServer, service, worker } from './fake-server.js';
import type { Fake } from './fake-server.js';

const START = 1_700_000_000_000;

/** An observer whose seconds pass when the test says so. */
function watch(fake: Fake, options: Partial<ObserveOptions> = {}): { observer: Observer; second: () => void } {
  let now = START;
  const observer = observe({
    name: 'test',
    version: '1.2.3',
    servers: [{ protocol: 'mdp', facade: fake }],
    now: () => now,
    every: () => () => undefined,
    ...options,
  });
  const second = () => {
    now += 1000;
    observer.tick();
  };
  return { observer, second };
}

describe('the model', () => {
  it('has rates, failures and latencies of what ended while it watched', () => {
    const fake = fakeServer({ services: [service({ outcomes: { ok: 100 } })] });
    const { observer, second } = watch(fake);
    const outcomes = { ok: 125, deduplicated: 5, expired: 10 };
    fake.snapshot = { ...fake.snapshot, services: [service({ outcomes, workMs: durations(8, 8, 8, 100) })] };
    second();
    expect(observer.model.services['mdp/echo']).toMatchObject({ rate: 40, work: { count: 4 } });
    expect(observer.model.history.at(-1)).toMatchObject({ at: START / 1000 + 1, ended: 40, failed: 10 });
    expect(observer.model.history.at(-1)?.p50).toBeCloseTo(8.192);
  });

  it('keeps 900 seconds and 500 notes', () => {
    const { observer, second } = watch(fakeServer());
    for (let index = 0; index < 1000; index++) {
      observer.note('mdp', { code: 'message-dropped', reason: 'malformed', peer: { id: Uint8Array.of(1, 255) } });
      second();
    }
    expect(observer.model.history).toHaveLength(900);
    expect(observer.model.notes).toHaveLength(500);
    expect(observer.model.notes.at(-1)).toMatchObject({ id: 1000, reason: 'malformed', peer: '01ff' });
  });

  it('keeps its rare notes whatever strangers make it note', () => {
    const { observer, second } = watch(fakeServer());
    const note = (reason: string, peer: number) => {
      observer.note('mdp', { code: 'message-dropped', reason, peer: { id: Buffer.from(`peer ${peer}`) } });
    };
    observer.note('mdp', { code: 'store-failed' });
    for (let peer = 0; peer < 10; peer++) note('not-allowed', peer);
    for (let peer = 0; peer < 3000; peer++) note(peer % 3 === 0 ? 'malformed' : 'envelope', peer);
    second();
    const { notes } = observer.model;
    const count = (reason: string) => notes.filter((each) => each.reason === reason).length;
    expect([notes[0]?.code, count('not-allowed'), notes.length]).toEqual(['store-failed', 10, 500]);
    expect(Math.abs(count('malformed') - count('envelope'))).toBeLessThanOrEqual(1);
    expect(notes.at(-1)).toMatchObject({ peer: 'peer 2999' });
    expect(notes.map(({ id }) => id)).toEqual(notes.map(({ id }) => id).toSorted((one, other) => one - other));
  });

  it('notes refused connections, once a minute for each key or address, whatever its port', () => {
    const { observer, second } = watch(fakeServer());
    for (let port = 1; port <= 1000; port++)
      observer.refused('mdp', { reason: 'handshake', address: `10.0.0.7:${port}`, cause: 'server-key' });
    const publicKey = new Uint8Array(32).fill(7);
    observer.refused('mdp', { reason: 'key', address: '10.0.0.8:1', publicKey });
    expect(observer.model.notes).toEqual([]);
    second();
    expect(observer.model.notes.map(({ code, reason, peer, text }) => [code, reason, peer, text])).toEqual([
      ['handshake-refused', 'handshake', '10.0.0.7', 'handshake-refused, handshake, peer 10.0.0.7, cause server-key'],
      ['handshake-refused', 'key', encodeZ85(publicKey), expect.stringContaining(', address 10.0.0.8')],
    ]);
    for (let seconds = 0; seconds < 60; seconds++) second();
    observer.refused('mdp', { reason: 'handshake', address: '10.0.0.7:9' });
    second();
    expect(observer.model.notes).toHaveLength(3);
  });

  it('outlives a second that fails, keeps its rows and notes the error once a minute', () => {
    const fake = fakeServer({ services: [service()] });
    let second = (): void => undefined;
    const { observer } = watch(fake, {
      every: (tick) => {
        second = tick;
        return () => undefined;
      },
    });
    const deltas: Delta[] = [];
    observer.onDelta(() => {
      throw new Error('a listener fails');
    });
    observer.onDelta((delta) => deltas.push(delta));
    const { services } = observer.model;
    fake.stats = () => {
      throw new Error('no figures');
    };
    second();
    second();
    expect(observer.model.services).toBe(services);
    expect(observer.model.notes).toMatchObject([{ code: 'observe-failed', text: 'observe-failed, no figures' }]);
    expect(deltas.flatMap(({ notes = [] }) => notes)).toEqual(observer.model.notes);
  });

  it('says the same moment again although two clocks tell it', () => {
    const fake = fakeServer({ workers: [worker({ stateMs: 500 })] });
    const { observer, second } = watch(fake);
    const before = observer.model.workers['mdp/w1']?.stateSince;
    fake.snapshot = { ...fake.snapshot, workers: [worker({ stateMs: 1501 })] };
    second();
    expect(observer.model.workers['mdp/w1']?.stateSince).toBe(before);
  });

  it('shows figures of a facade without details', () => {
    const facade = { stats: () => ({ counters: { requests: 3, dropped: { malformed: 2 } }, sessions: 1 }) };
    const { observer } = watch(fakeServer(), { servers: [{ protocol: 'mdp', facade }] });
    const { counters, dropped, gauges } = observer.model.servers['mdp'] ?? {};
    expect([counters, dropped, gauges]).toEqual([{ requests: 3 }, { malformed: 2 }, { sessions: 1 }]);
  });
});

describe('schedules', () => {
  const job = { id: 'j', service: 'm.f', schedule: 'every 10 s', nextMs: 4000, fired: 1 };

  it('have the moments of the next and the last run, and the result', () => {
    const fake = fakeServer({ jobs: [job] });
    const { observer, second } = watch(fake);
    const row = { id: 'j', when: 'every 10 s', target: 'm.f', nextAt: START + 4000, runs: 1 };
    expect(observer.model.schedules).toEqual({ j: row });
    const deltas: Delta[] = [];
    observer.onDelta((delta) => deltas.push(delta));
    fake.snapshot = { ...fake.snapshot, jobs: [{ ...job, nextMs: 3001, result: 'ok', resultMs: 200 }] };
    second();
    expect(deltas[0]?.schedules).toEqual({ j: { ...row, lastAt: START + 800, lastOutcome: 'ok' } });
    fake.snapshot = { ...fake.snapshot, jobs: [] };
    second();
    expect(deltas[1]?.schedules).toEqual({ j: null });
  });

  it('are absent without a scheduler', () => {
    expect(watch(fakeServer()).observer.model.schedules).toBeUndefined();
  });
});

describe('a server', () => {
  it('has the refused handshakes, and how long commits took in the last minute', () => {
    const fake = fakeServer({ refused: { key: 2 }, commitMs: durations(1, 1, 1) });
    const { observer, second } = watch(fake);
    expect(observer.model.servers['mdp']).toMatchObject({ refused: { key: 2 }, commit: { count: 3, p50: 1.024 } });
    for (let index = 0; index < 61; index++) second();
    expect(observer.model.servers['mdp']?.commit?.count).toBe(0);
  });
});

describe('a delta', () => {
  it('has the rows that changed, null for those that are gone, and nothing else', () => {
    const fake = fakeServer({ services: [service(), service({ name: 'sum' })], workers: [worker()] });
    const { observer, second } = watch(fake);
    const deltas: Delta[] = [];
    observer.onDelta((delta) => deltas.push(delta));
    fake.snapshot = { ...fake.snapshot, services: [service({ waiting: 2 }), service({ name: 'sum' })], workers: [] };
    second();
    const [delta] = deltas;
    expect(Object.keys(delta?.services ?? {})).toEqual(['mdp/echo']);
    expect(delta?.workers).toEqual({ 'mdp/w1': null });
    expect(Object.keys(delta ?? {}).toSorted()).toEqual(['point', 'services', 'workers']);
  });

  it('leads to the model, whatever happened', () => {
    const fake = fakeServer();
    const { observer, second } = watch(fake);
    const copy = JSON.parse(JSON.stringify(observer.model)) as Record<string, Record<string, unknown>>;
    observer.onDelta(({ point: _point, notes: _notes, process: _process, ...tables }) => {
      for (const [table, rows] of Object.entries(tables))
        for (const [key, row] of Object.entries(rows))
          if (row === null) delete copy[table]?.[key];
          else (copy[table] ??= {})[key] = row;
    });
    for (let step = 0; step < 50; step++) {
      const some = Array.from({ length: step % 7 }, (_, index) =>
        service({ name: `s${index * (step % 3)}`, waiting: step % 5, workers: 0, oldestWaitingMs: 5000 }),
      );
      const clients = [client({ refused: { malformed: step * step * 10 } })].slice(0, step % 4);
      fake.snapshot = { ...fake.snapshot, services: some, clients };
      second();
      const { services, clients: shown, faults } = observer.model;
      expect([copy['services'], copy['clients'], copy['faults']]).toEqual([services, shown, faults]);
    }
  });
});

describe('a fault is named within five seconds, with a link:', () => {
  /** The faults after five seconds of `snapshot`, which is given the second. */
  function faultsAfter(snapshot: (second: number) => Partial<Fake['snapshot']>, options: Partial<ObserveOptions> = {}) {
    const fake = fakeServer(snapshot(0));
    const { observer, second } = watch(fake, options.servers === undefined ? {} : options);
    for (let index = 1; index <= 5; index++) {
      fake.snapshot = { ...fake.snapshot, ...snapshot(index) };
      second();
    }
    return Object.values(observer.model.faults).map(({ code, href }) => [code, href]);
  }

  const usual = durations(...Array.from({ length: 100 }, () => 5));

  it('a slow worker', () => {
    const faults = faultsAfter((second) => ({
      services: [service({ workMs: usual })],
      workers: [
        worker({ id: 'slow', state: 'busy', stateMs: 300, running: 1, done: 2 * second }),
        worker({ id: 'fast', state: 'busy', stateMs: 3, running: 1, done: 180 * second }),
      ],
    }));
    expect(faults).toEqual([['slow-worker', '/workers/mdp/slow']]);
  });

  it('a stuck worker', () => {
    const faults = faultsAfter((second) => ({
      services: [service({ workMs: usual })],
      workers: [worker({ id: 'a/b', state: 'busy', stateMs: 1000 * second, running: 1, done: 7 })],
    }));
    expect(faults).toEqual([['stuck-worker', '/workers/mdp/a%2Fb']]);
  });

  it('not a worker with many jobs at a time that finishes them', () => {
    const faults = faultsAfter((second) => ({
      services: [service({ workMs: usual })],
      workers: [worker({ state: 'busy', stateMs: 1000 * second, running: 8, done: 1000 * second })],
    }));
    expect(faults).toEqual([]);
  });

  it('a flooding client', () => {
    const faults = faultsAfter((second) => ({
      clients: [client({ refused: { malformed: 500 * second } }), client({ id: 'c2', refused: { malformed: 1000 } })],
    }));
    expect(faults).toEqual([['flooding-client', '/clients/mdp/c1']]);
  });

  it('a worker that floods, but not one that was refused messages before it came back', () => {
    const faults = faultsAfter((second) => ({
      workers: [
        worker({ refused: { 'reply-address': 500 * second } }),
        ...(second > 2 ? [worker({ id: 'w2', refused: { malformed: 1000 } })] : []),
      ],
    }));
    expect(faults).toEqual([['flooding-client', '/workers/mdp/w1']]);
  });

  it('a service without workers', () => {
    const faults = faultsAfter((second) => ({
      services: [
        service({ workers: 0, waiting: 3, oldestWaitingMs: 1000 * second }),
        service({ name: 'unused', workers: 0 }),
      ],
    }));
    expect(faults).toEqual([['service-without-workers', '/services/mdp/echo']]);
  });

  it('but not dead letters that nobody takes, which may well wait', () => {
    const letters = service({ name: 'orders.dead', isDead: true, workers: 0, waiting: 3, oldestWaitingMs: 3_600_000 });
    const fake = fakeServer({ protocol: 'pzq', services: [letters] });
    const { observer, second } = watch(fake, { servers: [{ protocol: 'pzq', facade: fake }] });
    second();
    expect(observer.model.services['pzq/orders.dead']).toMatchObject({ waiting: 3, isDead: true });
    expect(observer.model.faults).toEqual({});
  });

  it('a service without workers whose name no link can hold', () => {
    const faults = faultsAfter(() => ({
      services: [service({ name: 'm.\ud800', workers: 0, waiting: 1, oldestWaitingMs: 1000 })],
    }));
    expect(faults).toEqual([['service-without-workers', '/services/mdp/m.%EF%BF%BD']]);
  });

  it.each([
    ['pzq', '/queue'],
    ['emqp', '/services'],
    ['scheduler', '/scheduler'],
  ])('a store of %s whose disk is full', (protocol, href) => {
    const fault = () => ({ code: 'ENOSPC', text: 'no space left' });
    const { observer, second } = watch(fakeServer(), { servers: [{ protocol, facade: fakeServer(), fault }] });
    second();
    expect(Object.values(observer.model.faults)).toMatchObject([
      {
        code: 'disk-full',
        href,
        text: `The store of ${protocol} cannot be written to (ENOSPC: no space left): free space on its disk.`,
      },
    ]);
  });

  it('and its moment is that at which it began', () => {
    const fake = fakeServer({ services: [service({ workers: 0, waiting: 3, oldestWaitingMs: 2000 })] });
    const { observer, second } = watch(fake);
    second();
    second();
    expect(observer.model.faults['service-without-workers/mdp/echo']?.since).toBe(START);
    fake.snapshot = { ...fake.snapshot, services: [service()] };
    second();
    expect(observer.model.faults).toEqual({});
  });
});
