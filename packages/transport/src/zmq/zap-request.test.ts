import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readZapRequest, zapAnswer } from './zap-request.js';

const KEY = Buffer.alloc(32, 7);
const REQUEST = ['id', '', '1.0', '1', 'proj-1', '127.0.0.1', '', 'CURVE', KEY].map((frame) => Buffer.from(frame));
const but = (index: number, frame: string | Buffer) => REQUEST.with(index, Buffer.from(frame));

describe('readZapRequest', () => {
  it('reads what libzmq asks', () => {
    expect(readZapRequest(REQUEST)).toMatchObject({
      kind: 'question',
      domain: 'proj-1',
      address: '127.0.0.1',
      publicKey: Uint8Array.from(KEY),
    });
  });

  it('keeps the key, not the message', () => {
    const question = readZapRequest(REQUEST);

    expect(question.kind === 'question' && question.publicKey.buffer.byteLength).toBe(32);
  });

  it.each([
    ['nothing', []],
    ['fewer frames', REQUEST.slice(0, -1)],
    ['more frames', [...REQUEST, KEY]],
    ['no delimiter', but(1, 'x')],
    ['another version', but(2, '2.0')],
    ['the mechanism NULL', but(7, 'NULL')],
    ['a key that is too short', but(8, KEY.subarray(1))],
  ])('does not take %s as a question', (_what, frames) => {
    expect(readZapRequest(frames).kind).toBe('malformed');
  });

  it('is total, and so is the answer', () => {
    const frame = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(...REQUEST));
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), (frames) => {
        const request = readZapRequest(frames);
        expect(zapAnswer(request, request.kind === 'question' ? 400 : 500)).toHaveLength(8);
      }),
    );
  });
});

describe('zapAnswer', () => {
  it('has the form of RFC 27', () => {
    expect(zapAnswer(readZapRequest(REQUEST), 400).map(String)).toEqual(['id', '', '1.0', '1', '400', '', '', '']);
  });
});
