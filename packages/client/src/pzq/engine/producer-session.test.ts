import { describe, expect, it } from 'vitest';
import { ProducerRig } from '../../../test/pzq/producer-rig.js';

describe('the window', () => {
  it('rule 23: messages are sent in order as long as there is room; the others wait for an answer', () => {
    const rig = new ProducerRig();
    expect(rig.produce('x')).toEqual(['open 1 a', 'send 1 x']);
    expect(rig.produce('y')).toEqual(['send 1 y']);
    expect([...rig.produce('z'), ...rig.produce('w')]).toEqual([]);
    expect(rig.ack(1, 'x')).toEqual(['stored x', 'send 1 z']);
    expect(rig.session.stats).toMatchObject({ unacknowledged: 2, waiting: 1, sends: 3, stored: 1 });
  });

  it('rule 23: an answer belongs to the message with its id, in any order', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    rig.produce('y');
    expect(rig.ack(1, 'y')).toEqual(['stored y']);
    expect(rig.ack(1, 'x')).toEqual(['stored x']);
  });

  it('holds messages back while windowBytes are out, but sends one of any size', () => {
    const rig = new ProducerRig({ window: 10, windowBytes: 100 });
    expect(rig.produce('big', 5000)).toEqual(['open 1 a', 'send 1 big']);
    expect(rig.produce('x')).toEqual([]);
    expect(rig.ack(1, 'big')).toEqual(['stored big', 'send 1 x']);
  });

  it('refuses a message if window and waitingMax are full', () => {
    const rig = new ProducerRig({ window: 1, waitingMax: 1 });
    rig.produce('x');
    rig.produce('y');
    expect(rig.produce('z')).toEqual(['failed z QUEUE_FULL']);
    expect(rig.ack(1, 'x')).toEqual(['stored x', 'send 1 y']);
  });

  it('refuses as many while there is no connection', () => {
    const rig = new ProducerRig({ window: 1, waitingMax: 1 });
    rig.produce('x');
    rig.ack(1, 'x');
    rig.step({ kind: 'lost', socket: 1 });
    expect([...rig.produce('y'), ...rig.produce('z')]).toEqual([]);
    expect(rig.produce('w')).toEqual(['failed w QUEUE_FULL']);
  });

  it('an id is in use until its message has an outcome', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    expect(rig.session.has(Uint8Array.of(0x78))).toBe(true);
    expect(() => rig.produce('x')).toThrow('no outcome yet');
    rig.ack(1, 'x');
    expect(rig.session.has(Uint8Array.of(0x78))).toBe(false);
    expect(rig.produce('x')).toEqual(['send 1 x']);
  });
});

describe('answers', () => {
  it.each([
    ['0', 'failed x REJECTED Queue is full (messages)'],
    ['OK', 'failed x REJECTED Queue is full (messages)'],
    ['', 'failed x REJECTED Queue is full (messages)'],
  ])('rule 23: status %j is a refusal with the queue’s words', (status, failed) => {
    const rig = new ProducerRig();
    rig.produce('x');
    expect(rig.answer(1, 'x', status, '', 'Queue is full (messages)')).toEqual([failed]);
  });

  it('rule 23: parts before the blank are accepted', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    expect(rig.answer(1, 'x', '1', 'more', 'parts', '')).toEqual(['stored x']);
  });

  it('for no message, or for one that was never sent, are counted', () => {
    const rig = new ProducerRig({ window: 1 });
    rig.produce('x');
    rig.produce('waits');
    expect([...rig.ack(1, 'stranger'), ...rig.ack(1, 'waits')]).toEqual([]);
    expect(rig.session.stats).toMatchObject({ lateAcks: 2, unacknowledged: 1, waiting: 1 });
  });

  it('that are invalid are dropped and counted, noted once a minute', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    expect(rig.answer(1, 'x', '1')).toEqual(['note message-dropped producer-ack-malformed a']);
    expect(rig.answer(1, 'x', '1')).toEqual([]);
    expect(rig.step({ kind: 'rejected', socket: 1, reason: 'too-large' })).toEqual([
      'note message-dropped too-large a',
    ]);
    expect(rig.session.stats.dropped).toEqual({ 'producer-ack-malformed': 2, 'too-large': 1 });
    expect(rig.ack(1, 'x')).toEqual(['stored x']);
  });
});

describe('silence', () => {
  it('rule 23: after ackTimeoutMs everything unanswered is resent, same ids, same order, on a new connection', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    rig.now = 1000;
    rig.produce('y');
    rig.produce('z');
    expect(rig.advance(3999)).toEqual([]);
    expect(rig.advance(1)).toEqual(['close 1', 'open 2 b', 'send 2 x', 'send 2 y', 'note messages-resent silence b 2']);
    expect(rig.ack(2, 'x')).toEqual(['stored x', 'send 2 z']);
  });

  it('rule 23: goes round the endpoints until one answers', () => {
    const rig = new ProducerRig({ endpoints: ['a', 'b', 'c'] });
    rig.produce('x');
    const opened = rig.advance(15_000).filter((line) => line.startsWith('open'));
    expect(opened).toEqual(['open 2 b', 'open 3 c', 'open 4 a']);
  });

  it('rule 4: a message that is not answered while others are is resent on the same connection', () => {
    const rig = new ProducerRig();
    rig.produce('forgotten');
    rig.now = 4000;
    rig.produce('y');
    rig.ack(1, 'y');
    expect(rig.advance(1000)).toEqual(['send 1 forgotten', 'note messages-resent silence a 1']);
    expect(rig.ack(1, 'forgotten')).toEqual(['stored forgotten']);
  });

  it('is not measured while there is nothing to answer', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    rig.ack(1, 'x');
    expect(rig.session.deadline).toBe(Infinity);
    rig.now = 3_600_000;
    expect(rig.produce('y')).toEqual(['send 1 y']);
    expect(rig.session.deadline).toBe(3_605_000);
  });

  it('is extended once if our own timer came late', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    rig.now = 9000;
    expect(rig.step({ kind: 'timer', lateMs: 4000 })).toEqual([]);
    expect(rig.session.deadline).toBe(13_000);
    expect(rig.advance(4000)).toContain('open 2 b');
  });

  it('messages on a given-up connection are ignored', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    rig.advance(5000);
    expect(rig.ack(1, 'x')).toEqual([]);
    expect(rig.step({ kind: 'lost', socket: 1 })).toEqual([]);
    expect(rig.ack(2, 'x')).toEqual(['stored x']);
  });
});

describe('a connection that ends', () => {
  it('rule 23: is replaced after a pause, and unanswered messages are resent under the same ids', () => {
    const rig = new ProducerRig({ endpoints: ['a'] });
    rig.produce('x');
    rig.produce('y');
    rig.ack(1, 'x');
    rig.now = 2000;
    expect(rig.step({ kind: 'lost', socket: 1 })).toEqual(['note connection-lost a', 'close 1']);
    expect(rig.advance(49)).toEqual([]);
    expect(rig.advance(1)).toEqual(['open 2 a', 'send 2 y', 'note messages-resent connection-lost a 1']);
  });

  it('again and again is replaced more and more slowly', () => {
    const rig = new ProducerRig({ endpoints: ['a'] });
    rig.produce('x');
    const pauses = [1, 2, 3, 4].map((socket) => {
      rig.step({ kind: 'lost', socket });
      const pause = rig.session.deadline - rig.now;
      rig.advance(pause);
      return pause;
    });
    expect(pauses).toEqual([50, 100, 200, 400]);
  });

  it('is not replaced before there is something to send', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    rig.ack(1, 'x');
    rig.step({ kind: 'lost', socket: 1 });
    expect(rig.session.deadline).toBe(Infinity);
    rig.now = 60_000;
    expect(rig.produce('y')).toEqual(['open 2 b', 'send 2 y']);
  });

  it('new messages wait for the next one, behind the old ones', () => {
    const rig = new ProducerRig({ endpoints: ['a'] });
    rig.produce('x');
    rig.step({ kind: 'lost', socket: 1 });
    expect(rig.produce('y')).toEqual([]);
    expect(rig.advance(50)).toEqual(['open 2 a', 'send 2 x', 'note messages-resent connection-lost a 1', 'send 2 y']);
  });
});

describe('the end of a message', () => {
  it('comes after timeoutMs, including its waiting time', () => {
    const rig = new ProducerRig({ endpoints: ['a'], window: 1, timeoutMs: 7000 });
    rig.produce('x');
    rig.now = 1000;
    rig.produce('y');
    expect(rig.advance(5999)).toContain('open 2 a');
    expect(rig.advance(1)).toEqual(['failed x TIMEOUT', 'send 2 y']);
    expect(rig.advance(1000)).toEqual(['failed y TIMEOUT']);
    expect(rig.session.deadline).toBe(Infinity);
  });

  it('comes with the caller’s abort, sent or not, and makes room', () => {
    const rig = new ProducerRig({ window: 1 });
    rig.produce('x');
    rig.produce('y');
    rig.produce('z');
    expect(rig.abort('y')).toEqual([]);
    expect(rig.abort('x')).toEqual(['send 1 z']);
    expect(rig.abort('x')).toEqual([]);
    expect(rig.session.stats.aborts).toBe(2);
    expect(rig.ack(1, 'x')).toEqual([]);
  });

  it('comes for all if no endpoint can be opened', () => {
    const rig = new ProducerRig();
    rig.produce('x');
    expect(rig.step({ kind: 'refused', socket: 1, cause: 'no' })).toEqual([
      'close 1',
      'open 2 b',
      'send 2 x',
      'note messages-resent connection-lost b 1',
    ]);
    expect(rig.step({ kind: 'refused', socket: 2, cause: 'no' })).toEqual(['close 2', 'failed x UNREACHABLE']);
    expect(rig.produce('y')).toEqual(['open 3 a', 'send 3 y']);
  });

  it('comes for all with the close, and for every later one', () => {
    const rig = new ProducerRig({ window: 1 });
    rig.produce('x');
    rig.produce('y');
    expect(rig.step({ kind: 'close' })).toEqual(['failed x CLOSED', 'failed y CLOSED', 'close 1']);
    expect(rig.produce('z')).toEqual(['failed z CLOSED']);
    expect(rig.session.deadline).toBe(Infinity);
  });
});
