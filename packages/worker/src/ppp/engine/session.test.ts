import type { PppMalformedReason, PppStack, PppToWorker } from '@proj/frames/ppp';
import { describe, expect, it } from 'vitest';
import { frame, HEARTBEAT, SessionRig } from '../../../test/ppp/session-rig.js';

const A = 'tcp://a:1';
const B = 'tcp://b:1';
const C = 'tcp://c:1';
const opens = (lines: string[]) => lines.filter((line) => line.startsWith('open'));
/** What a conversation starts with on socket `n`. */
const begins = (n: number, endpoint = A) => [`open ${n} ${endpoint}`, `send ${n} READY`, `note ready ${endpoint}`];

describe('PppWorkerSession', () => {
  it('rule 1: opens one socket to the first queue and sends READY before anything else', () => {
    const rig = new SessionRig({ endpoints: [A, B] });
    expect(rig.play({ kind: 'start' })).toEqual(begins(1));
  });

  it('rule 1: a second start opens nothing', () => {
    expect(SessionRig.started().play({ kind: 'start' })).toEqual([]);
  });

  it('rule 1: a request may be the first message of the queue', () => {
    expect(SessionRig.started().request(1, 'c1', 'hello')).toEqual(['run 1 hello']);
  });

  describe('bound', () => {
    const binds = () => new SessionRig({ binds: true });

    it('rule 11: sends READY to the queue that connects, and waits for it without heartbeats or limit', () => {
      const rig = binds();
      expect(rig.play({ kind: 'start' })).toEqual([`open 1 ${A}`]);
      rig.take();
      expect(rig.play({ kind: 'bound', socket: 1 })).toEqual(['send 1 READY']);
      rig.take();
      expect(rig.session.deadline).toBe(Infinity);
      expect(rig.play({ kind: 'sent', socket: 1 })).toEqual([`note ready ${A}`]);
      expect(rig.advance(100)).toEqual([`note ready ${A}`, 'send 1 HEARTBEAT']);
    });

    it('rule 11: starts anew after silence, and waits again', () => {
      const rig = binds();
      rig.play({ kind: 'start' }, { kind: 'bound', socket: 1 }, { kind: 'sent', socket: 1 });
      rig.advance(299);
      rig.take();
      expect(rig.advance(1)).toContain('close 1');
      rig.take();
      expect(rig.advance(50)).toEqual([`open 2 ${A}`]);
      rig.take();
      expect(rig.play({ kind: 'bound', socket: 1 }, { kind: 'sent', socket: 1 })).toEqual([]);
      expect(rig.play({ kind: 'bound', socket: 2 })).toEqual(['send 2 READY']);
      expect(rig.session.deadline).toBe(Infinity);
      rig.take();
      expect(rig.play({ kind: 'sent', socket: 2 })).toEqual([`note ready ${A}`]);
      rig.take();
      expect(rig.play({ kind: 'sent', socket: 2 })).toEqual([]);
    });

    it('rule 11: leaves nothing behind for a queue that never came', () => {
      const rig = binds();
      rig.play({ kind: 'start' }, { kind: 'bound', socket: 1 });
      rig.take();
      expect(rig.play({ kind: 'drain' })).toEqual(['close 1', `note left ${A} drained`, 'ended']);
    });
  });

  describe('heartbeats', () => {
    it('rule 2: are sent every interval while idle', () => {
      const rig = SessionRig.started();
      expect(rig.advance(99)).toEqual([]);
      expect(rig.advance(1)).toEqual(['send 1 HEARTBEAT']);
      rig.receive(1, HEARTBEAT);
      expect(rig.advance(100)).toEqual(['send 1 HEARTBEAT', 'send 1 HEARTBEAT']);
    });

    it('rule 2: are sent every interval while a handler works and requests wait', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'long');
      rig.request(1, 'c2', 'next');
      rig.take();
      expect(rig.advanceAlive(1, 500)).toEqual(Array(5).fill('send 1 HEARTBEAT'));
    });

    it('rule 2: keep their rhythm whatever else is sent', () => {
      const rig = SessionRig.started();
      rig.advance(60);
      rig.request(1, 'c1', 'x');
      rig.final(1, 'y');
      rig.take();
      expect(rig.advance(40)).toEqual(['send 1 HEARTBEAT']);
    });

    it('rule 2: are sent during a drain', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.advanceAlive(1, 300)).toEqual(Array(3).fill('send 1 HEARTBEAT'));
    });
  });

  describe('replies', () => {
    it('rule 3: return under the address of their request', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'a', 'b');
      rig.take();
      expect(rig.final(1, 'x', '', 'y')).toEqual(['send 1 REPLY c1 x,,y']);
    });

    it('rule 4: return under all addresses of a stack, in order', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1/hop1/hop2', 'x');
      rig.take();
      expect(rig.final(1, 'y')).toEqual(['send 1 REPLY c1/hop1/hop2 y']);
    });

    it('rule 3: carry the same address frames that came', () => {
      const rig = SessionRig.started();
      const addresses = [Uint8Array.of(0, 0x6b, 0x8b, 0x45, 0x67), Uint8Array.of(255)];
      rig.receive(1, { kind: 'request', addresses, content: [frame('x')] });
      const [effect] = rig.session.step({ kind: 'final', job: 1, body: [frame('y')] }, 0);
      expect(effect).toMatchObject({ kind: 'send', command: { kind: 'reply' } });
      expect(effect).toHaveProperty('command.addresses', addresses);
    });

    it('rule 4: may be as large as the addresses of the request leave room for', () => {
      const rig = SessionRig.started();
      const addresses = [frame('12345'), frame('123')];
      const event = {
        kind: 'message',
        socket: 1,
        command: { kind: 'request', addresses, content: [frame('x')] },
      } as const;
      expect(rig.session.step(event, 0)).toMatchObject([{ kind: 'run', envelope: { frames: 3, bytes: 8 } }]);
    });

    it('rule 3: exist once per request: a partial one or a second one is not sent', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.take();
      expect(rig.play({ kind: 'partial', job: 1, body: [frame('p')] })).toEqual([]);
      rig.final(1, 'y');
      rig.take();
      expect(rig.final(1, 'z')).toEqual(['note result-discarded 1']);
    });
  });

  describe('silence', () => {
    it('rule 5: of interval x liveness closes the socket; after a wait a new one sends READY', () => {
      const rig = SessionRig.started();
      rig.advance(299);
      rig.take();
      expect(rig.advance(1)).toEqual(['close 1', `note lost ${A} silent 50`]);
      rig.take();
      expect(rig.advance(49)).toEqual([]);
      expect(rig.advance(1)).toEqual(begins(2));
    });

    const request = { kind: 'request', addresses: [frame('c')], content: [frame('')] } as const;
    const reasons: PppMalformedReason[] = [
      'control-unexpected',
      'control-unknown',
      'control-empty',
      'control-length',
      'request-malformed',
    ];
    it.each<[string, PppToWorker]>([
      ['a heartbeat', HEARTBEAT],
      ['a request', request],
      ...reasons.map((reason): [string, PppToWorker] => [reason, { kind: 'malformed', reason }]),
    ])('rule 5: is broken by %s', (_name, command) => {
      const rig = SessionRig.started();
      rig.advance(299);
      rig.receive(1, command);
      rig.advance(299);
      expect(rig.take()).not.toContain('close 1');
      rig.advance(1);
      expect(rig.take()).toContain('close 1');
    });

    it('rule 5: ends the job of that connection: its result is discarded', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'slow');
      rig.advance(300);
      expect(rig.take().slice(-3)).toEqual(['close 1', 'cancel 1 silent', `note lost ${A} silent 50`]);
      rig.advance(50);
      rig.take();
      expect(rig.final(1, 'late')).toEqual(['note result-discarded 1']);
    });

    it('rule 5: a request of the new connection waits for the handler of the old one', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'slow');
      rig.request(1, 'c2', 'forgotten');
      rig.advance(350);
      rig.take();
      expect(rig.request(2, 'c3', 'next')).toEqual([]);
      expect(rig.play({ kind: 'failed', job: 1 })).toEqual(['run 2 next']);
      rig.take();
      expect(rig.final(2, 'done')).toEqual(['send 2 REPLY c3 done']);
    });

    it('rule 5: messages of an old socket are neither a sign of life nor requests', () => {
      const rig = SessionRig.started();
      rig.advance(350);
      rig.take();
      rig.request(1, 'c1', 'x');
      rig.receive(1, HEARTBEAT, { kind: 'malformed', reason: 'control-unknown' });
      rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' }, { kind: 'rejected', socket: 1, reason: 'too-large' });
      expect(rig.take()).toEqual([]);
      rig.advance(300);
      expect(rig.take()).toContain('close 2');
    });

    it('rule 5: a stall of our own process is not the silence of the queue', () => {
      const rig = SessionRig.started();
      rig.now = 5000;
      rig.play({ kind: 'timer', lateMs: 4900 });
      expect(rig.take()).toEqual(['send 1 HEARTBEAT']);
      rig.advance(299);
      expect(rig.take()).not.toContain('close 1');
      rig.advance(1);
      expect(rig.take()).toContain('close 1');
    });
  });

  describe('waiting between attempts', () => {
    const delaysOf = (rig: SessionRig, count: number) => {
      const delays: number[] = [];
      while (delays.length < count) {
        rig.advance(10);
        for (const line of rig.take()) if (line.startsWith('note lost')) delays.push(Number(line.split(' ').at(-1)));
      }
      return delays;
    };

    it('rule 6: doubles from reconnectMinMs to reconnectMaxMs', () => {
      expect(delaysOf(SessionRig.started(), 7)).toEqual([50, 100, 200, 400, 800, 800, 800]);
    });

    it('rule 6: with the defaults, 1 to 32 seconds like the Guide’s worker', () => {
      const rig = SessionRig.started({ reconnectMinMs: 1000, reconnectMaxMs: 32_000 });
      expect(delaysOf(rig, 7)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 32_000]);
    });

    it('rule 6: is spread over the upper half of each delay', () => {
      const lowest = new SessionRig({}, () => 0);
      lowest.play({ kind: 'start' });
      expect(delaysOf(lowest, 3)).toEqual([25, 50, 100]);
    });

    it('rule 6: keeps growing after a queue that speaks and then falls silent', () => {
      const rig = SessionRig.started();
      rig.advance(350);
      rig.advanceAlive(2, 600);
      rig.take();
      rig.advance(300);
      expect(rig.take()).toContain(`note lost ${A} silent 100`);
    });

    it('rule 6: starts over after minUptimeMs of life', () => {
      const rig = SessionRig.started();
      rig.advance(350);
      rig.advanceAlive(2, 1100);
      rig.take();
      rig.advance(300);
      expect(rig.take()).toContain(`note lost ${A} silent 50`);
    });

    it('rule 6: a connection that is reported gone is opened again at once, the next one after a wait', () => {
      const rig = SessionRig.started();
      expect(rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' })).toEqual([
        'close 1',
        `note lost ${A} peer-gone 0`,
        ...begins(2),
      ]);
      rig.take();
      expect(rig.play({ kind: 'lost', socket: 2, reason: 'peer-gone' })).toEqual([
        'close 2',
        `note lost ${A} peer-gone 100`,
      ]);
    });

    it.each(['undeliverable', 'socket-failed'] as const)('rule 6: after %s waits', (reason) => {
      const rig = SessionRig.started();
      expect(rig.play({ kind: 'lost', socket: 1, reason })).toEqual(['close 1', `note lost ${A} ${reason} 50`]);
    });
  });

  it('rule 7: tries the next queue after each failed connection and wraps round', () => {
    const rig = SessionRig.started({ endpoints: [A, B, C] });
    rig.advance(5000);
    expect(opens(rig.take()).slice(0, 4)).toEqual([`open 2 ${B}`, `open 3 ${C}`, `open 4 ${A}`, `open 5 ${B}`]);
  });

  it('rule 7: has one socket at a time', () => {
    const rig = SessionRig.started({ endpoints: [A, B] });
    const sockets = rig.advance(5000).filter((line) => /^(open|close)/.test(line));
    expect(sockets.map((line) => line.split(' ')[0])).toEqual(sockets.map((_, i) => (i % 2 === 0 ? 'close' : 'open')));
  });

  describe('a handler without a reply', () => {
    it('rule 8: READY on the same connection instead of a reply, so that the queue gives the job to another worker', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'bad');
      rig.take();
      expect(rig.play({ kind: 'failed', job: 1 })).toEqual([
        `note left ${A} handler-failed`,
        'send 1 READY',
        `note ready ${A}`,
      ]);
    });

    it('rule 8: the next request is served on that connection', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'bad');
      rig.play({ kind: 'failed', job: 1 });
      rig.take();
      rig.request(1, 'c2', 'good');
      expect(rig.final(2, 'done')).toEqual(['run 2 good', 'send 1 REPLY c2 done']);
    });

    it('rule 8: requests that wait are served after it', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'bad');
      rig.request(1, 'c2', 'good');
      rig.take();
      expect(rig.play({ kind: 'failed', job: 1 }).slice(1)).toEqual(['send 1 READY', `note ready ${A}`, 'run 2 good']);
    });

    it('rule 8: sends nothing for a job whose result is no longer needed', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'slow');
      rig.advance(350);
      rig.take();
      expect(rig.play({ kind: 'failed', job: 1 })).toEqual([]);
    });

    it('rule 8: does not request more work during a drain', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'bad');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.play({ kind: 'failed', job: 1 })).toEqual(['close 1 flush', `note left ${A} drained`, 'ended']);
    });
  });

  it('rule 9: up to 16 requests wait behind a running one, more are dropped and counted', () => {
    const rig = SessionRig.started();
    for (let n = 1; n <= 17; n++) rig.request(1, `c${n}`, `${n}`);
    expect(rig.take()).toEqual(['run 1 1']);
    expect(rig.request(1, 'c18', '18')).toEqual(['note request-dropped busy']);
    rig.take();
    for (let n = 1; n <= 17; n++) rig.final(n, `r${n}`);
    const lines = rig.take();
    expect(lines.filter((line) => line.startsWith('run'))).toEqual(
      Array.from({ length: 16 }, (_, n) => `run ${n + 2} ${n + 2}`),
    );
    expect(lines.filter((line) => line.startsWith('send'))).toEqual(
      Array.from({ length: 17 }, (_, n) => `send 1 REPLY c${n + 1} r${n + 1}`),
    );
  });

  it('rule 9: requests that wait die with their connection', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'one');
    rig.request(1, 'c2', 'two');
    rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' });
    rig.take();
    expect(rig.final(1, '1')).toEqual(['note result-discarded 1']);
  });

  describe('drain', () => {
    it('rule 10: with nothing in hand closes at once, without a goodbye', () => {
      const rig = SessionRig.started();
      expect(rig.play({ kind: 'drain' })).toEqual(['close 1 flush', `note left ${A} drained`, 'ended']);
      expect(rig.session.deadline).toBe(Infinity);
    });

    it('rule 10: answers the running job and the waiting ones, then closes', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.request(1, 'c2', 'y');
      rig.take();
      expect(rig.play({ kind: 'drain' })).toEqual([]);
      expect(rig.final(1, 'X')).toEqual(['send 1 REPLY c1 X', 'run 2 y']);
      rig.take();
      expect(rig.final(2, 'Y')).toEqual(['send 1 REPLY c2 Y', 'close 1 flush', `note left ${A} drained`, 'ended']);
    });

    it('rule 10: a request that arrives meanwhile is not started', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.request(1, 'c2', 'y')).toEqual(['note request-dropped leaving']);
    });

    it('rule 10: answers a request that waits for a cancelled handler', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'old');
      rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' });
      rig.request(2, 'c2', 'new');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.final(1, 'late')).toEqual(['note result-discarded 1', 'run 2 new']);
      rig.take();
      expect(rig.final(2, 'done')).toContain('send 2 REPLY c2 done');
    });

    it('rule 10: takes at most drainMs', () => {
      const rig = SessionRig.started({ drainMs: 250 });
      rig.request(1, 'c1', 'x');
      rig.request(1, 'c2', 'y');
      rig.play({ kind: 'drain' });
      rig.advance(200);
      rig.play({ kind: 'drain' });
      rig.advance(49);
      rig.take();
      expect(rig.advance(1)).toEqual([
        'note request-dropped leaving',
        'close 1 flush',
        'cancel 1 drain-timeout',
        `note left ${A} drain-timeout`,
        'ended',
      ]);
    });

    it('rule 10: a loss meanwhile ends it: the results have nowhere to go', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' })).toEqual([
        'close 1',
        'cancel 1 peer-gone',
        `note lost ${A} peer-gone`,
        'ended',
      ]);
    });

    it('rule 10: ends at once between two connections, and before the start', () => {
      const waiting = SessionRig.started();
      waiting.advance(310);
      waiting.take();
      expect(waiting.play({ kind: 'drain' })).toEqual(['ended']);
      expect(new SessionRig().play({ kind: 'drain' })).toEqual(['ended']);
    });
  });

  it('close cancels the job, drops what waits, and ends; nothing follows', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'x');
    rig.request(1, 'c2', 'y');
    rig.request(1, 'c3', 'z');
    rig.take();
    expect(rig.play({ kind: 'close' })).toEqual([
      'note request-dropped leaving',
      'note request-dropped leaving',
      'close 1 flush',
      'cancel 1 closed',
      `note left ${A} closed`,
      'ended',
    ]);
    rig.take();
    rig.final(1, 'late');
    expect(rig.play({ kind: 'start' }, { kind: 'close' }, { kind: 'drain' })).toEqual([]);
  });

  describe('rule 3: the form of a request determines that of its reply', () => {
    const ask = (addresses: PppStack) => {
      const rig = SessionRig.started();
      rig.receive(1, { kind: 'request', addresses, content: [frame('x')] });
      rig.take();
      return rig.final(1, 'done');
    };
    it.each<[string, PppStack, string]>([
      ['no stack', undefined, 'bare'],
      ['an empty stack', [], ''],
      ['one address', [frame('c1')], 'c1'],
      ['several', [frame('c1'), frame('hop')], 'c1/hop'],
    ])('rule 3: %s', (_, addresses, form) => {
      expect(ask(addresses)).toEqual([`send 1 REPLY ${form} done`]);
    });
  });

  describe('bad input', () => {
    it.each<PppMalformedReason>([
      'control-unexpected',
      'control-unknown',
      'control-empty',
      'control-length',
      'request-malformed',
      'no-frames',
    ])('%s is dropped and counted, and the conversation continues', (reason) => {
      const rig = SessionRig.started();
      expect(rig.receive(1, { kind: 'malformed', reason })).toEqual([`note message-dropped ${reason}`]);
      rig.take();
      expect(rig.request(1, 'c1', 'x')).toEqual(['run 1 x']);
    });

    it.each(['too-large', 'too-many-frames'] as const)(
      '%s: may have been a request, so a new connection sends READY at once; pending replies are kept',
      (reason) => {
        const rig = SessionRig.started();
        expect(rig.play({ kind: 'rejected', socket: 1, reason })).toEqual([
          `note message-dropped ${reason}`,
          'close 1 flush',
          `note lost ${A} unreadable 0`,
          ...begins(2),
        ]);
      },
    );

    it('a message without frames is only a sign of life', () => {
      const rig = SessionRig.started();
      rig.advance(299);
      rig.take();
      expect(rig.play({ kind: 'rejected', socket: 1, reason: 'no-frames' })).toEqual([
        'note message-dropped no-frames',
      ]);
      rig.advance(299);
      expect(rig.take()).not.toContain('close 1');
    });
  });
});
