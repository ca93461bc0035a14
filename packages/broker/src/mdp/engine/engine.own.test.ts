import { latin1 } from '@proj/frames';
import { beforeEach, describe, expect, it } from 'vitest';
import { peerNamed } from '../../../test/keyed.js';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';
import type { MdpBrokerEffect } from './events.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

/** Sends a request whose body is long enough to be released. */
function long(client: string, service = 'echo'): Uint8Array {
  const body = [new Uint8Array(2 ** 15).fill(65)];
  broker.message(client, { kind: 'client-request', version: '0.2', service, body });
  return body[0] as Uint8Array;
}

const released = (lines: readonly string[]) => lines.filter((line) => line.startsWith('release'));

describe('rule 29: a service inside the broker', () => {
  it('rule 29: takes a request, and its reply goes to the client', () => {
    expect(broker.serve('echo')).toEqual([]);
    expect(broker.request('c1', 'hello')).toEqual(['run 1 of 1 for c1 "hello"']);
    expect(broker.ownFinal(1, 'done')).toEqual(['-> c1 FINAL echo "done"']);
    expect(broker.stats).toMatchObject({
      openRequests: 0,
      clients: 0,
      counters: { runs: 1, replies: 1, dispatches: 0 },
    });
  });

  it('rule 29: answers clients of both versions in their own version', () => {
    broker.serve('echo', 2);
    expect(broker.request('old', 'x', 'echo', '0.1')).toEqual(['run 1 of 1 for old 0.1 "x"']);
    expect(broker.request('new', 'y')).toEqual(['run 2 of 1 for new "y"']);
    expect(broker.ownFinal(1, 'x!')).toEqual(['-> old 0.1 FINAL echo "x!"']);
    expect(broker.ownFinal(2, 'y!')).toEqual(['-> new FINAL echo "y!"']);
  });

  it('rule 29: has one home with bridge, and is counted once', () => {
    broker = new BrokerUnderTest({ bridge: true });
    broker.serve('echo', 3);
    expect(broker.stats.services).toEqual([{ name: 'echo', version: 'both', workers: 3, busy: 0, waiting: 0 }]);
    expect(broker.request('old', 'x', 'echo', '0.1')).toEqual(['run 1 of 1 for old 0.1 "x"']);
  });

  it('rule 29: of one version is unknown to clients of the other', () => {
    broker.serve('echo', 1, ['0.2']);
    expect(broker.request('old', 'x', 'echo', '0.1')).toEqual([]);
    expect(broker.stats.services.map(({ workers }) => workers)).toEqual([1, 0]);
  });

  it('rule 29: runs as many handlers as concurrency says, over both versions, and these take turns', () => {
    broker.serve('echo', 2);
    broker.request('c1', '1');
    expect(broker.request('old', '2', 'echo', '0.1')).toHaveLength(1);
    for (const body of ['3', '4']) expect(broker.request('c1', body)).toEqual([]);
    for (const body of ['5', '6']) expect(broker.request('old', body, 'echo', '0.1')).toEqual([]);
    const order = [1, 2, 3, 4].map((run) => broker.ownFinal(run, 'done').at(-1));
    expect(order).toEqual([
      'run 3 of 1 for c1 "3"',
      'run 4 of 1 for old 0.1 "5"',
      'run 5 of 1 for c1 "4"',
      'run 6 of 1 for old 0.1 "6"',
    ]);
  });

  it('rule 29: takes waiting requests when it starts', () => {
    broker.request('c1', '1');
    broker.request('c2', '2');
    broker.request('old', '3', 'echo', '0.1');
    expect(broker.serve('echo', 3)).toHaveLength(3);
    broker.advance(60_000);
    expect(broker.dropped).toEqual({});
  });

  it('rule 29: lets requests that it is too busy for wait without limit, as for busy workers', () => {
    broker.request('c1', '1');
    broker.request('c1', '2');
    broker.serve('echo');
    expect(broker.advance(60_000)).toEqual([]);
    expect(broker.ownFinal(1, 'done')).toContain('run 2 of 1 for c1 "2"');
  });

  it('rule 29: comes after workers: it takes requests without an idle worker', () => {
    broker.serve('echo');
    broker.ready('w1');
    expect(broker.request('c1', '1')).toEqual(['-> w1 REQUEST c1 "1"']);
    expect(broker.request('c1', '2')).toEqual(['run 1 of 1 for c1 "2"']);
    expect(broker.request('c1', '3')).toEqual([]);
    expect(broker.final('w1', 'c1', 'done')).toEqual(['-> c1 FINAL echo "done"', '-> w1 REQUEST c1 "3"']);
  });

  it('rule 29: gets no heartbeats and never expires', () => {
    broker.serve('echo');
    expect(broker.advance(600_000)).toEqual([]);
    expect(broker.engine.deadline).toBe(Infinity);
    expect(broker.request('c1', 'x')).toHaveLength(1);
    expect(broker.advance(600_000)).toEqual([]);
  });

  it('rule 29: gets the job of a lost worker at once', () => {
    broker.ready('w1');
    broker.request('c1', 'x');
    broker.serve('echo');
    expect(broker.gone('w1')).toEqual(['worker-lost w1 echo gone', 'run 1 of 1 for c1 "x"']);
    expect(broker.stats.counters.resends).toBe(1);
  });

  it('rule 29: may be called by clients that may request it, whoever may serve it', () => {
    broker.serve('echo');
    broker.access({ keys: ['ada'], request: ['echo'] });
    expect(broker.request('c1', 'x')).toEqual(['note request-dropped not-allowed c1 echo']);
    expect(broker.request('c2@ada', 'x')).toEqual(['run 1 of 1 for c2@ada "x"']);
  });
});

describe('rule 29: partial replies', () => {
  it('rule 29: reach the client as they come', () => {
    broker.serve('echo');
    broker.request('c1', 'x');
    expect(broker.ownPartial(1, 'half')).toEqual(['-> c1 PARTIAL echo "half"']);
    expect(broker.ownFinal(1, 'done')).toEqual(['-> c1 FINAL echo "done"']);
    expect(broker.stats.counters).toMatchObject({ partials: 1, replies: 1 });
  });

  it('rule 29: of a run that has ended are ignored', () => {
    broker.serve('echo');
    broker.request('c1', 'x');
    broker.ownFinal(1, 'done');
    expect([broker.ownPartial(1, 'late'), broker.ownFinal(1, 'late'), broker.ownFailed(1)]).toEqual([[], [], []]);
    expect([broker.ownPartial(9, 'never'), broker.withdraw(9)]).toEqual([[], []]);
  });
});

describe('rule 29: a handler that fails', () => {
  it('rule 29: leaves its request to a worker, if one is idle', () => {
    broker.serve('echo');
    broker.ready('w1');
    broker.request('c1', '1');
    broker.request('c1', '2');
    broker.final('w1', 'c1', 'done');
    expect(broker.ownFailed(1)).toEqual(['-> w1 REQUEST c1 "2"']);
  });

  it('rule 29: gets it again otherwise, maxAttempts times in all', () => {
    broker = new BrokerUnderTest({ maxAttempts: 2 });
    broker.serve('echo');
    broker.request('c1', 'poison');
    expect(broker.ownFailed(1)).toEqual(['run 2 of 1 for c1 "poison"']);
    expect(broker.ownFailed(2)).toEqual(['note request-dropped attempts-exhausted c1 echo']);
    expect(broker.request('c1', 'next')).toEqual(['run 3 of 1 for c1 "next"']);
  });

  it('rule 29: does not get it again once the client has received a part', () => {
    broker.serve('echo');
    broker.request('c1', 'x');
    broker.ownPartial(1, 'half');
    expect(broker.ownFailed(1)).toEqual(['note request-dropped lost-after-partial c1 echo']);
    expect(broker.stats.openRequests).toBe(0);
  });

  it('rule 29: lets the next request in', () => {
    broker = new BrokerUnderTest({ maxAttempts: 1 });
    broker.serve('echo');
    broker.request('c1', 'poison');
    broker.request('c2', 'next');
    expect(broker.ownFailed(1)).toEqual([
      'note request-dropped attempts-exhausted c1 echo',
      'run 2 of 1 for c2 "next"',
    ]);
  });
});

describe('rule 29: a client that is gone', () => {
  it('rule 29: has its own handlers aborted, and no others', () => {
    broker.serve('echo', 3);
    for (const client of ['c1', 'c2', 'c1']) broker.request(client, 'x');
    expect(broker.gone('c1')).toEqual(['cancel 1 client-gone', 'cancel 3 client-gone']);
    expect(broker.gone('c1')).toEqual([]);
  });

  it('rule 29: its handler keeps its place until it has ended, and its reply is dropped', () => {
    broker.serve('echo');
    broker.request('c1', 'x');
    broker.request('c2', 'y');
    expect(broker.gone('c1')).toEqual(['cancel 1 client-gone']);
    expect(broker.ownFinal(1, 'late')).toEqual([
      'note reply-dropped reply-undeliverable c1 echo',
      'run 2 of 1 for c2 "y"',
    ]);
  });

  it('rule 29: its request is not run again', () => {
    broker.serve('echo');
    broker.request('c1', 'x');
    broker.gone('c1');
    expect(broker.ownFailed(1)).toEqual(['note request-dropped client-gone c1 echo']);
    expect(broker.dropped).toEqual({ 'client-gone': 1 });
  });

  it('rule 29: is noticed by an undeliverable reply', () => {
    broker.serve('echo', 2);
    broker.request('c1', 'x');
    broker.request('c1', 'y');
    broker.ownFinal(1, 'done');
    expect(broker.undeliverable('c1')).toContain('cancel 2 client-gone');
  });

  it('rule 29: returns as a new client', () => {
    broker.serve('echo', 2);
    broker.request('c1', 'x');
    broker.gone('c1');
    broker.request('c1', 'y');
    expect(broker.ownFinal(1, 'x!')).toEqual(['note reply-dropped reply-undeliverable c1 echo']);
    expect(broker.ownFinal(2, 'y!')).toEqual(['-> c1 FINAL echo "y!"']);
  });
});

describe('rule 29: the body of a request', () => {
  it('rule 29: belongs to the handler: it is not released', () => {
    broker.serve('echo');
    long('c1');
    expect(released(broker.ownFinal(1, 'done'))).toEqual([]);
    long('c1');
    broker.gone('c1');
    expect(released(broker.ownFailed(2))).toEqual([]);
  });

  it('rule 29: is a copy for the next one that gets the request after a handler', () => {
    broker.serve('echo');
    const body = long('c1');
    broker.withdraw(1);
    broker.ready('w1');
    const effects: readonly MdpBrokerEffect[] = broker.engine.step({ kind: 'own-failed', run: 1 }, broker.now);
    const [sent] = effects.flatMap((effect) =>
      effect.kind === 'send' && 'body' in effect.command ? [effect.command] : [],
    );
    expect(sent?.body[0]).toEqual(body);
    expect(sent?.body[0]).not.toBe(body);
    const client = peerNamed('c1').id;
    const answered = broker.message('w1', { kind: 'worker-final', version: '0.2', client, body: [new Uint8Array(1)] });
    expect(released(answered)).toEqual([`release ${latin1(body)}`]);
  });
});

describe('rule 29: withdrawn', () => {
  it('rule 29: it is gone at once if nothing runs', () => {
    broker.serve('echo', 2);
    expect(broker.withdraw(1)).toEqual([]);
    expect(broker.stats.services).toEqual([]);
    expect(broker.request('c1', 'x')).toEqual([]);
    expect(broker.withdraw(1)).toEqual([]);
  });

  it('rule 29: it accepts nothing more, and exists until its last handler has ended', () => {
    broker.serve('echo', 2);
    broker.request('c1', '1');
    expect(broker.withdraw(1)).toEqual([]);
    expect(broker.request('c1', '2')).toEqual([]);
    expect(broker.stats.services[0]).toEqual({ name: 'echo', version: '0.2', workers: 2, busy: 2, waiting: 1 });
    expect(broker.ownFinal(1, 'done')).toEqual(['-> c1 FINAL echo "done"']);
    expect(broker.stats.services).toEqual([{ name: 'echo', version: '0.2', workers: 0, busy: 0, waiting: 1 }]);
    expect(broker.advance(30_000)).toEqual(['30000ms: note request-dropped expired-unserved c1 echo']);
  });

  it('rule 29: a request that failed in it waits for a worker', () => {
    broker.serve('echo');
    broker.request('c1', 'x');
    broker.withdraw(1);
    expect(broker.ownFailed(1)).toEqual([]);
    expect(broker.ready('w1')).toEqual(['worker-ready w1 echo', '-> w1 REQUEST c1 "x"']);
  });
});

describe('rule 29: drain', () => {
  it('rule 29: waits for handlers', () => {
    broker.serve('echo');
    broker.request('c1', 'x');
    expect(broker.drain()).toEqual([]);
    expect(broker.ownPartial(1, 'half')).toEqual(['-> c1 PARTIAL echo "half"']);
    expect(broker.ownFinal(1, 'done')).toEqual(['-> c1 FINAL echo "done"', 'drained']);
  });

  it('rule 29: aborts those that have not finished by drainMs, and keeps nothing of them', () => {
    broker = new BrokerUnderTest({ drainMs: 1000 });
    broker.serve('echo', 2);
    broker.request('c1', 'x');
    long('c2');
    broker.drain();
    expect(broker.advance(1000)).toEqual([
      '1000ms: cancel 1 drained',
      '1000ms: note request-dropped drained c1 echo',
      '1000ms: cancel 2 drained',
      '1000ms: note request-dropped drained c2 echo',
      '1000ms: drained',
    ]);
    expect(broker.stats).toMatchObject({ openRequests: 0, openBytes: 0 });
    expect(broker.ownFinal(1, 'late')).toEqual([]);
  });
});
