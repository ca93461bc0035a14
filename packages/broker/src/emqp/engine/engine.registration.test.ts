/** Rules 1 to 8: which peers are registered, which are alive, and which get goodbye. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest, VERSION } from '../../../test/emqp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

const queuesOf = () =>
  broker.stats.queues.filter(({ workers }) => workers > 0).map(({ name, workers }) => `${name} ${workers}`);

describe('INFORM', () => {
  it.each([
    ['[[10, "a"], [20, "b"]]'],
    ['[10,"a"],[20,"b"]'],
    ["[10, 'a'], [20, 'b']"],
    ['[["10", "a"], ["20", "b"]]'],
  ])('rule 1: takes queues as %s', (queues) => {
    broker.say('w1', 'INFORM', 'i', queues, 'worker');
    expect(queuesOf().sort()).toEqual(['a 1', 'b 1']);
  });

  it.each([['[40, "email"]'], ["[40, 'email']"]])('rule 1: takes one queue as %s', (queues) => {
    broker.say('w1', 'INFORM', 'i', queues, 'worker');
    expect(queuesOf()).toEqual(['email 1']);
  });

  it('rule 1: an empty field means the default queues, an empty list none', () => {
    broker.inform('w1');
    broker.say('w2', 'INFORM', 'i', '[]', 'worker');
    expect(queuesOf()).toEqual(['default 1']);
    expect(broker.stats.workers).toBe(2);
  });

  it('rule 1: the default queues are an option', () => {
    broker = new BrokerUnderTest({ defaultQueues: [[5, 'mail']] });
    broker.inform('w1');
    expect(queuesOf()).toEqual(['mail 1']);
  });

  it('rule 1: if a name is listed twice, the last weight counts', () => {
    broker.inform('w1', 'a:1', 'a:7');
    expect(broker.admin('a1', 'ROUTER_SHOW_WORKERS')[0]).toContain('"queues": [[7, "a"]]');
  });

  it('rule 2: that is valid is answered with ACK, which names it', () => {
    expect(broker.say('w1', 'INFORM', 'i7', '', 'worker')).toContain('-> w1 ACK i7');
  });

  it('rule 2: that is invalid gets no ACK and registers nobody', () => {
    expect(broker.say('w1', 'INFORM', 'i7', 'default', 'worker')).toEqual(['note message-dropped queues-invalid w1']);
    expect(broker.stats.workers).toBe(0);
    expect(broker.dropped).toEqual({ 'queues-invalid': 1 });
  });

  it('rule 2: that is invalid leaves an earlier registration alone', () => {
    broker.inform('w1');
    broker.say('w1', 'INFORM', 'i7', 'default', 'worker');
    expect(broker.stats.workers).toBe(1);
  });

  it('rule 2: more often than registrationsPerSecondMax is refused', () => {
    broker = new BrokerUnderTest({ registrationsPerSecondMax: 2 });
    broker.inform('w1');
    broker.bye('w1');
    expect(broker.inform('w1')).toContain('-> w1 ACK i-w1');
    broker.bye('w1');
    expect(broker.inform('w1')).toEqual(['note message-dropped registrations-limit w1']);
    broker.advance(500);
    expect(broker.inform('w1')).toContain('-> w1 ACK i-w1');
  });

  it('rule 2: over a limit is refused', () => {
    broker = new BrokerUnderTest({ queuesMax: 2, peersMax: 2 });
    expect(broker.inform('w1', 'a', 'b', 'c')).toEqual(['note message-dropped queues-limit w1']);
    broker.inform('w1', 'a', 'b', 'default');
    expect(broker.inform('w2', 'c')).toEqual(['note message-dropped queues-limit w2']);
    broker.scheduler('s1');
    expect(broker.inform('w2', 'a')).toEqual(['note message-dropped peers-limit w2']);
    expect(broker.inform('w1', 'a')).toContain('-> w1 ACK i-w1');
  });

  it('rule 3: is followed by a HEARTBEAT at once, and by one every interval', () => {
    expect(broker.inform('w1')).toEqual(['joined w1 worker', '-> w1 ACK i-w1', '-> w1 HEARTBEAT']);
    expect(broker.scheduler('s1')).toEqual(['joined s1 scheduler', '-> s1 ACK i-s1', '-> s1 HEARTBEAT']);
    expect(broker.advance(6000)).toEqual([
      '3000ms: -> w1 HEARTBEAT',
      '3000ms: -> s1 HEARTBEAT',
      '6000ms: -> w1 HEARTBEAT',
      '6000ms: -> s1 HEARTBEAT',
    ]);
  });

  it('rule 4: sent again is a new conversation: no slots, other queues, ACK', () => {
    broker.inform('w1', 'a');
    broker.ready('w1', 3);
    expect(broker.inform('w1', 'b')).toEqual([
      'left w1 informed-again',
      'joined w1 worker',
      '-> w1 ACK i-w1',
      '-> w1 HEARTBEAT',
    ]);
    expect(broker.stats).toMatchObject({ workers: 1, slots: 0 });
    expect(queuesOf()).toEqual(['b 1']);
    expect(broker.request('c1', 'm1', 'a')).toEqual(['-> c1 ACCEPTED m1']);
  });

  it('rule 5: of either type is accepted on either port and answered there', () => {
    const inform = ['', VERSION, 'INFORM', 'i', '', 'worker'];
    expect(broker.framesAt('frontend', 'w1', ...inform)).toContain('-> w1@frontend ACK i');
    expect(broker.framesAt('backend', 's1', ...inform.with(5, 'scheduler'))).toContain('-> s1@backend ACK i');
    expect(broker.stats).toMatchObject({ workers: 1, schedulers: 1 });
  });

  it('rule 5: the same routing id at the other port is another peer', () => {
    const inform = ['', VERSION, 'INFORM', 'i', '', 'worker'];
    broker.framesAt('frontend', 'w1', ...inform);
    broker.framesAt('backend', 'w1', ...inform);
    expect(broker.stats.workers).toBe(2);
    expect(broker.gone('w1')).toEqual(['left w1 gone']);
    expect(broker.stats.workers).toBe(1);
  });

  it.each(['', 'client', 'Worker'])('rule 5: of type %j is refused', (type) => {
    expect(broker.say('w1', 'INFORM', 'i', '', type)).toEqual(['note message-dropped inform-type w1']);
  });
});

describe('life', () => {
  it.each([
    ['HEARTBEAT', ['HEARTBEAT', 'h', '1']],
    ['HEARTBEAT without time', ['HEARTBEAT', 'h']],
    ['READY', ['READY', 'r']],
    ['a REPLY to nothing', ['REPLY', 'p', '{}', 'm9']],
    ['a REQUEST', ['REQUEST', 'm1', 'default', '', 'x']],
    ['an unknown command', ['NONSENSE', 'm1']],
    ['a broken REQUEST', ['REQUEST', 'm1']],
  ])('rule 6: %s is a sign of life', (_, frames) => {
    broker.inform('w1');
    broker.advance(8999);
    broker.say('w1', ...frames);
    broker.advance(8999);
    expect(broker.stats.workers).toBe(1);
  });

  it('rule 6: a message over the limits of the socket is a sign of life', () => {
    broker.inform('w1');
    broker.advance(8999);
    expect(broker.rejected('w1', 'too-large')).toContain('note message-dropped too-large w1');
    broker.advance(8999);
    expect(broker.stats.workers).toBe(1);
  });

  it('rule 6: DISCONNECT is not a sign of life', () => {
    broker.inform('w1');
    broker.advance(8999);
    broker.say('w1', 'DISCONNECT', 'd');
    expect(broker.advance(1)).toContain('9000ms: left w1 expired');
  });

  it('rule 6: silent workers and schedulers are forgotten without notice', () => {
    broker.inform('w1');
    broker.scheduler('s1');
    const last = broker.advance(9000).filter((line) => line.startsWith('9000ms'));
    expect(last).toEqual(['9000ms: left w1 expired', '9000ms: left s1 expired']);
    expect(broker.advance(60_000)).toEqual([]);
  });

  it('rule 6: an expired peer must send INFORM again', () => {
    broker.inform('w1');
    broker.advance(9000);
    expect(broker.heartbeat('w1')).toEqual(['note message-dropped unknown-peer w1', '-> w1 KBAI', '-> w1 KBYE']);
    expect(broker.inform('w1')).toContain('-> w1 ACK i-w1');
  });

  it('rule 6: an unknown peer that sends HEARTBEAT gets our goodbye, once, and nothing more until it sends INFORM', () => {
    broker.inform('w1');
    broker.ready('w1', 9);
    expect(broker.heartbeat('s1')).toEqual(['note message-dropped unknown-peer s1', '-> s1 KBAI', '-> s1 KBYE']);
    expect(broker.heartbeat('s1')).toEqual([]);
    expect(broker.request('s1', 'm1', 'default', 'reply-requested')).toEqual(['-> w1 REQUEST m1 default']);
    expect(broker.reply('w1', 'm1')).toEqual(['note reply-dropped reply-undeliverable s1']);
    broker.scheduler('s1');
    expect(broker.request('s1', 'm2')).toEqual(['-> s1 ACCEPTED m2', '-> w1 REQUEST m2 default']);
  });

  it('rule 6: a new connection with the same routing id gets it again', () => {
    broker.heartbeat('s1');
    broker.gone('s1');
    expect(broker.heartbeat('s1')).toEqual(['-> s1 KBAI', '-> s1 KBYE']);
  });

  it('rule 6: a process that was too busy to listen lets no peer expire', () => {
    broker.inform('w1');
    expect(broker.stall(20_000)).toEqual(['note running-late 17000ms', '-> w1 HEARTBEAT']);
    broker.heartbeat('w1');
    expect(broker.stats.workers).toBe(1);
  });

  it('rule 6: a peer with a slow rhythm is named, once', () => {
    broker.inform('w1');
    broker.advance(5000);
    expect(broker.heartbeat('w1')).toEqual(['note spacing-hint w1 5000ms of 9000ms']);
    broker.advance(5000);
    expect(broker.heartbeat('w1')).toEqual([]);
  });
});

describe('byes', () => {
  it('rule 7: are KBAI and then KBYE, to workers and schedulers', () => {
    broker.inform('w1');
    broker.scheduler('s1');
    expect(broker.drain()).toEqual([
      '-> w1 KBAI',
      '-> w1 KBYE',
      'left w1 drained',
      '-> s1 KBAI',
      '-> s1 KBYE',
      'left s1 drained',
      'drained',
    ]);
  });

  it.each([
    ['kbai', 'KBAI'],
    ['kbye', 'KBYE'],
  ] as const)('rule 7: may be only %s', (byes, word) => {
    broker = new BrokerUnderTest({ byes });
    broker.inform('w1');
    expect(broker.drain()).toEqual([`-> w1 ${word}`, 'left w1 drained', 'drained']);
  });

  it.each(['KBYE', 'KBAI'] as const)('rule 8: %s removes the peer, which gets nothing more', (word) => {
    broker.inform('w1');
    broker.ready('w1');
    broker.scheduler('s1');
    expect(broker.bye('w1', word)).toEqual(['left w1 bye']);
    expect(broker.bye('s1', word)).toEqual(['left s1 bye']);
    expect(broker.request('c1', 'm1')).toEqual(['-> c1 ACCEPTED m1']);
    expect(broker.advance(60_000)).toEqual([]);
  });

  it('rule 8: from a client is final: it gets no acceptance, no result and no goodbye', () => {
    broker.inform('w1');
    broker.ready('w1', 9);
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.bye('c1', 'KBAI');
    expect(broker.reply('w1', 'm1')).toEqual(['note reply-dropped reply-undeliverable c1']);
    broker.request('c1', 'm2', 'default', 'reply-requested');
    broker.bye('c1', 'KBAI');
    expect(broker.drain().filter((line) => line.includes('c1'))).toEqual([]);
  });

  it('rule 8: from a client is void when it asks again', () => {
    broker.inform('w1');
    broker.ready('w1', 9);
    broker.bye('c1', 'KBAI');
    expect(broker.request('c1', 'm1')).toContain('-> c1 ACCEPTED m1');
  });

  it('rule 8: in any order, repeated, and from strangers are accepted silently', () => {
    broker.inform('w1');
    broker.bye('w1', 'KBAI');
    expect(broker.bye('w1', 'KBYE')).toEqual([]);
    expect(broker.bye('w1', 'KBAI')).toEqual([]);
    expect(broker.bye('x', 'KBYE')).toEqual([]);
    expect(broker.dropped).toEqual({});
  });
});
