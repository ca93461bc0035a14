import { latin1 } from '@proj/frames';
import { describe, expect, it } from 'vitest';
import { frames, SessionRig } from '../../../test/ppp/session-rig.js';

describe('one request per socket', () => {
  it('rule 2: keeps further calls waiting, in order, until the socket is free', () => {
    const rig = new SessionRig();
    expect(rig.request(1)).toEqual(['open 1 a', 'send 1 q1']);
    expect([...rig.request(2), ...rig.request(3)]).toEqual([]);
    expect(rig.reply(1, 'r1')).toEqual(['final 1 r1', 'send 1 q2']);
    expect(rig.reply(1, 'r2')).toEqual(['final 2 r2', 'send 1 q3']);
  });

  it('rule 2: matches a reply to the call of its socket, in any order', () => {
    const rig = new SessionRig({ sockets: 2 });
    rig.request(1);
    rig.request(2);
    expect(rig.reply(2, 'for two')).toEqual(['final 2 for two']);
    expect(rig.reply(1, 'for one')).toEqual(['final 1 for one']);
  });

  it('rule 2: a second reply to one request closes the socket, so that it answers no other call', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.reply(1, 'r');
    expect(rig.reply(1, 'again')).toEqual(['close 1', 'note message-dropped late']);
    expect(rig.request(2)).toEqual(['open 2 a', 'send 2 q2']);
  });
});

describe('a silent queue', () => {
  it('rule 3: after timeoutMs the socket is closed and the identical frames are sent on a new one', () => {
    const rig = new SessionRig({ endpoints: ['a'] });
    const request = { content: frames('x', ''), matches: undefined };
    rig.step({ kind: 'request', id: 1, request, timeoutMs: 1000, tries: 3, streaming: false });
    expect(rig.advance(999)).toEqual([]);
    rig.now = 1000;
    const effects = rig.session.step({ kind: 'timer', lateMs: 0 }, 1000);
    expect(effects.map(({ kind }) => kind)).toEqual(['close', 'open', 'send', 'note']);
    expect(effects.find((effect) => effect.kind === 'send')?.request).toBe(request);
  });

  it('rule 3: after `tries` sends the call fails with endpoints, sends and total time', () => {
    const rig = new SessionRig();
    rig.request(1, { timeoutMs: 2500, tries: 3 });
    expect(rig.advance(7500).at(-1)).toBe('fail 1 TIMEOUT [a b a] 7500ms');
    expect(rig.session.stats).toMatchObject({ lanes: 0, sends: 3 });
  });

  it('rule 3: a late reply to a socket that was given up answers no call', () => {
    const rig = new SessionRig();
    rig.request(1);
    rig.advance(1000);
    expect(rig.reply(1, 'late')).toEqual([]);
    expect(rig.reply(2, 'r')).toEqual(['final 1 r']);
  });

  it('rule 5: each try goes to the next queue of the list', () => {
    const rig = new SessionRig({ endpoints: ['a', 'b', 'c'] });
    rig.request(1, { tries: 4 });
    expect(rig.advance(3000).filter((line) => line.startsWith('open'))).toEqual(['open 2 b', 'open 3 c', 'open 4 a']);
  });

  it('rule 5: the queue that answered last is asked first', () => {
    const rig = new SessionRig({ idleMs: 10 });
    rig.request(1);
    rig.advance(1000);
    rig.reply(2, 'r');
    rig.advance(10);
    expect(rig.request(2)).toEqual(['open 3 b', 'send 3 q2']);
  });
});

describe('messages that are not replies', () => {
  it.each<[string, string[], string]>([
    ['without the empty frame', ['reply'], 'reply-malformed'],
    ['without content', [''], 'reply-malformed'],
    ['without anything', [], 'reply-malformed'],
    ['for a peer behind us', ['hop', '', 'reply'], 'reply-address'],
  ])('rule 4: a message %s is dropped and counted, and the wait continues', (_what, message, reason) => {
    const rig = new SessionRig();
    rig.request(1);
    rig.advance(400);
    expect(rig.receive(1, frames(...message))).toEqual([`note message-dropped ${reason}`]);
    expect(rig.session.stats.dropped).toEqual({ [reason]: 1 });
    expect(rig.session.deadline).toBe(1000);
    expect(rig.reply(1, 'r')).toEqual(['final 1 r']);
  });

  it('rule 4: content of any frames is a reply, empty ones included', () => {
    const rig = new SessionRig();
    rig.request(1);
    expect(rig.reply(1, '', 'b', '')).toEqual(['final 1 |b|']);
  });

  it('rule 4: a message over the socket’s limits is dropped, and the wait continues', () => {
    const rig = new SessionRig();
    rig.request(1);
    expect(rig.step({ kind: 'rejected', socket: 1, reason: 'too-large' })).toEqual(['note message-dropped too-large']);
    expect(rig.reply(1, 'r')).toEqual(['final 1 r']);
  });

  it('rule 6: a reply that does not match is dropped and counted, and the wait continues', () => {
    const rig = new SessionRig();
    rig.request(1, { matches: (content) => latin1(content[0]!) === '7' });
    rig.advance(400);
    expect(rig.reply(1, '6')).toEqual(['note message-dropped reply-mismatch']);
    expect(rig.session.deadline).toBe(1000);
    expect(rig.reply(1, '7')).toEqual(['final 1 7']);
  });

  it('rule 6: an invalid reply is not shown to the predicate', () => {
    const rig = new SessionRig();
    let calls = 0;
    rig.request(1, { matches: () => ++calls > 0 });
    rig.receive(1, frames('hop', '', 'x'));
    rig.receive(1, frames('x'));
    expect(calls).toBe(0);
  });

  it('rule 6: the predicate is asked again for each try', () => {
    const rig = new SessionRig();
    rig.request(1, { matches: (content) => content.length === 2 });
    rig.reply(1, 'one');
    rig.advance(1000);
    expect(rig.reply(2, 'one')).toEqual(['note message-dropped reply-mismatch']);
    expect(rig.reply(2, 'one', 'two')).toEqual(['final 1 one|two']);
  });
});

it('rule 7: an abort closes the socket at once and gives its room to the next call', () => {
  const rig = new SessionRig();
  rig.request(1);
  rig.request(2);
  expect(rig.step({ kind: 'abort', id: 1 })).toEqual(['close 1', 'open 2 a', 'send 2 q2']);
});
