import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest({ drainMs: 1000 });
});

describe('rule 24: drain', () => {
  it('rule 24: ends at once if nothing runs', () => {
    broker.ready('w1');
    broker.ready('w2', 'sum', '0.1');
    expect(broker.drain()).toEqual([
      '-> w1 DISCONNECT',
      'worker-lost w1 echo drained',
      '-> w2 0.1 DISCONNECT',
      'worker-lost w2 sum drained',
      'drained',
    ]);
  });

  it('rule 24: lets a running job finish before DISCONNECT', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    expect(broker.drain()).toEqual([]);
    expect(broker.partial('w1', 'c1', 'half')).toEqual(['-> c1 PARTIAL echo "half"']);
    expect(broker.final('w1', 'c1', 'done')).toEqual([
      '-> c1 FINAL echo "done"',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo drained',
      'drained',
    ]);
  });

  it('rule 24: accepts no new requests, MMI included', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.drain();
    expect(broker.request('c2', 'late')).toEqual(['note request-dropped draining c2 echo']);
    expect(broker.request('c3', 'echo', 'mmi.service')).toEqual(['note request-dropped draining c3 mmi.service']);
  });

  it('rule 24: gives up waiting requests', () => {
    broker.ready('w1');
    for (const body of ['running', 'waiting', 'waiting']) broker.request('c1', body);
    broker.request('c2', 'waiting', 'nobody');
    expect(broker.drain()).toEqual(['note request-dropped drained c1 echo', 'note request-dropped drained c2 nobody']);
    expect(broker.dropped).toEqual({ drained: 3 });
  });

  it('rule 24: ends after drainMs even if a job keeps running', () => {
    broker.ready('w1');
    broker.request('c1', 'for ever');
    broker.drain();
    expect(broker.advance(999)).toEqual([]);
    expect(broker.advance(1)).toEqual([
      '1000ms: -> w1 DISCONNECT',
      '1000ms: worker-lost w1 echo drained',
      '1000ms: note request-dropped drained c1 echo',
      '1000ms: drained',
    ]);
  });

  it('rule 24: still resends the job of a worker that is lost meanwhile', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'hello');
    broker.drain();
    expect(broker.gone('w1')).toEqual(['worker-lost w1 echo gone', '-> w2 REQUEST c1 "hello"']);
    expect(broker.final('w2', 'c1', 'done')).toContain('drained');
  });

  it('rule 24: ends when the last running job is given up', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.partial('w1', 'c1', 'half');
    broker.drain();
    expect(broker.gone('w1')).toEqual([
      'worker-lost w1 echo gone',
      'note request-dropped lost-after-partial c1 echo',
      'drained',
    ]);
  });

  it('rule 24: sends DISCONNECT even to a worker that got one within the interval', () => {
    broker.heartbeat('w1');
    broker.ready('w1');
    expect(broker.drain()).toContain('-> w1 DISCONNECT');
  });

  it('rule 24: keeps heartbeats going while jobs run', () => {
    broker = new BrokerUnderTest({ heartbeatIntervalMs: 100, drainMs: 250, muteExpiryMs: 1000 });
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.drain();
    expect(broker.advance(200)).toEqual(['100ms: -> w1 HEARTBEAT', '200ms: -> w1 HEARTBEAT']);
  });

  it('leaves no timer behind', () => {
    broker.ready('w1');
    broker.drain();
    expect(broker.engine.deadline).toBe(Infinity);
    expect([broker.ready('w2'), broker.request('c1', 'x'), broker.frames('x', 'y'), broker.drain()]).toEqual([
      [],
      [],
      [],
      [],
    ]);
    expect(broker.stats).toMatchObject({ workers: 0, clients: 0, openRequests: 0, openBytes: 0, services: [] });
  });

  it('begins once', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.drain();
    broker.advance(900);
    broker.drain();
    expect(broker.advance(100)).toContain('1000ms: drained');
  });
});
