import { describe, expect, it } from 'vitest';
import { DISCONNECT, frame, HEARTBEAT, SessionRig } from '../../../test/mdp/session-rig.js';

const A = 'tcp://a:1';
const B = 'tcp://b:1';
const C = 'tcp://c:1';
const beats = (lines: string[]) => lines.filter((line) => line.endsWith('HEARTBEAT')).length;
const opens = (lines: string[]) => lines.filter((line) => line.startsWith('open'));

describe('MdpWorkerSession', () => {
  it('rule 1: opens one socket to the first endpoint and sends READY before anything else', () => {
    const rig = new SessionRig({ endpoints: [A, B] });
    expect(rig.play({ kind: 'start' })).toEqual([`open 1 ${A}`, 'send 1 READY echo', `note ready ${A}`]);
  });

  it('a second start changes nothing', () => {
    expect(SessionRig.started().play({ kind: 'start' })).toEqual([]);
  });

  it('rule 1: expects no answer to READY: a request may come first', () => {
    expect(SessionRig.started().request(1, 'c1', 'hello')).toEqual(['run 1 hello']);
  });

  it('rule 2: sends heartbeats every interval from READY on while idle', () => {
    const rig = SessionRig.started();
    expect(rig.advance(99)).toEqual([]);
    expect(rig.advance(1)).toEqual(['send 1 HEARTBEAT']);
    rig.receive(1, HEARTBEAT);
    expect(rig.advance(100)).toEqual(['send 1 HEARTBEAT', 'send 1 HEARTBEAT']);
  });

  it('rule 2: sends heartbeats every interval while the handler runs', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'long');
    rig.take();
    expect(rig.advanceAlive(1, 500)).toEqual(Array(5).fill('send 1 HEARTBEAT'));
  });

  it('rule 2: partial replies do not hold heartbeats back', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'tail');
    for (let i = 0; i < 10; i++) {
      rig.advance(50);
      rig.receive(1, HEARTBEAT);
      rig.partial(1, 'x');
    }
    expect(beats(rig.take())).toBe(5);
  });

  it('rule 3: closes, backs off and sends READY on a new socket after interval x liveness of silence', () => {
    const rig = SessionRig.started();
    rig.advance(299);
    rig.take();
    expect(rig.advance(1)).toEqual(['close 1', `note lost ${A} silent 50`]);
    rig.take();
    expect(rig.advance(49)).toEqual([]);
    expect(rig.advance(1)).toEqual([`open 2 ${A}`, 'send 2 READY echo', `note ready ${A}`]);
  });

  it.each([
    ['a heartbeat', HEARTBEAT],
    ['a request', { kind: 'worker-request', version: '0.2', client: frame('c'), body: [frame('')] } as const],
    ['an unknown worker command', { kind: 'malformed', reason: 'unknown-command', side: 'worker' } as const],
    ['a heartbeat with extra frames', { kind: 'malformed', reason: 'extra-frames', side: 'worker' } as const],
  ])('rule 3: %s is a sign of life', (_name, command) => {
    const rig = SessionRig.started();
    rig.advance(299);
    rig.receive(1, command);
    rig.advance(299);
    expect(rig.take()).not.toContain('close 1');
    rig.advance(1);
    expect(rig.take()).toContain('close 1');
  });

  it.each([
    ['a client message', { kind: 'malformed', reason: 'wrong-direction', side: 'client' } as const, 'wrong-direction'],
    ['an unknown header', { kind: 'malformed', reason: 'unknown-header', side: 'unknown' } as const, 'unknown-header'],
    ['a worker message of the other version', { kind: 'heartbeat', version: '0.1' } as const, 'wrong-version'],
  ])('bad input: %s is dropped, counted and not a sign of life', (_name, command, reason) => {
    const rig = SessionRig.started();
    rig.advance(299);
    rig.take();
    expect(rig.receive(1, command)).toEqual([`note message-dropped ${reason}`]);
    rig.advance(1);
    expect(rig.take()).toContain('close 1');
  });

  it('bad input: a request of the other version is not run', () => {
    const rig = SessionRig.started();
    rig.receive(1, { kind: 'worker-request', version: '0.1', client: frame('c'), body: [frame('x')] });
    expect(rig.take()).toEqual(['note message-dropped wrong-version']);
  });

  it('bad input: a malformed request is dropped and counted, and the conversation continues', () => {
    const rig = SessionRig.started();
    expect(rig.receive(1, { kind: 'malformed', reason: 'envelope', side: 'worker' })).toEqual([
      'note message-dropped envelope',
    ]);
    rig.take();
    expect(rig.request(1, 'c1', 'x')).toEqual(['run 1 x']);
  });

  it('bad input: a message over the limits may have been a request, so the broker is told to give it to another', () => {
    const rig = SessionRig.started();
    expect(rig.play({ kind: 'rejected', socket: 1, reason: 'too-large' })).toEqual([
      'note message-dropped too-large',
      'send 1 DISCONNECT',
      'close 1 flush',
      `note lost ${A} unreadable 0`,
      `open 2 ${A}`,
      'send 2 READY echo',
      `note ready ${A}`,
    ]);
  });

  it('bad input: a message without frames is not a request and only counted', () => {
    const rig = SessionRig.started();
    expect(rig.play({ kind: 'rejected', socket: 1, reason: 'no-frames' })).toEqual(['note message-dropped no-frames']);
  });

  it('rule 4: after DISCONNECT sends nothing more on that socket and reopens at once the first time', () => {
    const rig = SessionRig.started();
    rig.receive(1, HEARTBEAT);
    expect(rig.receive(1, DISCONNECT)).toEqual([
      'close 1',
      `note lost ${A} disconnected 0`,
      `open 2 ${A}`,
      'send 2 READY echo',
      `note ready ${A}`,
    ]);
  });

  it('rule 4: a DISCONNECT that follows backs off, the next one longer', () => {
    const rig = SessionRig.started();
    rig.receive(1, DISCONNECT);
    rig.take();
    expect(rig.receive(2, DISCONNECT)).toEqual(['close 2', `note lost ${A} disconnected 100`]);
    rig.advance(100);
    rig.take();
    expect(rig.receive(3, DISCONNECT)).toEqual(['close 3', `note lost ${A} disconnected 200`]);
  });

  it('rule 4: DISCONNECT while a handler runs cancels it, and its result is discarded', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'slow');
    rig.take();
    expect(rig.receive(1, DISCONNECT).slice(0, 3)).toEqual([
      'close 1',
      'cancel 1 disconnected',
      `note lost ${A} disconnected 0`,
    ]);
    rig.take();
    expect(rig.partial(1, 'late')).toEqual([]);
    expect(rig.final(1, 'late')).toEqual(['note result-discarded 1']);
  });

  it('rule 4: a request of the new conversation waits for the handler of the old one', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'slow');
    rig.receive(1, DISCONNECT);
    rig.take();
    expect(rig.request(2, 'c2', 'next')).toEqual([]);
    expect(rig.final(1, 'late')).toEqual(['note result-discarded 1', 'run 2 next']);
    rig.take();
    expect(rig.final(2, 'done')).toEqual(['send 2 FINAL c2 done']);
  });

  it('rule 4: a cancelled handler that fails leaves the new conversation alone', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'slow');
    rig.receive(1, DISCONNECT);
    rig.request(2, 'c2', 'next');
    rig.take();
    expect(rig.play({ kind: 'failed', job: 1 })).toEqual(['run 2 next']);
  });

  it('rule 4: messages that still arrive on a closed socket are ignored', () => {
    const rig = SessionRig.started();
    rig.receive(1, DISCONNECT);
    rig.take();
    expect(rig.request(1, 'c1', 'x')).toEqual([]);
    expect(rig.receive(1, DISCONNECT)).toEqual([]);
    expect(rig.play({ kind: 'lost', socket: 1, reason: 'undeliverable' })).toEqual([]);
  });

  it('rule 5: sends PARTIALs in order, then one FINAL, all with the address of the request', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'count');
    rig.take();
    rig.partial(1, 'one');
    rig.partial(1, 'two', '2');
    expect(rig.final(1, 'three')).toEqual([
      'send 1 PARTIAL c1 one',
      'send 1 PARTIAL c1 two,2',
      'send 1 FINAL c1 three',
    ]);
  });

  it('rule 5: nothing follows FINAL', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'x');
    rig.final(1, 'done');
    rig.take();
    expect(rig.partial(1, 'more')).toEqual([]);
    expect(rig.final(1, 'more').filter((line) => line.startsWith('send'))).toEqual([]);
  });

  it('rule 5: a 0.1 session never sends PARTIAL and uses the 0.1 name of FINAL', () => {
    const rig = SessionRig.started({ version: '0.1' });
    rig.version = '0.1';
    rig.request(1, 'c1', 'x');
    rig.take();
    rig.partial(1, 'never');
    const [effect] = rig.session.step({ kind: 'final', job: 1, body: [frame('y')] }, 0);
    expect(rig.take()).toEqual([]);
    expect(effect).toMatchObject({ command: { kind: 'worker-final', version: '0.1' } });
  });

  it('rule 6: a handler without a reply ends the conversation with DISCONNECT and starts a new one at once', () => {
    const rig = SessionRig.started({ endpoints: [A, B] });
    rig.request(1, 'c1', 'bad');
    rig.take();
    expect(rig.play({ kind: 'failed', job: 1 })).toEqual([
      'send 1 DISCONNECT',
      'close 1 flush',
      `note left ${A} handler-failed`,
      `open 2 ${A}`,
      'send 2 READY echo',
      `note ready ${A}`,
    ]);
  });

  it('rule 6: without sayGoodbye it just closes', () => {
    const rig = SessionRig.started({ sayGoodbye: false });
    rig.request(1, 'c1', 'bad');
    rig.take();
    expect(rig.play({ kind: 'failed', job: 1 })[0]).toBe('close 1 flush');
  });

  it('rule 6: stays at its endpoint: the broker did nothing wrong', () => {
    const rig = SessionRig.started({ endpoints: [A, B] });
    rig.receive(1, DISCONNECT);
    rig.request(2, 'c1', 'bad');
    rig.take();
    expect(opens(rig.play({ kind: 'failed', job: 1 }))).toEqual([`open 3 ${B}`]);
  });

  it('rule 6: failing handlers do not lengthen the back-off', () => {
    const rig = SessionRig.started();
    for (let job = 1; job <= 5; job++) {
      rig.request(job, 'c1', 'bad');
      rig.play({ kind: 'failed', job });
    }
    rig.take();
    expect(rig.receive(6, DISCONNECT)).toContain(`note lost ${A} disconnected 0`);
  });

  it('rule 7: a request while one runs waits, a third is dropped and counted', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'one');
    rig.take();
    expect(rig.request(1, 'c2', 'two')).toEqual([]);
    expect(rig.request(1, 'c3', 'three')).toEqual(['note request-dropped busy']);
    rig.take();
    expect(rig.final(1, '1')).toEqual(['send 1 FINAL c1 1', 'run 2 two']);
    rig.take();
    expect(rig.final(2, '2')).toEqual(['send 1 FINAL c2 2']);
  });

  it('rule 7: a request that waits dies with its conversation', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'one');
    rig.request(1, 'c2', 'two');
    rig.receive(1, DISCONNECT);
    rig.take();
    expect(rig.final(1, '1')).toEqual(['note result-discarded 1']);
  });

  it('rule 8: tries the next endpoint after each loss and wraps round', () => {
    const rig = SessionRig.started({ endpoints: [A, B, C] });
    rig.advance(5000);
    expect(opens(rig.take()).slice(0, 4)).toEqual([`open 2 ${B}`, `open 3 ${C}`, `open 4 ${A}`, `open 5 ${B}`]);
  });

  it('rule 8: stays at its endpoint without preferFirst', () => {
    const rig = SessionRig.started({ endpoints: [A, B] });
    rig.receive(1, DISCONNECT);
    rig.take();
    expect(opens(rig.advanceAlive(2, 5000))).toEqual([]);
  });

  describe('rule 8: preferFirst', () => {
    /** At B on socket 2, one probe period later: socket 3 probes A. */
    const asking = (options = {}) => {
      const rig = SessionRig.started({ endpoints: [A, B], preferFirst: true, ...options });
      rig.receive(1, DISCONNECT);
      rig.advanceAlive(2, 800);
      return rig;
    };

    it('probes the first endpoint once per reconnectMaxMs, without registering there', () => {
      const rig = SessionRig.started({ endpoints: [A, B], preferFirst: true });
      rig.receive(1, DISCONNECT);
      rig.advanceAlive(2, 799, 100);
      expect(opens(rig.take())).toEqual([`open 2 ${B}`]);
      expect(rig.advance(1)).toEqual(expect.arrayContaining([`open 3 ${A}`, 'send 3 HEARTBEAT']));
      rig.take();
      rig.advanceAlive(2, 800);
      expect(rig.take().filter((line) => !line.startsWith('send 2'))).toEqual([
        'close 3',
        `open 4 ${A}`,
        'send 4 HEARTBEAT',
      ]);
    });

    it('any answer brings an idle worker back, by a drain', () => {
      const rig = asking();
      rig.take();
      expect(rig.receive(3, DISCONNECT)).toEqual([
        'close 3',
        'send 2 DISCONNECT',
        'close 2 flush',
        `note left ${B} first-answers`,
        `open 4 ${A}`,
        'send 4 READY echo',
        `note ready ${A}`,
      ]);
    });

    it('a busy worker finishes first', () => {
      const rig = asking();
      rig.request(2, 'c1', 'x');
      rig.take();
      expect(rig.receive(3, DISCONNECT)).toEqual(['close 3']);
      expect(rig.final(1, 'done').slice(1, 4)).toEqual(['send 2 FINAL c1 done', 'send 2 DISCONNECT', 'close 2 flush']);
    });

    it('a loss before that ends the move', () => {
      const rig = asking();
      rig.request(2, 'c1', 'x');
      rig.receive(3, DISCONNECT);
      rig.advance(300);
      rig.final(1, 'late');
      rig.advance(100);
      rig.request(4, 'c2', 'y');
      rig.take();
      expect(rig.final(2, 'done')).toEqual(['send 4 FINAL c2 done']);
    });

    it('bytes that are not an answer of a worker protocol change nothing', () => {
      const rig = asking();
      rig.take();
      rig.receive(3, { kind: 'malformed', reason: 'unknown-header', side: 'unknown' });
      expect(rig.take()).toEqual(['note message-dropped unknown-header']);
    });

    it('a lost conversation ends the probe', () => {
      const rig = asking();
      rig.take();
      expect(rig.receive(2, DISCONNECT)).toEqual(['close 2', 'close 3', `note lost ${B} disconnected 100`]);
    });

    it('a drain ends the probe', () => {
      const rig = asking();
      rig.take();
      expect(rig.play({ kind: 'drain' })[0]).toBe('close 3');
    });

    it('at the first endpoint there is no probe', () => {
      const rig = SessionRig.started({ endpoints: [A, B], preferFirst: true });
      expect(opens(rig.advanceAlive(1, 5000))).toEqual([]);
    });
  });

  it('rule 9: the delay doubles from reconnectMinMs to reconnectMaxMs', () => {
    const rig = SessionRig.started();
    const delays: number[] = [];
    while (delays.length < 7) {
      rig.advance(300);
      const lost = rig.take().find((line) => line.startsWith('note lost'));
      if (lost !== undefined) delays.push(Number(lost.split(' ').at(-1)));
    }
    expect(delays).toEqual([50, 100, 200, 400, 800, 800, 800]);
  });

  it('rule 9: a conversation that was too short leaves the delay growing, one of minUptimeMs resets it', () => {
    const rig = SessionRig.started();
    rig.receive(1, DISCONNECT);
    rig.advanceAlive(2, 900);
    expect(rig.receive(2, DISCONNECT)).toContain(`note lost ${A} disconnected 100`);
    rig.advance(100);
    rig.advanceAlive(3, 1200);
    rig.take();
    expect(rig.receive(3, DISCONNECT)).toContain(`note lost ${A} disconnected 0`);
  });

  it('rule 9: a broker that never answers does not reset the delay, however long it takes', () => {
    const rig = SessionRig.started({ liveness: 20 });
    rig.advance(2000);
    expect(rig.take()).toContain(`note lost ${A} silent 50`);
    rig.advance(2050);
    expect(rig.take()).toContain(`note lost ${A} silent 100`);
  });

  it('rule 9: jitter spreads each delay over its upper half', () => {
    const lowest = new SessionRig({}, () => 0);
    lowest.play({ kind: 'start' });
    lowest.advance(300);
    expect(lowest.take()).toContain(`note lost ${A} silent 25`);
  });

  describe('rule 10: drain', () => {
    it('an idle worker says DISCONNECT, closes with linger and ends', () => {
      const rig = SessionRig.started();
      expect(rig.play({ kind: 'drain' })).toEqual([
        'send 1 DISCONNECT',
        'close 1 flush',
        `note left ${A} drained`,
        'ended',
      ]);
      expect(rig.session.deadline).toBe(Infinity);
    });

    it('a busy worker finishes, still sending heartbeats: FINAL, DISCONNECT, close', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.take();
      expect(rig.play({ kind: 'drain' })).toEqual([]);
      expect(rig.advance(100)).toEqual(['send 1 HEARTBEAT']);
      rig.take();
      expect(rig.final(1, 'done')).toEqual([
        'send 1 FINAL c1 done',
        'send 1 DISCONNECT',
        'close 1 flush',
        `note left ${A} drained`,
        'ended',
      ]);
    });

    it('a request in between is not started', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.request(1, 'c2', 'y')).toEqual(['note request-dropped leaving']);
    });

    it('a request that already waited is not started either', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.request(1, 'c2', 'y');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.final(1, 'done')).toEqual([
        'send 1 FINAL c1 done',
        'send 1 DISCONNECT',
        'note request-dropped leaving',
        'close 1 flush',
        `note left ${A} drained`,
        'ended',
      ]);
    });

    it('a handler that fails meanwhile ends it too', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.play({ kind: 'failed', job: 1 })).toEqual([
        'send 1 DISCONNECT',
        'close 1 flush',
        `note left ${A} drained`,
        'ended',
      ]);
    });

    it('sayGoodbye off: closes without DISCONNECT', () => {
      const rig = SessionRig.started({ sayGoodbye: false });
      expect(rig.play({ kind: 'drain' })).toEqual(['close 1 flush', `note left ${A} drained`, 'ended']);
    });

    it('drainFinishes: runs waiting and arriving requests, and leaves after one interval without a request', () => {
      const rig = SessionRig.started({ drainFinishes: true });
      rig.request(1, 'c1', 'x');
      rig.request(1, 'c2', 'y');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.final(1, 'X')).toEqual(['send 1 FINAL c1 X', 'run 2 y']);
      rig.final(2, 'Y');
      rig.advance(99);
      rig.take();
      expect(rig.request(1, 'c3', 'z')).toEqual(['run 3 z']);
      rig.advance(50);
      rig.take();
      rig.final(3, 'Z');
      expect(rig.advance(99)).not.toContain('ended');
      expect(rig.advance(1).slice(-4)).toEqual([
        'send 1 DISCONNECT',
        'close 1 flush',
        `note left ${A} drained`,
        'ended',
      ]);
    });

    it('drainFinishes: a request that waits for a cancelled handler counts as one', () => {
      const rig = SessionRig.started({ drainFinishes: true });
      rig.request(1, 'c1', 'x');
      rig.receive(1, DISCONNECT);
      rig.request(2, 'c2', 'y');
      rig.play({ kind: 'drain' });
      rig.advanceAlive(2, 500);
      rig.take();
      expect(rig.final(1, 'late')).toEqual(['note result-discarded 1', 'run 2 y']);
    });

    it('a second drain does not prolong the first', () => {
      const rig = SessionRig.started({ drainMs: 250 });
      rig.request(1, 'c1', 'x');
      rig.play({ kind: 'drain' });
      rig.advance(200);
      rig.play({ kind: 'drain' });
      expect(rig.advance(50)).toContain('ended');
    });

    it('a job that takes longer than drainMs is cancelled', () => {
      const rig = SessionRig.started({ drainMs: 250 });
      rig.request(1, 'c1', 'x');
      rig.play({ kind: 'drain' });
      rig.advance(249);
      rig.take();
      expect(rig.advance(1)).toEqual([
        'send 1 DISCONNECT',
        'close 1 flush',
        'cancel 1 drain-timeout',
        `note left ${A} drain-timeout`,
        'ended',
      ]);
    });

    it('a loss meanwhile ends it: the result has nowhere to go', () => {
      const rig = SessionRig.started();
      rig.request(1, 'c1', 'x');
      rig.play({ kind: 'drain' });
      rig.take();
      expect(rig.receive(1, DISCONNECT)).toEqual([
        'close 1',
        'cancel 1 disconnected',
        `note lost ${A} disconnected`,
        'ended',
      ]);
    });

    it('ends at once between two conversations, and before the start', () => {
      const waiting = SessionRig.started();
      waiting.advance(310);
      waiting.take();
      expect(waiting.play({ kind: 'drain' })).toEqual(['ended']);
      expect(new SessionRig().play({ kind: 'drain' })).toEqual(['ended']);
    });
  });

  it('close: cancels the job, says DISCONNECT so that the broker resends it, and ends', () => {
    const rig = SessionRig.started();
    rig.request(1, 'c1', 'x');
    rig.take();
    expect(rig.play({ kind: 'close' })).toEqual([
      'send 1 DISCONNECT',
      'close 1 flush',
      'cancel 1 closed',
      `note left ${A} closed`,
      'ended',
    ]);
    rig.take();
    rig.final(1, 'late');
    expect(rig.play({ kind: 'start' }, { kind: 'close' }, { kind: 'drain' })).toEqual([]);
  });

  describe('losses that the transport reports', () => {
    it('a closed connection is a loss, answered at once: the broker forgot us, whatever libzmq reconnects', () => {
      const rig = SessionRig.started({ endpoints: [A, B] });
      expect(rig.play({ kind: 'lost', socket: 1, reason: 'peer-gone' })).toEqual([
        'close 1',
        `note lost ${A} peer-gone 0`,
        `open 2 ${B}`,
        'send 2 READY echo',
        `note ready ${B}`,
      ]);
    });

    it.each(['undeliverable', 'socket-failed'] as const)('%s is a loss with back-off', (reason) => {
      const rig = SessionRig.started();
      expect(rig.play({ kind: 'lost', socket: 1, reason })).toEqual(['close 1', `note lost ${A} ${reason} 50`]);
    });
  });

  describe('our own lateness', () => {
    it("our stall is not the broker's silence", () => {
      const rig = SessionRig.started();
      rig.now = 5000;
      rig.play({ kind: 'timer', lateMs: 4900 });
      expect(rig.take()).toEqual(['send 1 HEARTBEAT']);
      rig.receive(1, HEARTBEAT);
      rig.advance(299);
      expect(rig.take()).not.toContain('close 1');
    });

    it('the extension never shortens the patience', () => {
      const rig = SessionRig.started();
      rig.now = 250;
      rig.receive(1, HEARTBEAT);
      rig.play({ kind: 'timer', lateMs: 150 });
      rig.advance(299);
      expect(rig.take()).not.toContain('close 1');
    });

    it('the extension ends: a broker that is silent after the stall is given up after its usual time', () => {
      const rig = SessionRig.started();
      rig.now = 5000;
      rig.play({ kind: 'timer', lateMs: 4900 });
      rig.advance(299);
      expect(rig.take()).not.toContain('close 1');
      rig.advance(1);
      expect(rig.take()).toContain('close 1');
    });

    it('a timer late by less than an interval is not a stall', () => {
      const rig = SessionRig.started();
      rig.advance(200);
      rig.now = 390;
      rig.play({ kind: 'timer', lateMs: 90 });
      expect(rig.take()).toContain('close 1');
    });
  });
});
