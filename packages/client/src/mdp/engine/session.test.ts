import type { MdpToClient } from '@proj/frames/mdp';
import { describe, expect, it } from 'vitest';
import { body, SessionRig } from '../../../test/mdp/session-rig.js';

describe('one request per socket', () => {
  it('rule 2: opens a socket to the first endpoint with the first request and sends there', () => {
    expect(new SessionRig().request(1)).toEqual(['open 1 a', 'send 1 echo q1']);
  });

  it('rule 2: opens further sockets up to `sockets`', () => {
    const rig = new SessionRig({ sockets: 2 });
    rig.request(1);
    expect(rig.request(2)).toEqual(['open 2 a', 'send 2 echo q2']);
    expect(rig.request(3)).toEqual([]);
  });

  it('rule 2: lets calls beyond the pool wait in order', () => {
    const rig = new SessionRig();
    for (const id of [1, 2, 3]) rig.request(id);
    expect(rig.final(1, 'r1')).toEqual(['final 1 r1', 'send 1 echo q2']);
    expect(rig.final(1, 'r2')).toEqual(['final 2 r2', 'send 1 echo q3']);
  });

  it('rule 2: gives each reply to the call of its socket, in any order', () => {
    const rig = new SessionRig({ sockets: 2 });
    rig.request(1);
    rig.request(2);
    expect(rig.final(2, 'for two')).toEqual(['final 2 for two']);
    expect(rig.final(1, 'for one')).toEqual(['final 1 for one']);
  });

  it('rule 2: uses a free socket again, the last one first', () => {
    const rig = new SessionRig({ sockets: 2 });
    rig.request(1);
    rig.request(2);
    rig.final(1, 'r1');
    rig.final(2, 'r2');
    expect(rig.request(3)).toEqual(['send 2 echo q3']);
  });

  it('rule 2: refuses calls beyond `waitingMax` and keeps those that wait', () => {
    const rig = new SessionRig({ waitingMax: 1 });
    rig.request(1);
    rig.request(2);
    expect(rig.request(3)).toEqual(['fail 3 QUEUE_FULL [] 0ms']);
    expect(rig.final(1, 'r1')).toEqual(['final 1 r1', 'send 1 echo q2']);
  });

  it('rule 2: lets no call wait with `waitingMax` 0', () => {
    const rig = new SessionRig({ waitingMax: 0 });
    expect(rig.request(1)).toEqual(['open 1 a', 'send 1 echo q1']);
    expect(rig.request(2)).toEqual(['fail 2 QUEUE_FULL [] 0ms']);
  });

  it('rule 2: closes a socket that was free for `idleMs`', () => {
    const rig = new SessionRig({ idleMs: 5000 });
    rig.request(1);
    rig.final(1, 'r1');
    expect(rig.advance(4999)).toEqual([]);
    expect(rig.advance(1)).toEqual(['close 1']);
    expect(rig.session.deadline).toBe(Infinity);
    expect(rig.request(2)).toEqual(['open 2 a', 'send 2 echo q2']);
  });

  it('rule 2: starts the free time of a socket anew with each use', () => {
    const rig = new SessionRig({ idleMs: 5000 });
    rig.request(1);
    rig.final(1, 'r1');
    rig.advance(3000);
    rig.request(2);
    rig.final(1, 'r2');
    expect(rig.advance(4999)).toEqual([]);
  });

  it('rule 2: refuses a call number that is in use: a bug of ours, not of a peer', () => {
    const rig = new SessionRig();
    rig.request(1);
    expect(() => rig.request(1)).toThrow('call 1 is open already');
  });
});

describe('silence', () => {
  it('rule 4: closes the socket after `timeoutMs` and sends the same request on a new one', () => {
    const rig = new SessionRig({ endpoints: ['a'] });
    rig.request(1, { timeoutMs: 1000 });
    expect(rig.advance(999)).toEqual([]);
    expect(rig.advance(1)).toEqual(['close 1', 'open 2 a', 'send 2 echo q1', 'note request-resent a']);
  });

  it('rule 4: resends the same frames', () => {
    const rig = new SessionRig();
    const request = { kind: 'client-request', version: '0.2', service: 'echo', body: body('x', '') } as const;
    rig.step({ kind: 'request', id: 1, request, timeoutMs: 10, tries: 2, streaming: false });
    rig.now = 10;
    const sent = rig.session.step({ kind: 'timer', lateMs: 0 }, 10).find((effect) => effect.kind === 'send');
    expect(sent?.request).toBe(request);
  });

  it('rule 4: fails with TIMEOUT after `tries` sends and reports endpoints and total time', () => {
    const rig = new SessionRig();
    rig.request(1, { tries: 3, timeoutMs: 1000 });
    expect(rig.advance(3000)).toEqual([
      ...['close 1', 'open 2 b', 'send 2 echo q1', 'note request-resent b'],
      ...['close 2', 'open 3 a', 'send 3 echo q1', 'note request-resent a'],
      ...['close 3', 'fail 1 TIMEOUT [a b a] 3000ms'],
    ]);
    expect(rig.session.deadline).toBe(Infinity);
  });

  it('rule 4: sends once with `tries` 1', () => {
    const rig = new SessionRig();
    rig.request(1, { tries: 1 });
    expect(rig.advance(1000)).toEqual(['close 1', 'fail 1 TIMEOUT [a] 1000ms']);
  });

  it('rule 4: is measured per call: each has its own timeout', () => {
    const rig = new SessionRig({ sockets: 3 });
    rig.request(1, { timeoutMs: 300, tries: 1 });
    rig.request(2, { timeoutMs: 100, tries: 1 });
    rig.request(3, { timeoutMs: 200, tries: 1 });
    expect(rig.advance(300).filter((line) => line.startsWith('fail'))).toEqual([
      'fail 2 TIMEOUT [a] 100ms',
      'fail 3 TIMEOUT [a] 200ms',
      'fail 1 TIMEOUT [a] 300ms',
    ]);
  });

  it('rule 4: restarts with every PARTIAL', () => {
    const rig = new SessionRig();
    rig.request(1, { timeoutMs: 1000, tries: 1, streaming: true });
    for (let i = 0; i < 5; i++) {
      expect(rig.advance(999)).toEqual([]);
      rig.partial(1, 'more');
    }
    expect(rig.final(1, 'end')).toEqual(['final 1 end']);
  });

  it('rule 4: does not run while a call waits for a socket', () => {
    const rig = new SessionRig();
    rig.request(1, { timeoutMs: 1000, tries: 1 });
    rig.request(2, { timeoutMs: 10, tries: 1 });
    expect(rig.advance(999)).toEqual([]);
    expect(rig.final(1, 'r1')).toEqual(['final 1 r1', 'send 1 echo q2']);
    expect(rig.advance(10)).toEqual(['close 1', 'fail 2 TIMEOUT [a] 10ms']);
  });

  it('rule 4: gives the room of a failed call to the next one', () => {
    const rig = new SessionRig({ endpoints: ['a'] });
    rig.request(1, { tries: 1 });
    rig.request(2);
    expect(rig.advance(1000)).toEqual(['close 1', 'fail 1 TIMEOUT [a] 1000ms', 'open 2 a', 'send 2 echo q2']);
  });

  it('rule 4: after a PARTIAL was given to the caller: no resend but PEER_LOST', () => {
    const rig = new SessionRig();
    rig.request(1, { streaming: true });
    expect(rig.partial(1, 'some')).toEqual(['partial 1 some']);
    expect(rig.advance(1000)).toEqual(['close 1', 'fail 1 PEER_LOST [a] 1000ms']);
  });

  it('rule 4: after a PARTIAL that was not given to the caller: resends as usual', () => {
    const rig = new SessionRig();
    rig.request(1, { streaming: false });
    expect(rig.partial(1, 'some')).toEqual([]);
    expect(rig.advance(1000)).toEqual(['close 1', 'open 2 b', 'send 2 echo q1', 'note request-resent b']);
  });

  it('rule 4: is extended by the time our own process did not listen, once', () => {
    const rig = new SessionRig();
    rig.request(1, { timeoutMs: 1000, tries: 1 });
    rig.now = 1400;
    expect(rig.step({ kind: 'timer', lateMs: 400 })).toEqual([]);
    expect(rig.session.deadline).toBe(1800);
    rig.now = 1900;
    expect(rig.step({ kind: 'timer', lateMs: 100 })).toEqual(['close 1', 'fail 1 TIMEOUT [a] 1900ms']);
  });

  it('rule 4: is extended again after a sign of life', () => {
    const rig = new SessionRig();
    rig.request(1, { timeoutMs: 1000, tries: 1 });
    rig.now = 1400;
    rig.step({ kind: 'timer', lateMs: 400 });
    rig.partial(1, 'alive');
    rig.now = 2600;
    expect(rig.step({ kind: 'timer', lateMs: 200 })).toEqual([]);
    expect(rig.session.deadline).toBe(2800);
  });

  it('rule 4: is extended by no more than one timeout', () => {
    const rig = new SessionRig();
    rig.request(1, { timeoutMs: 1000 });
    rig.now = 61_000;
    rig.step({ kind: 'timer', lateMs: 60_000 });
    expect(rig.session.deadline).toBe(62_000);
  });

  it('rule 4: is extended for other calls that fall due in the same span', () => {
    const rig = new SessionRig({ sockets: 2 });
    rig.request(1, { timeoutMs: 1000 });
    rig.request(2, { timeoutMs: 1450 });
    rig.now = 1400;
    rig.step({ kind: 'timer', lateMs: 400 });
    expect(rig.advance(399)).toEqual([]);
  });
});

describe('messages that are not replies', () => {
  const reply = { kind: 'client-final', version: '0.2', service: 'echo', body: body('x') } as const;
  const bad: [string, MdpToClient][] = [
    ['wrong-service', { ...reply, service: 'Echo' }],
    ['wrong-service', { ...reply, kind: 'client-partial', service: 'other' }],
    ['wrong-version', { ...reply, version: '0.1' }],
    ['no-body', { kind: 'malformed', reason: 'no-body', side: 'client' }],
    ['unknown-header', { kind: 'malformed', reason: 'unknown-header', side: 'unknown' }],
    ['wrong-direction', { kind: 'malformed', reason: 'wrong-direction', side: 'worker' }],
  ];

  it.each(bad)('rule 3: %s is dropped and counted, and the wait continues', (reason, message) => {
    const rig = new SessionRig();
    rig.request(1);
    rig.advance(400);
    expect(rig.message(1, message)).toEqual([`note message-dropped ${reason}`]);
    expect(rig.session.stats.dropped).toEqual({ [reason]: 1 });
    expect(rig.session.deadline).toBe(1000);
    expect(rig.final(1, 'r')).toEqual(['final 1 r']);
  });

  it('rule 3: a message over the socket limits is dropped and counted, and the wait continues', () => {
    const rig = new SessionRig();
    rig.request(1);
    expect(rig.step({ kind: 'rejected', socket: 1, reason: 'too-large' })).toEqual(['note message-dropped too-large']);
    expect(rig.final(1, 'r')).toEqual(['final 1 r']);
  });

  it('rule 3: a second FINAL is dropped, and its socket with it', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.final(1, 'r');
    expect(rig.final(1, 'r')).toEqual(['close 1', 'note message-dropped late']);
    expect(rig.request(2)).toEqual(['open 2 a', 'send 2 echo q2']);
  });

  it('rule 3: anything that comes on a closed socket is ignored', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.advance(1000);
    expect(rig.final(1, 'late')).toEqual([]);
    expect(rig.step({ kind: 'lost', socket: 1 })).toEqual([]);
    expect(rig.step({ kind: 'rejected', socket: 1, reason: 'too-large' })).toEqual([]);
    expect(rig.step({ kind: 'refused', socket: 1, cause: 0 })).toEqual([]);
    expect(rig.final(2, 'r')).toEqual(['final 1 r']);
  });

  it('rule 8: body frames reach the caller unchanged, whatever their number', () => {
    const rig = new SessionRig();
    rig.request(1);
    expect(rig.final(1, '', 'b', '')).toEqual(['final 1 |b|']);
  });

  it('rule 3: a 0.1 reply answers a 0.1 request', () => {
    const rig = new SessionRig();
    rig.request(1, { version: '0.1' });
    const answer = { kind: 'client-final', version: '0.1', service: 'echo', body: body('r') } as const;
    expect(rig.message(1, answer)).toEqual(['final 1 r']);
  });
});

describe('a lost connection', () => {
  it('resends at once, to the next endpoint', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.advance(10);
    expect(rig.step({ kind: 'lost', socket: 1 })).toEqual([
      ...['note connection-lost a', 'close 1', 'open 2 b', 'send 2 echo q1', 'note request-resent b'],
    ]);
    expect(rig.session.deadline).toBe(1010);
  });

  it('does so once per silence: a broker that accepts and drops must not use up the tries', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.step({ kind: 'lost', socket: 1 });
    expect(rig.step({ kind: 'lost', socket: 2 })).toEqual(['note connection-lost b']);
    expect(rig.advance(1000)).toEqual(['close 2', 'open 3 a', 'send 3 echo q1', 'note request-resent a']);
  });

  it('may be used again after the next silence', () => {
    const rig = new SessionRig();
    rig.request(1, { tries: 4 });
    rig.step({ kind: 'lost', socket: 1 });
    rig.advance(1000);
    expect(rig.step({ kind: 'lost', socket: 3 })).toContain('send 4 echo q1');
  });

  it('may be used again after a PARTIAL', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.step({ kind: 'lost', socket: 1 });
    rig.partial(2, 'alive');
    expect(rig.step({ kind: 'lost', socket: 2 })).toContain('send 3 echo q1');
  });

  it('does not end a call before its time if no try is left', () => {
    const rig = new SessionRig();
    rig.request(1, { tries: 1 });
    expect(rig.step({ kind: 'lost', socket: 1 })).toEqual(['note connection-lost a']);
    expect(rig.advance(1000)).toEqual(['close 1', 'fail 1 TIMEOUT [a] 1000ms']);
  });

  it('after a PARTIAL was given to the caller: PEER_LOST at once', () => {
    const rig = new SessionRig();
    rig.request(1, { streaming: true });
    rig.partial(1, 'some');
    expect(rig.step({ kind: 'lost', socket: 1 })).toEqual([
      ...['note connection-lost a', 'close 1', 'fail 1 PEER_LOST [a] 0ms'],
    ]);
  });

  it('of a free socket: the socket is closed', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.final(1, 'r');
    expect(rig.step({ kind: 'lost', socket: 1 })).toEqual(['note connection-lost a', 'close 1']);
  });
});

describe('failover', () => {
  it('rule 6: tries the endpoint that answered last first for the next call', () => {
    const rig = new SessionRig({ endpoints: ['a', 'b', 'c'], idleMs: 10 });
    rig.request(1);
    rig.advance(1000);
    expect(rig.final(2, 'r')).toEqual(['final 1 r']);
    rig.advance(10);
    expect(rig.request(2)).toEqual(['open 3 b', 'send 3 echo q2']);
  });

  it('rule 6: replaces a free socket to another endpoint when the pool is full', () => {
    const rig = new SessionRig({ sockets: 2 });
    rig.request(1, { timeoutMs: 5000 });
    rig.request(2, { timeoutMs: 1000 });
    rig.final(1, 'r');
    rig.advance(1000);
    rig.final(3, 'r');
    expect(rig.request(3)).toEqual(['send 3 echo q3']);
    expect(rig.request(4)).toEqual(['close 1', 'open 4 b', 'send 4 echo q4']);
  });

  it('rule 6: starts new calls elsewhere while an endpoint answers no call', () => {
    const rig = new SessionRig({ sockets: 2 });
    rig.request(1);
    rig.advance(1000);
    expect(rig.request(2)).toEqual(['open 3 b', 'send 3 echo q2']);
  });

  it('rule 6: stays with an endpoint that answers others: the service is slow, not the broker gone', () => {
    const rig = new SessionRig({ sockets: 2 });
    rig.request(1);
    rig.advance(500);
    rig.request(2);
    rig.final(2, 'r');
    rig.advance(500);
    expect(rig.request(3)).toEqual(['send 2 echo q3']);
  });
});

describe('ends', () => {
  it('rule 5: abort closes the socket and reports nothing more about the call', () => {
    const rig = new SessionRig();
    rig.request(1);
    expect(rig.step({ kind: 'abort', id: 1 })).toEqual(['close 1']);
    expect(rig.session.deadline).toBe(Infinity);
  });

  it('abort of a waiting call keeps the order of the others', () => {
    const rig = new SessionRig();
    for (const id of [1, 2, 3]) rig.request(id);
    expect(rig.step({ kind: 'abort', id: 2 })).toEqual([]);
    expect(rig.final(1, 'r')).toEqual(['final 1 r', 'send 1 echo q3']);
  });

  it('abort of a sent call gives its room to the next', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.request(2);
    expect(rig.step({ kind: 'abort', id: 1 })).toEqual(['close 1', 'open 2 a', 'send 2 echo q2']);
  });

  it('abort of a finished call does nothing', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.final(1, 'r');
    expect(rig.step({ kind: 'abort', id: 1 })).toEqual([]);
    expect(rig.session.stats.aborts).toBe(0);
  });

  it('a socket that cannot be opened fails the call with the cause, without a retry', () => {
    const rig = new SessionRig();
    rig.request(1);
    const cause = new Error('no such endpoint');
    const effects = rig.session.step({ kind: 'refused', socket: 1, cause }, 0);
    expect(effects.find((effect) => effect.kind === 'fail')).toMatchObject({ id: 1, code: 'UNREACHABLE', cause });
  });

  it('close fails every call with CLOSED and closes every socket', () => {
    const rig = new SessionRig({ sockets: 1 });
    rig.request(1);
    rig.request(2);
    expect(rig.step({ kind: 'close' })).toEqual(['close 1', 'fail 1 CLOSED [a] 0ms', 'fail 2 CLOSED [] 0ms']);
  });

  it('after close there are no calls, no sockets and no deadline', () => {
    const rig = new SessionRig({ sockets: 2 });
    rig.request(1);
    rig.request(2);
    rig.final(1, 'r');
    expect(rig.step({ kind: 'close' })).toEqual(['close 2', 'fail 2 CLOSED [a] 0ms', 'close 1']);
    expect(rig.session.deadline).toBe(Infinity);
    expect(rig.request(4)).toEqual(['fail 4 CLOSED [] 0ms']);
    expect(rig.step({ kind: 'close' })).toEqual([]);
  });
});

describe('stats', () => {
  it('counts calls, sends, replies and failures, and shows sockets and queue', () => {
    const rig = new SessionRig({ waitingMax: 1 });
    rig.request(1);
    rig.advance(1000);
    rig.final(2, 'r');
    rig.request(2, { streaming: true });
    rig.partial(2, 'p');
    rig.request(3);
    rig.request(4);
    expect(rig.session.stats).toEqual({
      lanes: 1,
      busy: 1,
      waiting: 1,
      calls: 4,
      sends: 3,
      finals: 1,
      partials: 1,
      aborts: 0,
      failures: { TIMEOUT: 0, PEER_LOST: 0, QUEUE_FULL: 1, UNREACHABLE: 0, CLOSED: 0 },
      dropped: {},
    });
  });
});
