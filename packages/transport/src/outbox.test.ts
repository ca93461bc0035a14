import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it } from 'vitest';
import { Outbox } from './outbox.js';
import type { OutboxLimits, SendOutcome } from './outbox.js';
import type { Peer, UndeliverableReason } from './port.js';

const LIMITS: OutboxLimits = {
  peerQueueMax: 100,
  peerQueueMaxBytes: 10_000,
  peerReportsMax: 100,
  queueMax: 1000,
  queueMaxBytes: 100_000,
};

function peer(key: string): Peer {
  return { key, id: Buffer.from(key) };
}

const A = peer('a');
const B = peer('b');

/** A host that records what happens; peers in `full` are congested, those in `gone` unreachable. */
class Host {
  readonly clock = new ManualClock();
  readonly full = new Set<string>();
  readonly gone = new Set<string>();
  readonly attempts: string[] = [];
  readonly sent: string[] = [];
  readonly undelivered: string[] = [];
  /** What was confirmed, if the host listens. */
  onSent: ((to: Peer, frames: readonly Uint8Array[]) => void) | undefined;
  /** True for a transport that reports outcomes later, through `settle`. */
  deferred = false;
  onReport: ((peer: Peer) => void) | undefined;
  readonly #underWay: [Peer, string][] = [];

  transmit(to: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined {
    const text = `${to.key}:${Buffer.concat(frames).toString()}`;
    this.attempts.push(text);
    if (!this.deferred) return this.#outcome(to, text);
    if (this.#underWay.some(([{ key }]) => key === to.key)) throw new Error('two attempts for one peer at once');
    this.#underWay.push([to, text]);
    return undefined;
  }

  onUndeliverable(to: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason, others: number): void {
    const more = others === 0 ? '' : ` and ${others} others`;
    this.undelivered.push(`${to.key}:${Buffer.concat(frames).toString()} ${reason}${more}`);
    this.onReport?.(to);
  }

  /** Settles the oldest attempt in flight; false when there is none. */
  settleOne(outbox: Outbox): boolean {
    const attempt = this.#underWay.shift();
    if (attempt === undefined) return false;
    outbox.settle(this.#outcome(...attempt));
    return true;
  }

  #outcome(to: Peer, text: string): SendOutcome {
    if (this.gone.has(to.key)) return 'unreachable';
    if (this.full.has(to.key)) return 'congested';
    this.sent.push(text);
    return 'sent';
  }
}

function setUp(limits: Partial<OutboxLimits> = {}) {
  const host = new Host();
  const outbox = new Outbox({ ...LIMITS, ...limits }, host);
  const send = (to: Peer, ...texts: string[]): void => {
    for (const text of texts) outbox.send(to, [Buffer.from(text)]);
  };
  return { host, outbox, send };
}

describe('Outbox', () => {
  it('attempts a message at once when nothing is in flight', () => {
    const { host, outbox, send } = setUp();
    send(A, '1');

    expect(host.sent).toEqual(['a:1']);
    expect(outbox.pending).toBe(0);
  });

  it('has one attempt per peer in flight and keeps the order of the rest', () => {
    const { host, outbox, send } = setUp();
    host.deferred = true;
    send(A, '1');
    send(B, '2');
    send(A, '3');
    send(B, '4');

    expect(host.attempts).toEqual(['a:1', 'b:2']);
    expect(outbox.pending).toBe(4);
    while (host.settleOne(outbox));
    expect(host.sent).toEqual(['a:1', 'b:2', 'a:3', 'b:4']);
    expect(outbox.pending).toBe(0);
  });

  it('has at most sixteen attempts in flight', () => {
    const { host, outbox, send } = setUp();
    host.deferred = true;
    for (let index = 0; index < 40; index++) send(peer(index.toString()), 'x');
    expect(host.attempts).toHaveLength(16);
    host.settleOne(outbox);
    expect(host.attempts).toHaveLength(17);
    while (host.settleOne(outbox));

    expect(host.sent).toEqual(Array.from({ length: 40 }, (_, index) => `${index}:x`));
  });

  it('takes 5,000 messages at once without growing the stack', () => {
    const { host, outbox, send } = setUp({ queueMax: 5_000 });
    host.deferred = true;
    for (let index = 0; index < 5_000; index++) send(A, index.toString());
    host.deferred = false;
    host.settleOne(outbox);

    expect(host.sent).toEqual(Array.from({ length: 5_000 }, (_, index) => `a:${index}`));
  });

  it('reports a message without a route, and only that one', () => {
    const { host, send } = setUp();
    host.gone.add('a');
    send(A, '1');
    send(B, '2');

    expect(host.undelivered).toEqual(['a:1 unreachable']);
    expect(host.sent).toEqual(['b:2']);
  });

  it('sends what a report causes after the report, without starting inside it', () => {
    const { host, outbox, send } = setUp();
    host.gone.add('a');
    host.onReport = () => {
      send(B, '2');
      expect(host.sent).toEqual([]);
    };
    send(A, '1');

    expect(host.sent).toEqual(['b:2']);
    expect(outbox.pending).toBe(0);
  });

  describe('with a congested peer', () => {
    it('parks its messages and lets others overtake', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1', '2');
      send(B, '3');

      expect(host.sent).toEqual(['b:3']);
      expect(host.attempts).toEqual(['a:1', 'b:3']);
      expect([outbox.pendingFor(A), outbox.pendingFor(B), outbox.pending, outbox.congestedPeers]).toEqual([2, 0, 2, 1]);
    });

    it('tries again after 10 ms, doubling to 200 ms', () => {
      const { host, send } = setUp();
      host.full.add('a');
      send(A, '1');
      const waits: number[] = [];
      for (let round = 0; round < 7; round++) {
        waits.push(host.clock.nextDeadline - host.clock.now());
        host.clock.fireNext();
      }

      expect(waits).toEqual([10, 20, 40, 80, 160, 200, 200]);
      expect(host.attempts).toHaveLength(8);
    });

    it('sends everything in order once there is room, and starts again at 10 ms the next time', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1', '2', '3');
      host.clock.advance(10);
      host.full.clear();
      host.clock.advance(20);

      expect(host.sent).toEqual(['a:1', 'a:2', 'a:3']);
      expect([outbox.pending, outbox.congestedPeers, host.clock.armed]).toEqual([0, 0, 0]);
      host.full.add('a');
      send(A, '4');
      expect(host.clock.nextDeadline - host.clock.now()).toBe(10);
    });

    it('tries again at once when the peer has room', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1', '2');
      host.full.clear();
      outbox.resume(B);
      expect(host.sent).toEqual([]);
      outbox.resume(A);

      expect(host.sent).toEqual(['a:1', 'a:2']);
      expect(host.clock.armed).toBe(0);
    });

    it('tries again when the peer was heard, but not within 10 ms of a refusal', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1');
      host.clock.advance(10);
      expect(host.attempts).toHaveLength(2);
      for (const ms of [9, 1]) {
        outbox.heard(A);
        expect(host.attempts).toHaveLength(2);
        host.clock.advance(ms);
      }
      outbox.heard(B);
      expect(host.attempts).toHaveLength(2);
      outbox.heard(A);
      outbox.heard(A);

      expect(host.attempts).toHaveLength(3);
    });

    it('starts again at 10 ms once a message got through, even if more wait', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1', '2');
      host.clock.advance(10);
      host.deferred = true;
      host.full.clear();
      outbox.resume(A);
      host.settleOne(outbox);
      host.full.add('a');
      host.settleOne(outbox);

      expect(host.sent).toEqual(['a:1']);
      expect(host.clock.nextDeadline - host.clock.now()).toBe(10);
    });

    it('gives a peer that has room twice only one turn', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1');
      host.deferred = true;
      outbox.resume(A);
      outbox.resume(A);
      while (host.settleOne(outbox));

      expect(host.attempts).toEqual(['a:1', 'a:1']);
      expect(host.clock.armed).toBe(1);
    });

    it('tries it again alongside those in flight for others', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1');
      host.full.clear();
      host.deferred = true;
      send(B, '2');
      host.clock.advance(10);
      expect(host.attempts).toEqual(['a:1', 'b:2', 'a:1']);
      while (host.settleOne(outbox));

      expect(host.sent).toEqual(['b:2', 'a:1']);
    });

    it('keeps the order between a message found congested and those queued behind it meanwhile', () => {
      const { host, outbox, send } = setUp();
      host.deferred = true;
      host.full.add('a');
      send(A, '1', '2');
      host.settleOne(outbox);
      send(A, '3');
      while (host.settleOne(outbox));
      host.full.clear();
      outbox.resume(A);
      send(A, '4');
      while (host.settleOne(outbox));

      expect(host.sent).toEqual(['a:1', 'a:2', 'a:3', 'a:4']);
    });

    it('shares turns between a peer that reads again and the others', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1', '2', '3');
      host.full.clear();
      host.deferred = true;
      outbox.resume(A);
      send(B, '4', '5');
      while (host.settleOne(outbox));

      expect(host.sent).toEqual(['a:1', 'b:4', 'b:5', 'a:2', 'a:3']);
    });

    it('reports what is parked when the route is gone at the next attempt', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1', '2');
      host.gone.add('a');
      host.clock.advance(10);

      expect(host.undelivered).toEqual(['a:1 unreachable', 'a:2 unreachable']);
      expect([outbox.pending, host.clock.armed]).toEqual([0, 0]);
    });

    it('reports what is parked when the connection is reported lost', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1', '2');
      outbox.forget(A);
      outbox.forget(B);

      expect(host.undelivered).toEqual(['a:1 unreachable', 'a:2 unreachable']);
      expect([outbox.pending, outbox.congestedPeers, host.clock.armed]).toEqual([0, 0, 0]);
    });

    it('lets a message being tried end with its own outcome when its peer is forgotten', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1', '2');
      host.full.clear();
      host.deferred = true;
      outbox.resume(A);
      outbox.forget(A);

      expect(host.undelivered).toEqual(['a:2 unreachable']);
      host.settleOne(outbox);
      expect(host.sent).toEqual(['a:1']);
      expect(outbox.pending).toBe(0);
    });

    it('reports a message that is refused again after its peer was forgotten', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1');
      host.deferred = true;
      outbox.resume(A);
      outbox.forget(A);
      host.settleOne(outbox);

      expect(host.undelivered).toEqual(['a:1 congested']);
      expect([outbox.pending, host.clock.armed]).toEqual([0, 0]);
    });
  });

  describe('at its bounds', () => {
    it('reports all parked messages of a peer, oldest first, when one exceeds the count', () => {
      const { host, outbox, send } = setUp({ peerQueueMax: 2 });
      host.full.add('a').add('b');
      send(B, '0');
      send(A, '1', '2');
      expect(host.undelivered).toEqual([]);
      send(A, '3');

      expect(host.undelivered).toEqual(['a:1 congested', 'a:2 congested', 'a:3 congested']);
      expect([outbox.pendingFor(A), outbox.pendingFor(B), outbox.pending]).toEqual([0, 1, 1]);
    });

    it('keeps one peer object for all that is parked, although libzmq makes one for each message', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      const [first, second] = [peer('a'), peer('a')];
      const given: Peer[] = [];
      host.onReport = (to) => given.push(to);
      send(first, '1');
      send(second, '2');
      outbox.forget(peer('a'));

      expect([given.length, given.every((one) => one === first)]).toEqual([2, true]);
    });

    it('counts what is left of a long queue in the last report allowed', () => {
      const { host, outbox, send } = setUp({ peerReportsMax: 2 });
      host.full.add('a').add('b');
      send(B, '1');
      send(A, '1', '2', '3', '4', '5');
      outbox.forget(A);

      expect(host.undelivered).toEqual(['a:1 unreachable', 'a:2 unreachable and 3 others']);
      expect([outbox.pendingFor(A), outbox.pending, outbox.heldBytes]).toEqual([0, 1, 1 + 256]);
      send(A, '6', '7');
      host.full.clear();
      outbox.resume(A);
      expect(host.sent).toEqual(['a:6', 'a:7']);
    });

    it('does the same for the bytes', () => {
      const { host, send } = setUp({ peerQueueMaxBytes: 10 });
      host.full.add('a');
      send(A, '12345', '67890');
      expect(host.undelivered).toEqual([]);
      send(A, 'x');

      expect(host.undelivered).toEqual(['a:12345 congested', 'a:67890 congested', 'a:x congested']);
    });

    it('gives room back when messages that only waited their turn leave', () => {
      const { host, outbox, send } = setUp({ queueMax: 2, queueMaxBytes: 10 });
      host.deferred = true;
      for (let round = 0; round < 5; round++) {
        send(A, 'first', '12345', '67890');
        while (host.settleOne(outbox));
      }

      expect(host.sent).toHaveLength(15);
      expect(host.undelivered).toEqual([]);
    });

    it('gives a peer its bytes back message by message', () => {
      const { host, outbox, send } = setUp({ peerQueueMaxBytes: 10 });
      host.full.add('a');
      send(A, '12345', '67890');
      host.deferred = true;
      host.full.clear();
      outbox.resume(A);
      host.settleOne(outbox);
      host.full.add('a');
      host.settleOne(outbox);
      send(A, 'abcde');

      expect([outbox.pendingFor(A), host.undelivered]).toEqual([2, []]);
    });

    it('gives room back when parked messages leave', () => {
      const { host, outbox, send } = setUp({ peerQueueMax: 2, peerQueueMaxBytes: 10, queueMax: 2, queueMaxBytes: 10 });
      for (let round = 0; round < 5; round++) {
        host.full.add('a');
        send(A, '12345', '67890');
        host.full.clear();
        outbox.resume(A);
      }

      expect(host.sent).toHaveLength(10);
      expect(host.undelivered).toEqual([]);
    });

    it('parks nothing when the bound is 0', () => {
      const { host, outbox, send } = setUp({ peerQueueMax: 0 });
      host.full.add('a');
      send(A, '1');

      expect(host.undelivered).toEqual(['a:1 congested']);
      expect([outbox.pending, host.clock.armed]).toEqual([0, 0]);
    });

    it.each([
      ['messages', { queueMax: 2 }],
      ['bytes', { queueMaxBytes: 2 }],
    ])('refuses a message over the %s of all peers together, and loses what is parked for its peer', (_, limits) => {
      const { host, outbox, send } = setUp(limits);
      host.full.add('a');
      send(A, '1');
      host.deferred = true;
      send(B, '2', '3');
      send(A, '4');

      expect(host.undelivered).toEqual(['a:1 congested', 'a:4 congested']);
      while (host.settleOne(outbox));
      expect(host.sent).toEqual(['b:2', 'b:3']);
      expect(outbox.pending).toBe(0);
    });

    it('accepts a peer again after it was lost', () => {
      const { host, send } = setUp({ peerQueueMax: 1 });
      host.full.add('a');
      send(A, '1', '2');
      host.full.clear();
      send(A, '3');

      expect(host.sent).toEqual(['a:3']);
    });
  });

  describe('for a host that listens for what was sent', () => {
    function setUpListening() {
      const made = setUp();
      const confirmed: string[] = [];
      made.host.onSent = (to, frames) => {
        confirmed.push(`${to.key}:${Buffer.concat(frames).toString()}, ${made.outbox.pending} pending`);
      };
      return { ...made, confirmed };
    }

    it('confirms messages taken at once and those that had waited, each when it is taken', () => {
      const { host, send, confirmed } = setUpListening();
      send(A, '1');
      host.full.add('a');
      send(A, '2', '3');
      expect(confirmed).toEqual(['a:1, 0 pending']);
      host.full.clear();
      host.clock.advance(10);

      expect(confirmed).toEqual(['a:1, 0 pending', 'a:2, 1 pending', 'a:3, 0 pending']);
    });

    it('confirms nothing that it reports', () => {
      const { host, send, confirmed } = setUpListening();
      host.gone.add('a');
      send(A, '1');

      expect([confirmed, host.undelivered]).toEqual([[], ['a:1 unreachable']]);
    });

    it('sends what a confirmation causes after it, without starting inside it', () => {
      const { host, send, confirmed } = setUpListening();
      const note = host.onSent;
      host.onSent = (to, frames) => {
        if (confirmed.length === 0) send(B, '2');
        expect(host.attempts).toHaveLength(confirmed.length + 1);
        note?.(to, frames);
      };
      send(A, '1');

      expect(confirmed).toEqual(['a:1, 1 pending', 'b:2, 0 pending']);
    });

    it('confirms nothing once it is closed', async () => {
      const { host, outbox, send, confirmed } = setUpListening();
      host.deferred = true;
      send(A, '1');
      const closed = outbox.close(1000);
      host.settleOne(outbox);
      await closed;

      expect([host.sent, confirmed]).toEqual([['a:1'], []]);
    });
  });

  describe('closing', () => {
    it('ends at once when nothing is pending', async () => {
      const { host, outbox } = setUp();
      await outbox.close(1000);

      expect(host.clock.armed).toBe(0);
    });

    it('keeps sending what it has, and takes nothing new', async () => {
      const { host, outbox, send } = setUp();
      host.deferred = true;
      send(A, '1', '2');
      const closed = outbox.close(1000);
      send(A, '3');
      while (host.settleOne(outbox));
      await closed;

      expect(host.sent).toEqual(['a:1', 'a:2']);
      expect([outbox.pending, host.clock.armed]).toEqual([0, 0]);
    });

    it('gives up at the deadline, silently', async () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1');
      const closed = outbox.close(1000);
      host.clock.advance(1000);
      await closed;

      expect([outbox.pending, host.clock.armed]).toEqual([0, 0]);
      expect(host.undelivered).toEqual([]);
    });

    it('reports nothing after that', async () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1');
      const closed = outbox.close(1000);
      host.gone.add('a');
      host.clock.advance(10);
      await closed;

      expect(host.undelivered).toEqual([]);
    });

    it('is idempotent and shares its promise', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      send(A, '1');

      expect(outbox.close(1000)).toBe(outbox.close(5));
      expect(host.clock.nextDeadline).toBe(10);
    });

    it('ignores an outcome that comes after the end', async () => {
      const { host, outbox, send } = setUp();
      host.deferred = true;
      host.gone.add('a');
      send(A, '1', '2');
      outbox.stop();
      host.settleOne(outbox);
      await outbox.close(1000);

      expect(host.attempts).toEqual(['a:1']);
      expect(host.undelivered).toEqual([]);
    });
  });

  describe('memory', () => {
    it('is given up first for the peers that hold most of it', () => {
      const { host, outbox, send } = setUp();
      host.full.add('a');
      host.full.add('b');
      send(A, 'little');
      send(B, 'a lot', 'of it');
      expect(outbox.relieve(1)).toBe(10);
      expect(host.undelivered).toEqual(['b:a lot congested', 'b:of it congested']);
      expect(outbox.relieve(100)).toBe(6);
      expect([outbox.heldBytes, outbox.pending]).toEqual([0, 0]);
    });

    it('counts the parked messages alone, not the buffers they came in', () => {
      const { host, outbox } = setUp();
      host.full.add('a');
      const given: Uint8Array[][] = [];
      host.onReport = () => undefined;
      const report = host.onUndeliverable.bind(host);
      host.onUndeliverable = (to, frames, ...how) => {
        given.push([...frames]);
        report(to, frames, ...how);
      };
      const own = new Uint8Array(100).fill(1);
      outbox.send(A, [new Uint8Array(8192).fill(7).subarray(0, 200), own]);
      expect([outbox.heldBytes > 300, outbox.bytesFor(A), outbox.bytesFor(B)]).toEqual([true, 300, 0]);
      outbox.forget(A);

      // One piece for both, with their lengths.
      expect(given[0]?.map(({ buffer }) => buffer.byteLength)).toEqual([308, 308]);
      expect(given[0]).toEqual([new Uint8Array(200).fill(7), own]);
      expect([outbox.heldBytes, outbox.bytesFor(A)]).toEqual([0, 0]);
    });

    it.each([
      ['once for all peers that wait for it, except the first', 1000, true],
      ['for each peer if it is long: one must not stay in memory', 5000, false],
    ])('is copied %s', (_, bytes, isOnce) => {
      const { host, outbox } = setUp({ peerQueueMaxBytes: 100_000 });
      const peers = ['a', 'b', 'c'].map(peer);
      for (const { key } of peers) host.full.add(key);
      const given: (ArrayBufferLike | undefined)[] = [];
      host.onUndeliverable = (_to, [frame]) => given.push(frame?.buffer);
      const message = [new Uint8Array(100_000).subarray(0, bytes)];
      const other = [new Uint8Array(100_000).subarray(0, bytes)];
      for (const to of peers) outbox.send(to, message);
      for (const to of peers) outbox.send(to, other);
      for (const to of peers) outbox.forget(to);

      const [firstA, , firstB, secondB, firstC, secondC] = given;
      expect(given.every((buffer) => buffer !== undefined && buffer.byteLength < 2 * bytes)).toBe(true);
      expect([firstC === firstB, secondC === secondB]).toEqual([isOnce, isOnce]);
      expect(new Set([firstA, firstB, secondB]).size).toBe(3);
      expect(outbox.heldBytes).toBe(0);
    });

    it('is not copied for parts of a message that fill a piece of it', () => {
      const { host, outbox } = setUp();
      host.full.add('a');
      let given: readonly Uint8Array[] = [];
      host.onUndeliverable = (_, frames) => {
        given = frames;
      };
      const piece = new Uint8Array(5000);
      outbox.send(A, [piece.subarray(0, 300), piece.subarray(300, 301), piece.subarray(301, 4900)]);
      outbox.forget(A);
      expect(given.map(({ buffer }) => buffer === piece.buffer)).toEqual([true, true, true]);
    });
  });

  it.each([
    ['no frame', [], 'at least one frame'],
    ['text', ['text'], 'frame 0 is string'],
    ['undefined after a good frame', [Buffer.from('x'), undefined], 'frame 1 is undefined'],
    ['null', [null], 'frame 0 is object'],
    ['a number', [5], 'frame 0 is number'],
    ['an object', [{}], 'frame 0 is object'],
    ['a DataView', [new DataView(new ArrayBuffer(1))], 'frame 0 is object'],
    ['an ArrayBuffer', [new ArrayBuffer(1)], 'frame 0 is object'],
  ])('S8: throws for %s', (_, frames, message) => {
    const { host, outbox } = setUp();

    expect(() => {
      outbox.send(A, frames as Uint8Array[]);
    }).toThrow(message);
    expect([host.attempts.length, outbox.pending]).toEqual([0, 0]);
  });
});
