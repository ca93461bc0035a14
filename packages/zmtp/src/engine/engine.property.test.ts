/** What must hold for any bytes, in any pieces. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { fromHex, LIBZMQ, EngineRecorder, toHex, wire } from '../test/recorder.js';
import { encodeMessages } from './framing/writer.js';

const allocate = (bytes: number) => new Uint8Array(bytes);
const FAILURES = /^failed (not-zmtp|version|mechanism|malformed|too-large|socket-type|refused)$/;

const READY_ROUTER = '041c0552454144590b536f636b65742d5479706500000006524f55544552';
/** Valid peer output, and some that is slightly wrong. */
const WORDS = [
  LIBZMQ.ready,
  READY_ROUTER,
  LIBZMQ.ping,
  '040504504f4e47',
  '0406054552524f5200',
  '0403024849',
  wire('a'),
  wire('', ''),
  wire('1', '2', '3', '4', '5'),
  wire('x'.repeat(101)),
  '0100',
  '0000',
  '0178',
  '0200000000000000ff',
  '02ffffffffffffffff',
  '06',
  '08',
  '00',
].map((hex) => fromHex(hex));

const conversation = fc
  .array(fc.constantFrom(...WORDS), { maxLength: 12 })
  .map((words) => Buffer.concat([fromHex(LIBZMQ.greeting, LIBZMQ.ready), ...words]));
const mutated = fc
  .tuple(conversation, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 3 }))
  .map(([bytes, faults]) => {
    for (const [at, value] of faults) bytes[at % bytes.length] = value;
    return bytes;
  });
const random = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
const afterGreeting = random.map((bytes) => Buffer.concat([fromHex(LIBZMQ.greeting), bytes]));
const afterHandshake = random.map((bytes) => Buffer.concat([fromHex(LIBZMQ.greeting, LIBZMQ.ready), bytes]));

/** The result of these bytes, split at these positions; then every deadline until none is left. */
function tell(bytes: Uint8Array, cuts: readonly number[] = []): readonly string[] {
  const recorder = new EngineRecorder({ heartbeatMs: 200 });
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, bytes.length]) {
    recorder.connection.receive(Uint8Array.from(bytes.subarray(from, to)), 0);
    from = to;
  }
  return recorder.story;
}

test.each([
  ['random bytes', random, 20_000],
  ['a greeting and random bytes', afterGreeting, 20_000],
  ['a handshake and random bytes', afterHandshake, 20_000],
  ['a conversation with faults', mutated, 30_000],
])('%s end as a value or wait for more', (_, bytes, numRuns) => {
  fc.assert(
    fc.property(bytes, (input) => {
      const story = tell(input);
      const failures = story.filter((line) => line.startsWith('failed'));
      assert.ok(failures.length <= 1);
      // Nothing is reported after a failure.
      if (failures.length === 1) assert.match(story.at(-1) ?? '', FAILURES);
    }),
    { numRuns },
  );
});

test('the same bytes in any pieces give the same result', () => {
  fc.assert(
    fc.property(fc.oneof(conversation, mutated), fc.array(fc.nat(), { maxLength: 20 }), (bytes, cuts) => {
      assert.deepEqual(tell(bytes, cuts), tell(bytes));
    }),
    { numRuns: 10_000 },
  );
  fc.assert(
    fc.property(conversation, (bytes) => {
      assert.deepEqual(tell(bytes, [...bytes.keys()]), tell(bytes));
    }),
    { numRuns: 500 },
  );
});

test('a connection that fails or falls silent ends after at most three deadlines', () => {
  fc.assert(
    fc.property(fc.oneof(conversation, mutated, afterGreeting), (bytes) => {
      const { connection, story } = new EngineRecorder({ heartbeatMs: 200 });
      connection.receive(bytes, 0);
      let deadlines = 0;
      for (; connection.deadline < Infinity; deadlines++) connection.tick(connection.deadline);
      assert.ok(deadlines <= 3);
      // A fault may make it a peer of ZMTP 3.0, which cannot be probed.
      const old = bytes[10] === 3 && bytes[11] === 0;
      if (!old) assert.match(story.at(-1) ?? '', /^failed/);
    }),
    { numRuns: 5_000 },
  );
});

test('any messages arrive as they were sent', () => {
  const frame = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 20_000 }).map(allocate));
  const messages = fc.array(fc.array(frame, { minLength: 1, maxLength: 5 }), { maxLength: 5 });
  fc.assert(
    fc.property(messages, fc.array(fc.nat(), { maxLength: 5 }), (sent, cuts) => {
      const recorder = EngineRecorder.met({ maxMessageFrames: 5, maxMessageBytes: 200_000, maxFrameBytes: 200_000 });
      const bytes = Buffer.concat(encodeMessages(sent, allocate));
      const places = [...cuts.map((cut) => cut % (bytes.length + 1))].sort((a, b) => a - b);
      let from = 0;
      for (const to of [...places, bytes.length]) {
        recorder.connection.receive(bytes.subarray(from, to), 0);
        from = to;
      }
      assert.deepEqual(
        recorder.frames.map((frames) => frames.map(toHex)),
        sent.map((frames) => frames.map(toHex)),
      );
    }),
    { numRuns: 1_000 },
  );
});
