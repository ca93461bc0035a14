import assert from 'node:assert/strict';
import { ManualClock } from '@proj/heartbeat';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Outbox } from './outbox.js';
import type { SendOutcome } from './outbox.js';
import type { Peer, UndeliverableReason } from './port.js';

const PEERS: readonly Peer[] = ['a', 'b', 'c'].map((key) => ({ key, id: Buffer.from(key) }));
const LIMITS = { peerQueueMax: 4, peerQueueMaxBytes: 60, queueMax: 8, queueMaxBytes: 90 };

type Step =
  | { readonly kind: 'send'; readonly peer: number; readonly size: number }
  | { readonly kind: 'state'; readonly peer: number; readonly state: SendOutcome }
  | { readonly kind: 'settle' }
  | { readonly kind: 'resume' | 'forget'; readonly peer: number }
  | { readonly kind: 'advance'; readonly ms: number };

const reportsMax = fc.constantFrom(1, 2, LIMITS.peerQueueMax);
const peer = fc.nat({ max: PEERS.length - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('send' as const), peer, size: fc.integer({ min: 4, max: 20 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('state' as const),
      peer,
      state: fc.constantFrom('sent' as const, 'congested' as const, 'unreachable' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('resume' as const, 'forget' as const), peer }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 300 }) }) },
);

/** A transport that answers at once or later, and keeps a record: number of each message, by peer, and how it ended. */
class Ledger {
  readonly clock = new ManualClock();
  readonly state = new Map<string, SendOutcome>();
  readonly sent = new Map<string, number[]>(PEERS.map(({ key }) => [key, []]));
  /** What the outbox confirmed; must be the same. */
  readonly confirmed = new Map<string, number[]>(PEERS.map(({ key }) => [key, []]));
  readonly reported: number[] = [];
  /** Messages that were reported only as a number. */
  counted = 0;
  readonly deferred: boolean;
  ended = 0;
  /** Oldest first. */
  readonly underWay: { readonly peer: Peer; readonly number: number }[] = [];

  constructor(deferred: boolean) {
    this.deferred = deferred;
  }

  transmit(to: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined {
    assert(!this.underWay.some(({ peer: { key } }) => key === to.key), 'two attempts for one peer at once');
    this.underWay.push({ peer: to, number: Buffer.from(frames[0]!).readUInt32BE() });
    return this.deferred ? undefined : this.outcome();
  }

  outcome(): SendOutcome {
    const { peer: to, number } = this.underWay.shift()!;
    const outcome = this.state.get(to.key) ?? 'sent';
    if (outcome === 'sent') {
      this.sent.get(to.key)!.push(number);
      this.ended++;
    }
    return outcome;
  }

  onSent(to: Peer, frames: readonly Uint8Array[]): void {
    this.confirmed.get(to.key)!.push(Buffer.from(frames[0]!).readUInt32BE());
  }

  onUndeliverable(_to: Peer, frames: readonly Uint8Array[], _reason: UndeliverableReason, others: number): void {
    this.reported.push(Buffer.from(frames[0]!).readUInt32BE());
    this.counted += others;
    this.ended += 1 + others;
  }
}

function play(outbox: Outbox, ledger: Ledger, next: Step, number: number): void {
  const to = 'peer' in next ? PEERS[next.peer]! : PEERS[0]!;
  switch (next.kind) {
    case 'send': {
      const frame = Buffer.alloc(next.size);
      frame.writeUInt32BE(number);
      outbox.send(to, [frame]);
      return;
    }
    case 'state':
      ledger.state.set(to.key, next.state);
      return;
    case 'settle':
      if (ledger.underWay.length > 0) outbox.settle(ledger.outcome());
      return;
    case 'advance':
      ledger.clock.advance(next.ms);
      return;
    case 'resume':
    case 'forget':
      outbox[next.kind](to);
  }
}

it('ends every message once, as sent or reported, in order per peer, whatever happens', () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      reportsMax,
      fc.array(step, { maxLength: 80, size: 'max' }),
      (deferred, peerReportsMax, steps) => {
        const ledger = new Ledger(deferred);
        const outbox = new Outbox({ ...LIMITS, peerReportsMax }, ledger);
        let accepted = 0;
        steps.forEach((next) => {
          play(outbox, ledger, next, accepted);
          if (next.kind === 'send') accepted++;
          assert(outbox.pending === accepted - ledger.ended, 'pending is not what has not ended');
          assert(
            outbox.pending <= LIMITS.queueMax + PEERS.length,
            'more is pending than the bound and what is under way',
          );
          assert(
            PEERS.every((one) => outbox.pendingFor(one) <= LIMITS.peerQueueMax),
            'more is parked than the bound',
          );
          assert(ledger.clock.armed <= outbox.congestedPeers, 'a timer was left behind');
        });
        for (const { key } of PEERS) ledger.state.set(key, 'sent');
        for (let round = 0; round < 1000 && outbox.pending > 0; round++) {
          if (ledger.underWay.length > 0) outbox.settle(ledger.outcome());
          else ledger.clock.fireNext();
        }
        const sent = [...ledger.sent.values()];
        expect(ledger.confirmed).toEqual(ledger.sent);
        for (const numbers of sent) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
        const all = [...sent.flat(), ...ledger.reported].sort((a, b) => a - b);
        expect([all.length, new Set(all).size]).toEqual([accepted - ledger.counted, all.length]);
        if (peerReportsMax === LIMITS.peerQueueMax)
          expect(all).toEqual(Array.from({ length: accepted }, (_, index) => index));
        expect([outbox.pending, outbox.congestedPeers, ledger.clock.armed]).toEqual([0, 0, 0]);
      },
    ),
    { numRuns: 1000 },
  );
});
