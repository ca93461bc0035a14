/** Two connections with small buffers between them, both of which stop reading now and then: neither is given up, nothing is lost. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { EngineRecorder, SETTINGS } from '../test/recorder.js';

/** Bytes that the network holds before the other side reads. */
const ROOM_BYTES = 200;
const MESSAGES = 60;
const DELAY_MS = 20;

/** One end: what it still has to send, what is being written, what arrived and is unread. */
class End {
  readonly recorder: EngineRecorder;
  other!: End;
  #next = 0;
  #writing: Uint8Array = new Uint8Array(0);
  #arrived: Uint8Array = new Uint8Array(0);
  reads = true;

  constructor(heartbeatMs: number, timeoutMs: number, cut?: boolean) {
    const socketType = cut === true ? 'DEALER' : 'ROUTER';
    this.recorder = new EngineRecorder({ ...SETTINGS, socketType, heartbeatMs, timeoutMs });
  }

  get heard(): number {
    return this.recorder.frames.length;
  }

  /** Does everything due at `now`: reads, runs deadlines, writes as much as there is room for. */
  turn(now: number): void {
    const { recorder } = this;
    const { connection } = recorder;
    recorder.accepting = this.reads;
    if (connection.holding && this.reads) connection.resume(now);
    if (!connection.holding && this.#arrived.length > 0) {
      const bytes = this.#arrived;
      this.#arrived = new Uint8Array(0);
      connection.receive(bytes, now);
    }
    connection.tick(now);
    if (this.#writing.length === 0) this.#take(now);
    const bytes = Math.min(this.#writing.length, ROOM_BYTES - this.other.#arrived.length);
    this.other.#arrived = Buffer.concat([this.other.#arrived, this.#writing.subarray(0, bytes)]);
    this.#writing = this.#writing.subarray(bytes);
  }

  #take(now: number): void {
    const { connection } = this.recorder;
    const batch = connection.ready && this.#next < MESSAGES ? [[Buffer.from(String(this.#next++).padStart(90))]] : [];
    const parts = connection.take(batch);
    if (parts.length > 0) connection.sent(now);
    this.#writing = Buffer.concat(parts);
  }
}

const pause = fc.record({ first: fc.boolean(), ms: fc.integer({ min: 1, max: 20_000 }), both: fc.boolean() });
const heartbeats = fc.constantFrom([0, 6_000], [2_000, 6_000], [1_000, 1_500], [500, 5_000], [60_000, 60_000]);

test('a side that pauses for any time is not given up, gives nobody up, and gets everything', () => {
  fc.assert(
    fc.property(
      heartbeats,
      heartbeats,
      fc.array(pause, { maxLength: 6 }),
      ([ours, patience], [theirs, limit], pauses) => {
        const first = new End(ours, patience);
        const second = new End(theirs, limit, true);
        [first.other, second.other] = [second, first];
        let now = 0;
        const run = (ms: number): void => {
          for (const end = now + ms; now < end; now += DELAY_MS) for (const one of [first, second]) one.turn(now);
        };
        run(100);
        for (const { first: isFirst, both, ms } of pauses) {
          first.reads = !isFirst && !both;
          second.reads = isFirst && !both;
          run(ms);
          first.reads = second.reads = true;
          run(300);
        }
        run(2_000);
        for (const { recorder, heard } of [first, second]) {
          assert.deepEqual(
            recorder.story.filter((line) => line.startsWith('failed')),
            [],
          );
          assert.equal(heard, MESSAGES);
          assert.deepEqual(
            recorder.frames.map(([frame]) => Number(Buffer.from(frame!).toString())),
            Array.from({ length: MESSAGES }, (_, index) => index),
          );
        }
      },
    ),
    { numRuns: 80 },
  );
});
