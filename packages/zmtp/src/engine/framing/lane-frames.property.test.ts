import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HEADER_BYTES, KIND, LaneFrameReader, writeLaneHeader } from './lane-frames.js';

/** What a reader finds in these chunks, with payloads joined per run of one lane. */
function read(chunks: readonly Uint8Array[]): string[] {
  const story: string[] = [];
  let open = '';
  const flush = () => {
    if (open !== '') story.push(open);
    open = '';
  };
  const reader = new LaneFrameReader({
    onControl: (kind, lane, size) => {
      flush();
      story.push(`${kind} ${lane} ${size}`);
    },
    onData: (lane, bytes) => {
      if (!open.startsWith(`data ${lane} `)) {
        flush();
        open = `data ${lane} `;
      }
      open += Buffer.from(bytes).toString('hex');
    },
    onFault: (text) => {
      flush();
      story.push(text);
    },
  });
  for (const chunk of chunks) reader.push(chunk);
  flush();
  return story;
}

/** The bytes split at these positions. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const number = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const frame = fc.oneof(
  fc.record({ kind: fc.constantFrom(KIND.open, KIND.end, KIND.reset, KIND.window), lane: number, size: number }),
  fc.record({ kind: fc.constant(KIND.data), lane: number, payload: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
);
const places = fc.array(fc.nat(), { maxLength: 12 });

describe('frames of lanes', () => {
  it('are read as written, however they are split', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), places, (frames, at) => {
        const bytes = Buffer.concat(
          frames.map((one) => {
            const payload = 'payload' in one ? one.payload : new Uint8Array(0);
            const header = new Uint8Array(HEADER_BYTES);
            writeLaneHeader(header, 0, one.kind, one.lane, 'payload' in one ? payload.length : one.size);
            return Buffer.concat([header, payload]);
          }),
        );
        const whole = read([bytes]);
        expect(read(cut(bytes, at))).toEqual(whole);
        const controls = frames.flatMap((one) => ('payload' in one ? [] : [`${one.kind} ${one.lane} ${one.size}`]));
        expect(whole.filter((line) => !line.startsWith('data'))).toEqual(controls);
        const payloads = frames.flatMap((one) => ('payload' in one ? [Buffer.from(one.payload).toString('hex')] : []));
        const data = whole.filter((line) => line.startsWith('data')).map((line) => line.split(' ')[2]);
        expect(data.join('')).toBe(payloads.join(''));
      }),
      { numRuns: 2000 },
    );
  });

  it('end the reading once if invalid, and never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), places, (bytes, at) => {
        const story = read(cut(bytes, at));
        expect(story).toEqual(read([bytes]));
        const fault = story.findIndex((line) => line.startsWith('unknown frame kind'));
        expect(fault === -1 || fault === story.length - 1).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});
