import { describe, expect, it } from 'vitest';
import { SessionRig } from '../../../test/emqp/session-rig.js';

it('sends all commands on one connection, each once', () => {
  const rig = new SessionRig();
  expect(rig.request('1')).toEqual(['open 1 a', 'send 1 1']);
  expect(rig.request('2')).toEqual(['send 1 2']);
  expect(rig.accept(1, '2')).toEqual(['taken 2']);
  expect(rig.advance(4999)).toEqual([]);
  expect(rig.accept(1, '1')).toEqual(['taken 1']);
  expect(rig.session.deadline).toBe(Infinity);
});

it('waits for a result from the acceptance on', () => {
  const rig = new SessionRig();
  rig.request('1', true);
  rig.advance(4000);
  expect(rig.accept(1, '1')).toEqual(['taken 1']);
  expect(rig.advance(59_999)).toEqual([]);
  expect(rig.advance(1)).toEqual(['note connection-silent a', 'close 1', 'failed 1 TIMEOUT']);
});

it('accepts a result that came without an acceptance', () => {
  const rig = new SessionRig();
  rig.request('1', true);
  expect(rig.result(1, '1')).toEqual(['taken 1', 'result 1']);
  rig.request('2');
  expect(rig.result(1, '2')).toEqual(['taken 2']);
});

it('a command without an answer is done when the transport has it', () => {
  const rig = new SessionRig();
  rig.schedule('1');
  expect(rig.accept(1, '1')).toEqual([]);
  expect(rig.step({ kind: 'sent', socket: 1, id: '1' })).toEqual(['taken 1']);
  rig.request('2');
  expect(rig.step({ kind: 'sent', socket: 1, id: '2' })).toEqual([]);
});

it('an undeliverable command fails alone', () => {
  const rig = new SessionRig();
  rig.request('1');
  rig.request('2');
  expect(rig.step({ kind: 'unsent', socket: 1, id: '2' })).toEqual(['failed 2 QUEUE_FULL']);
  expect(rig.accept(1, '1')).toEqual(['taken 1']);
});

it('silence leads to the next endpoint; the silent connection stays while a result is awaited there', () => {
  const rig = new SessionRig();
  rig.request('1', true);
  rig.accept(1, '1');
  rig.request('2');
  expect(rig.advance(5000)).toEqual(['note connection-silent a', 'failed 2 TIMEOUT']);
  expect(rig.request('3')).toEqual(['open 2 b', 'send 2 3']);
  expect(rig.result(2, '1')).toEqual([]);
  expect(rig.result(1, '1')).toEqual(['result 1', 'close 1']);
});

it('a timeout while others are answered is not silence: brokers do not answer what they refuse', () => {
  const rig = new SessionRig();
  rig.request('1');
  rig.advance(1);
  rig.request('2');
  rig.accept(1, '2');
  expect(rig.advance(4999)).toEqual(['failed 1 TIMEOUT']);
  expect(rig.request('3')).toEqual(['send 1 3']);
});

it('a connection that ends takes its commands with it, and no others', () => {
  const rig = new SessionRig();
  rig.request('1', true);
  rig.accept(1, '1');
  rig.request('2');
  rig.advance(5000);
  rig.request('3');
  expect(rig.step({ kind: 'lost', socket: 1 })).toEqual(['note connection-lost a 1', 'close 1', 'failed 1 PEER_LOST']);
  expect(rig.step({ kind: 'lost', socket: 1 })).toEqual([]);
  expect(rig.accept(2, '3')).toEqual(['taken 3']);
});

it('a socket that cannot be opened leads to the next endpoint', () => {
  const rig = new SessionRig();
  rig.request('1');
  expect(rig.step({ kind: 'refused', socket: 1, cause: 'x' })).toEqual(['close 1', 'failed 1 UNREACHABLE']);
  expect(rig.request('2')).toEqual(['open 2 b', 'send 2 2']);
});

it('time that the process itself lost is added, once', () => {
  const rig = new SessionRig();
  rig.request('1');
  rig.now = 8000;
  expect(rig.step({ kind: 'timer', lateMs: 3000 })).toEqual([]);
  expect(rig.session.deadline).toBe(11_000);
  rig.now = 12_000;
  expect(rig.step({ kind: 'timer', lateMs: 1000 })).toContain('failed 1 TIMEOUT');
});

it('is bounded', () => {
  const rig = new SessionRig({ openMax: 1 });
  rig.request('1', true);
  expect(rig.request('2')).toEqual(['failed 2 QUEUE_FULL']);
  rig.accept(1, '1');
  expect(rig.request('3')).toEqual(['failed 3 QUEUE_FULL']);
  rig.result(1, '1');
  expect(rig.request('4')).toEqual(['send 1 4']);
});

it('an aborted command is over, and its answers are late', () => {
  const rig = new SessionRig();
  rig.request('1', true);
  expect(rig.step({ kind: 'abort', id: '1' })).toEqual([]);
  expect(rig.accept(1, '1')).toEqual([]);
  expect(rig.result(1, '1')).toEqual([]);
  expect(rig.session.stats).toMatchObject({ aborts: 1, lateReplies: 2, untaken: 0 });
});

it('after the close nothing is open and nothing starts', () => {
  const rig = new SessionRig();
  rig.request('1', true);
  rig.accept(1, '1');
  rig.request('2');
  expect(rig.step({ kind: 'close' })).toEqual(['failed 1 CLOSED', 'failed 2 CLOSED', 'close 1 lingering']);
  expect(rig.request('3')).toEqual(['failed 3 CLOSED']);
  expect(rig.session.deadline).toBe(Infinity);
});

it.each(['KBAI', 'KBYE'] as const)('%s ends what is open there; new commands go to the next endpoint', (word) => {
  const rig = new SessionRig();
  rig.request('1', true);
  rig.accept(1, '1');
  expect(rig.step({ kind: 'message', socket: 1, message: { kind: 'bye', id: 'b', word } })).toEqual([
    'note broker-left a 1 false',
    'close 1',
    'failed 1 PEER_LOST',
  ]);
  expect(rig.request('2')).toEqual(['open 2 b', 'send 2 2']);
});

it('DISCONNECT sends new commands to the next endpoint; KBAI follows the last result', () => {
  const rig = new SessionRig();
  rig.request('1', true);
  rig.accept(1, '1');
  const told = { kind: 'message', socket: 1, message: { kind: 'disconnect', id: 'd' } } as const;
  expect(rig.step(told)).toEqual(['note broker-left a 1 true']);
  expect(rig.step(told)).toEqual([]);
  expect(rig.request('2')).toEqual(['open 2 b', 'send 2 2']);
  expect(rig.result(1, '1')).toEqual(['result 1', 'bye 1', 'close 1 lingering']);
});

it('DISCONNECT with nothing open is answered with KBAI at once', () => {
  const rig = new SessionRig();
  rig.request('1');
  rig.accept(1, '1');
  expect(rig.step({ kind: 'message', socket: 1, message: { kind: 'disconnect', id: 'd' } })).toEqual([
    'note broker-left a 0 true',
    'bye 1',
    'close 1 lingering',
  ]);
});

it('ACK is an acceptance, too, and both count once', () => {
  const rig = new SessionRig();
  rig.request('1', true);
  expect(rig.step({ kind: 'message', socket: 1, message: { kind: 'ack', id: 'x', of: '1' } })).toEqual(['taken 1']);
  expect(rig.accept(1, '1')).toEqual([]);
  expect(rig.result(1, '1')).toEqual(['result 1']);
});

describe('commands that may run twice', () => {
  /** Job 1 was accepted and its result is awaited, 2 and 3 were not accepted; 3 may not run twice. */
  function lose(afterMs: number): { rig: SessionRig; lines: string[] } {
    const rig = new SessionRig();
    rig.request('1', true, true);
    rig.accept(1, '1');
    rig.request('2', false, true);
    rig.request('3');
    rig.advance(afterMs);
    return { rig, lines: rig.step({ kind: 'lost', socket: 1 }) };
  }

  it('are resent when their connection ends, in their remaining time, accepted or not', () => {
    const { rig, lines } = lose(4000);
    expect(lines).toEqual([
      'note connection-lost a 3',
      'close 1',
      'failed 3 PEER_LOST',
      'open 2 b',
      'send 2 1',
      'send 2 2',
    ]);
    expect(rig.advance(999)).toEqual([]);
    expect(rig.accept(2, '2')).toEqual(['taken 2']);
    expect(rig.accept(2, '1')).toEqual([]);
    expect(rig.result(2, '1')).toEqual(['result 1']);
    expect(rig.session.stats).toMatchObject({ repeats: 2, lateReplies: 0, awaitingResult: 0 });
  });

  it('are resent after a goodbye, too', () => {
    const rig = new SessionRig();
    rig.request('1', true, true);
    rig.advance(1000);
    expect(rig.step({ kind: 'message', socket: 1, message: { kind: 'bye', id: 'b', word: 'KBAI' } })).toEqual([
      'note broker-left a 1 false',
      'close 1',
      'open 2 b',
      'send 2 1',
    ]);
  });

  it('are not sent twice within half a second, whatever ends', () => {
    const { rig, lines } = lose(100);
    expect(lines).toEqual(['note connection-lost a 3', 'close 1', 'failed 3 PEER_LOST']);
    expect(rig.advance(399)).toEqual([]);
    expect(rig.advance(1)).toEqual(['open 2 b', 'send 2 1', 'send 2 2']);
  });

  it('that were accepted are resent until they are accepted again, and elsewhere after silence', () => {
    const { rig } = lose(1000);
    rig.accept(2, '2');
    rig.advance(4000);
    expect(rig.request('4')).toEqual(['send 2 4']);
    rig.accept(2, '4');
    expect(rig.advance(1000)).toEqual(['send 2 1']);
    expect(rig.advance(5000)).toEqual(['note connection-silent b', 'close 2', 'open 3 a', 'send 3 1']);
    expect(rig.accept(3, '1')).toEqual([]);
    expect(rig.advance(48_999)).toEqual([]);
    expect(rig.advance(1)).toContain('failed 1 TIMEOUT');
    expect(rig.session.deadline).toBe(Infinity);
  });

  it('that were accepted do not fail for a transport without room', () => {
    const { rig } = lose(1000);
    expect(rig.step({ kind: 'unsent', socket: 2, id: '1' })).toEqual([]);
    expect(rig.step({ kind: 'unsent', socket: 2, id: '2' })).toEqual(['failed 2 QUEUE_FULL']);
  });

  it('end if they are aborted, or the client closed, while they wait to be resent', () => {
    const { rig } = lose(100);
    expect(rig.step({ kind: 'abort', id: '1' })).toEqual([]);
    expect(rig.step({ kind: 'close' })).toEqual(['failed 2 CLOSED']);
    expect(rig.session.deadline).toBe(Infinity);
  });
});
