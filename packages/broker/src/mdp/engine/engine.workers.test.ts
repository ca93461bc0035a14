import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';

/** No worker has more time than those that send heartbeats while working. */
const NO_MUTE = { muteExpiryMs: 7500 };

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

function lossesAfter(ms: number): string[] {
  return broker.advance(ms).filter((line) => line.includes('worker-lost'));
}

describe('rule 7: a valid command at the wrong time ends the conversation', () => {
  it('rule 7: second READY of an idle worker', () => {
    broker.ready('w1');
    expect(broker.ready('w1')).toEqual([
      'note message-dropped unexpected w1',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo unexpected',
    ]);
  });

  it('rule 7: second READY of a busy worker, whose job goes to the next one', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.ready('w2');
    expect(broker.ready('w1')).toEqual([
      'note message-dropped unexpected w1',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo unexpected',
      '-> w2 REQUEST c1 "hello"',
    ]);
  });

  it('rule 7: READY for a name under mmi.', () => {
    expect(broker.ready('w1', 'mmi.anything')).toEqual([
      'note message-dropped reserved-service w1',
      '-> w1 DISCONNECT',
    ]);
    expect(broker.stats.workers).toBe(0);
  });

  it('rule 7: HEARTBEAT before READY', () => {
    expect(broker.heartbeat('w1')).toEqual(['note message-dropped unknown-worker w1', '-> w1 DISCONNECT']);
  });

  it('rule 7: PARTIAL before READY', () => {
    expect(broker.partial('w1', 'c1', 'x')).toEqual(['note message-dropped unknown-worker w1', '-> w1 DISCONNECT']);
  });

  it('rule 7: FINAL before READY', () => {
    expect(broker.final('w1', 'c1', 'x')).toEqual(['note message-dropped unknown-worker w1', '-> w1 DISCONNECT']);
  });

  it('rule 7: PARTIAL while idle', () => {
    broker.ready('w1');
    expect(broker.partial('w1', 'c1', 'x')).toContain('-> w1 DISCONNECT');
    expect(broker.stats.workers).toBe(0);
  });

  it('rule 7: a second FINAL is not forwarded', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.final('w1', 'c1', 'first');
    expect(broker.final('w1', 'c1', 'second')).toEqual([
      'note message-dropped unexpected w1',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo unexpected',
    ]);
  });

  it.each(['partial', 'final'] as const)('rule 7: a %s to another client is not forwarded', (kind) => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    expect(broker[kind]('w1', 'c2', 'x')).toEqual([
      'note message-dropped unexpected w1',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo unexpected',
    ]);
    expect(broker.ready('w2')).toContain('-> w2 REQUEST c1 "hello"');
  });

  it('rule 7: later messages from that id are a new conversation', () => {
    broker.ready('w1');
    broker.ready('w1');
    expect(broker.ready('w1', 'sum')).toEqual(['worker-ready w1 sum']);
    expect(broker.request('c1', '1 2', 'sum')).toEqual(['-> w1 REQUEST c1 "1 2"']);
  });
});

describe('rule 8: DISCONNECT', () => {
  it('rule 8: goes to an identity once per interval, however much it sends', () => {
    broker.heartbeat('w1');
    broker.now = 2499;
    expect(broker.heartbeat('w1')).toEqual([]);
    expect(broker.stats.counters).toMatchObject({ disconnectsSent: 1, disconnectsWithheld: 1 });
  });

  it('rule 8: goes again in the next interval', () => {
    broker.heartbeat('w1');
    broker.now = 2500;
    expect(broker.heartbeat('w1')).toEqual(['-> w1 DISCONNECT']);
  });

  it('rule 8: is withheld from a worker that registers and offends again and again', () => {
    for (let i = 0; i < 50; i++) broker.ready('w1');
    expect(broker.stats.counters.disconnectsSent).toBe(1);
  });

  it('rule 8: is counted separately for each identity', () => {
    broker.heartbeat('w1');
    expect(broker.heartbeat('w2')).toContain('-> w2 DISCONNECT');
  });

  it('rule 8: is withheld from new identities once too many are remembered', () => {
    for (let i = 0; i < 70_000; i++) {
      broker.engine.step(
        {
          kind: 'message',
          peer: { key: `s${i}`, id: new Uint8Array(1) },
          command: { kind: 'heartbeat', version: '0.2' },
        },
        0,
      );
    }
    expect(broker.stats.counters).toMatchObject({ disconnectsSent: 65_536, disconnectsWithheld: 70_000 - 65_536 });
  });
});

describe('rule 10: DISCONNECT from a worker', () => {
  it('rule 10: is accepted while idle and not answered', () => {
    broker.ready('w1');
    expect(broker.disconnect('w1')).toEqual(['worker-lost w1 echo disconnected']);
  });

  it('rule 10: is accepted before READY and not answered', () => {
    expect(broker.disconnect('w1')).toEqual([]);
  });

  it('rule 10: gives its job to another worker', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'hello');
    expect(broker.disconnect('w1')).toEqual(['worker-lost w1 echo disconnected', '-> w2 REQUEST c1 "hello"']);
  });

  it('rule 10: ends its heartbeats', () => {
    broker.ready('w1');
    broker.disconnect('w1');
    expect(broker.advance(20_000)).toEqual([]);
  });
});

describe('rule 11: heartbeats', () => {
  it('rule 11: go to an idle worker every interval from its READY on', () => {
    broker.now = 1000;
    broker.ready('w1');
    expect(broker.advance(5000)).toEqual(['3500ms: -> w1 HEARTBEAT', '6000ms: -> w1 HEARTBEAT']);
  });

  it('rule 11: go to a busy worker too', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    expect(broker.advance(2500)).toEqual(['2500ms: -> w1 HEARTBEAT']);
  });

  it('rule 11: keep each worker’s own phase', () => {
    broker.ready('w1');
    broker.advance(1000);
    broker.ready('w2');
    expect(broker.advance(4000)).toEqual([
      '2500ms: -> w1 HEARTBEAT',
      '3500ms: -> w2 HEARTBEAT',
      '5000ms: -> w1 HEARTBEAT',
    ]);
  });

  it('rule 11: are at most one per interval after we were late', () => {
    broker.ready('w1');
    const lines = broker.stall(6200);
    expect(lines.filter((line) => line.includes('HEARTBEAT'))).toEqual(['-> w1 HEARTBEAT']);
    expect(broker.advance(2499)).toEqual([]);
    expect(broker.advance(1)).toEqual(['8700ms: -> w1 HEARTBEAT']);
  });

  it('rule 11: come in the version of the worker', () => {
    broker.ready('w1', 'echo', '0.1');
    expect(broker.advance(2500)).toEqual(['2500ms: -> w1 0.1 HEARTBEAT']);
  });
});

describe('rule 12: signs of life', () => {
  it('rule 12: HEARTBEAT', () => {
    broker.ready('w1');
    broker.advance(7000);
    broker.heartbeat('w1');
    expect(lossesAfter(7499)).toEqual([]);
    expect(lossesAfter(1)).toEqual(['14500ms: worker-lost w1 echo expired']);
  });

  it('rule 12: PARTIAL keeps a busy worker alive', () => {
    broker = new BrokerUnderTest(NO_MUTE);
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(7000);
    broker.partial('w1', 'c1', 'so far');
    expect(lossesAfter(7499)).toEqual([]);
    expect(lossesAfter(1)).toEqual(['14500ms: worker-lost w1 echo expired']);
  });

  it('rule 12: FINAL', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(7000);
    broker.final('w1', 'c1', 'done');
    expect(lossesAfter(7499)).toEqual([]);
    expect(lossesAfter(1)).toEqual(['14500ms: worker-lost w1 echo expired']);
  });

  it('rule 12: READY', () => {
    broker.now = 100;
    broker.ready('w1');
    expect(lossesAfter(7499)).toEqual([]);
    expect(lossesAfter(1)).toEqual(['7600ms: worker-lost w1 echo expired']);
  });
});

describe('rule 13: expiry', () => {
  it('rule 13: an idle worker is forgotten after interval x liveness without notice', () => {
    broker = new BrokerUnderTest({ heartbeatIntervalMs: 1000, liveness: 2, busyExpiryMs: 60_000 });
    broker.ready('w1');
    expect(broker.advance(10_000)).toEqual(['1000ms: -> w1 HEARTBEAT', '2000ms: worker-lost w1 echo expired']);
  });

  it('rule 13: a worker that sends heartbeats while working has busyExpiryMs, counted from its last heartbeat', () => {
    broker = new BrokerUnderTest({ heartbeatIntervalMs: 1000, liveness: 2, busyExpiryMs: 5000 });
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(1000);
    broker.heartbeat('w1');
    expect(lossesAfter(20_000)).toEqual(['6000ms: worker-lost w1 echo expired']);
  });

  it('rule 13: busyExpiryMs is interval x liveness by default', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(2500);
    broker.heartbeat('w1');
    expect(lossesAfter(20_000)).toEqual(['10000ms: worker-lost w1 echo expired']);
  });

  it('rule 13: a worker that never sent a heartbeat while working has muteExpiryMs, five minutes by default', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    expect(lossesAfter(299_999)).toEqual([]);
    expect(lossesAfter(1)).toEqual(['300000ms: worker-lost w1 echo expired']);
  });

  it('rule 13: a job of several liveness times goes to one mute worker once, and its reply to the client', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(60_000);
    expect(broker.final('w1', 'c1', 'done')).toEqual(['-> c1 FINAL echo "done"']);
    expect(broker.stats.counters).toMatchObject({ dispatches: 1, workersLost: 0, disconnectsSent: 0 });
  });

  it('rule 13: a heartbeat that may have crossed with the request does not prove heartbeats while working', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(1249);
    broker.heartbeat('w1');
    expect(lossesAfter(20_000)).toEqual([]);
  });

  it('rule 13: a heartbeat half an interval after the request proves it, whatever crossed before', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(500);
    broker.heartbeat('w1');
    broker.advance(750);
    broker.heartbeat('w1');
    expect(lossesAfter(20_000)).toEqual(['8750ms: worker-lost w1 echo expired']);
  });

  it('rule 13: a partial reply does not prove it: workers without heartbeats send some, too', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(5000);
    broker.partial('w1', 'c1', 'half');
    expect(lossesAfter(299_999)).toEqual([]);
    expect(lossesAfter(1)).toEqual(['305000ms: worker-lost w1 echo expired']);
  });

  it('rule 13: a worker that has sent heartbeats while working must do so in every later job', () => {
    broker.ready('w1');
    broker.request('c1', 'first');
    broker.advance(2500);
    broker.heartbeat('w1');
    broker.final('w1', 'c1', 'done');
    broker.request('c1', 'second');
    expect(lossesAfter(20_000)).toEqual(['10000ms: worker-lost w1 echo expired']);
  });

  it('rule 13: what is known about a worker ends with its registration', () => {
    broker.ready('w1');
    broker.request('c1', 'first');
    broker.advance(2500);
    broker.heartbeat('w1');
    broker.disconnect('w1');
    broker.ready('w1');
    expect(lossesAfter(20_000)).toEqual([]);
  });

  it('rule 13: after its FINAL a worker is idle again, with the time of an idle one', () => {
    broker = new BrokerUnderTest({ heartbeatIntervalMs: 1000, liveness: 2, busyExpiryMs: 50_000 });
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(10_000);
    broker.final('w1', 'c1', 'done');
    const lost = broker.advance(20_000).filter((line) => line.includes('worker-lost'));
    expect(lost).toEqual(['12000ms: worker-lost w1 echo expired']);
  });

  it('rule 13: the job of an expired worker never goes to one that expires at the same moment', () => {
    broker = new BrokerUnderTest(NO_MUTE);
    broker.ready('w1');
    broker.ready('w2');
    broker.ready('w3');
    broker.request('c1', 'hello');
    const lines = broker.advance(7500).filter((line) => !line.includes('HEARTBEAT'));
    expect(lines).toEqual([
      '7500ms: worker-lost w2 echo expired',
      '7500ms: worker-lost w3 echo expired',
      '7500ms: worker-lost w1 echo expired',
    ]);
    expect(broker.ready('w4')).toContain('-> w4 REQUEST c1 "hello"');
  });
});

describe('rule 13: several workers that expire at once', () => {
  it('rule 13: giving up one job does not remove the service of the other', () => {
    broker = new BrokerUnderTest(NO_MUTE);
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'first');
    broker.request('c2', 'second');
    broker.partial('w1', 'c1', 'half');
    const lines = broker.advance(7500).filter((line) => !line.includes('HEARTBEAT'));
    expect(lines).toEqual([
      '7500ms: worker-lost w2 echo expired',
      '7500ms: worker-lost w1 echo expired',
      '7500ms: note request-dropped lost-after-partial c1 echo',
    ]);
    expect(broker.ready('w3')).toContain('-> w3 REQUEST c2 "second"');
  });
});

describe('our own lateness (ADR 4)', () => {
  it('postpones expiry by as much if it exceeds an interval', () => {
    broker.ready('w1');
    expect(broker.stall(12_500)).toEqual(['note running-late 10000ms', '-> w1 HEARTBEAT']);
    expect(broker.heartbeat('w1')).toEqual([]);
    expect(broker.advance(7499).some((line) => line.includes('worker-lost'))).toBe(false);
  });

  it('postpones the expiry of busy workers, too', () => {
    broker = new BrokerUnderTest(NO_MUTE);
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.stall(12_500);
    expect(broker.advance(9999).some((line) => line.includes('worker-lost'))).toBe(false);
    expect(broker.advance(1)).toContain('22500ms: worker-lost w1 echo expired');
  });

  it('expires a worker that is still silent when the postponement ends', () => {
    broker.ready('w1');
    broker.stall(12_500);
    const lost = broker.advance(10_000).filter((line) => line.includes('worker-lost'));
    expect(lost).toEqual(['22500ms: worker-lost w1 echo expired']);
  });

  it('postpones nothing if it is no more than an interval', () => {
    broker.ready('w1');
    broker.advance(5000);
    expect(broker.stall(4900)).toEqual(['worker-lost w1 echo expired']);
  });

  it('keeps waiting requests, too: their worker’s READY may be waiting unread', () => {
    broker.request('c1', 'hello');
    broker.stall(60_000);
    expect(broker.ready('w1')).toContain('-> w1 REQUEST c1 "hello"');
  });

  it('causes no spacing hints', () => {
    broker.ready('w1');
    broker.stall(12_500);
    expect(broker.heartbeat('w1')).toEqual([]);
  });
});

describe('rule 15: a late reply of a former worker', () => {
  it('rule 15: is answered with DISCONNECT and not forwarded', () => {
    broker = new BrokerUnderTest(NO_MUTE);
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(7500);
    expect(broker.final('w1', 'c1', 'late')).toEqual(['note message-dropped unknown-worker w1', '-> w1 DISCONNECT']);
  });

  it('rule 15: leaves the resent request to its new worker', () => {
    broker = new BrokerUnderTest(NO_MUTE);
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(7500);
    broker.ready('w2');
    broker.final('w1', 'c1', 'late');
    expect(broker.final('w2', 'c1', 'in time')).toEqual(['-> c1 FINAL echo "in time"']);
  });
});

describe('rule 16: the network', () => {
  it('rule 16: a worker whose connection ended is lost at once', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'hello');
    expect(broker.gone('w1')).toEqual(['worker-lost w1 echo gone', '-> w2 REQUEST c1 "hello"']);
  });

  it('rule 16: an unreachable worker is lost at once', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'hello');
    expect(broker.undeliverable('w1')).toEqual(['worker-lost w1 echo unreachable', '-> w2 REQUEST c1 "hello"']);
  });

  it('rule 16: a worker that does not read is lost', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    expect(broker.undeliverable('w1', 'congested')).toEqual(['worker-lost w1 echo congested']);
  });

  it('rule 16: an undeliverable heartbeat means the same', () => {
    broker.ready('w1');
    broker.advance(2500);
    expect(broker.undeliverable('w1')).toEqual(['worker-lost w1 echo unreachable']);
  });

  it('rule 16: an undeliverable DISCONNECT has no effect', () => {
    broker.heartbeat('w1');
    broker.ready('w1');
    expect(broker.undeliverable('w1')).toEqual([]);
    expect(broker.stats.workers).toBe(1);
  });

  it('rule 16: an undeliverable message to a stranger has no effect', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.disconnect('w1');
    expect(broker.undeliverable('w1')).toEqual([]);
  });

  it('rule 16: a request that never reached its worker does not count as an attempt', () => {
    broker = new BrokerUnderTest({ maxAttempts: 1 });
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.undeliverable('w1');
    expect(broker.ready('w2')).toContain('-> w2 REQUEST c1 "hello"');
  });

  it('rule 16: a reply without a client is dropped and counted; the worker is free', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.final('w1', 'c1', 'done');
    expect(broker.undeliverable('c1')).toEqual(['note reply-dropped reply-undeliverable c1 echo']);
    expect(broker.request('c2', 'next')).toEqual(['-> w1 REQUEST c2 "next"']);
  });

  it('rule 16: the waiting requests of an unreachable client are dropped with it', () => {
    broker.ready('w1');
    for (const body of ['first', 'second', 'third']) broker.request('c1', body);
    broker.final('w1', 'c1', 'done');
    expect(broker.undeliverable('c1')).toEqual([
      'note reply-dropped reply-undeliverable c1 echo',
      'note request-dropped client-gone c1 echo',
    ]);
  });

  it('rule 16: a client that reads too slowly loses only that reply', () => {
    broker.ready('w1');
    broker.request('c1', 'first');
    broker.request('c1', 'second');
    broker.request('c1', 'third');
    broker.final('w1', 'c1', 'done');
    expect(broker.undeliverable('c1', 'congested')).toEqual(['note reply-dropped reply-undeliverable c1 echo']);
    expect(broker.final('w1', 'c1', 'done')).toContain('-> w1 REQUEST c1 "third"');
  });

  it('rule 16: the same id may send READY again after its connection ended, and is a new worker', () => {
    broker.ready('w1');
    broker.gone('w1');
    expect(broker.ready('w1', 'sum')).toEqual(['worker-ready w1 sum']);
  });

  it('rule 16: both roles of an identity end with its connection', () => {
    broker.ready('both');
    broker.request('both', 'for another', 'sum');
    expect(broker.gone('both')).toEqual(['worker-lost both echo gone', 'note request-dropped client-gone both sum']);
    expect(broker.stats).toMatchObject({ workers: 0, clients: 0, openRequests: 0, openBytes: 0, services: [] });
  });

  it('rule 16: the end of a stranger’s connection has no effect', () => {
    expect(broker.gone('nobody')).toEqual([]);
  });
});

describe('rule 23: the spacing hint', () => {
  it('rule 23: is given when a worker was silent for more than half its expiry', () => {
    broker.ready('w1');
    broker.advance(3751);
    expect(broker.heartbeat('w1')).toEqual(['note spacing-hint w1 echo 3751ms of 7500ms']);
  });

  it('rule 23: is given once per worker', () => {
    broker.ready('w1');
    broker.advance(4000);
    broker.heartbeat('w1');
    broker.advance(4000);
    expect(broker.heartbeat('w1')).toEqual([]);
  });

  it('rule 23: is not given at half', () => {
    broker.ready('w1');
    broker.advance(3750);
    expect(broker.heartbeat('w1')).toEqual([]);
  });

  it('rule 23: measures a busy worker by its own expiry', () => {
    broker = new BrokerUnderTest({ muteExpiryMs: 60_000 });
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.advance(30_000);
    expect(broker.partial('w1', 'c1', 'x')).toEqual(['-> c1 PARTIAL echo "x"']);
    broker.advance(30_001);
    expect(broker.final('w1', 'c1', 'y')).toContain('note spacing-hint w1 echo 30001ms of 60000ms');
  });
});
