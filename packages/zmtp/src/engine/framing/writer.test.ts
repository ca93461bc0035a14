import { describe, expect, it } from 'vitest';
import { fromHex, LIBZMQ, toHex } from '../../test/recorder.js';
import { encodeMessages } from './writer.js';

const allocate = (bytes: number) => new Uint8Array(bytes);

describe('messages on the wire', () => {
  it('are the same as from libzmq, byte for byte', () => {
    const frames = [Buffer.from('hello'), Buffer.alloc(0), Buffer.alloc(300, 'x')];
    expect(encodeMessages([frames], allocate).map(toHex)).toEqual([LIBZMQ.message]);
  });

  it.each([
    [255, '00ff'],
    [256, '020000000000000100'],
    [8_191, '020000000000001fff'],
  ])('have the shortest size: %i bytes as %s', (length, header) => {
    const [part] = encodeMessages([[new Uint8Array(length)]], allocate);
    expect([toHex(part!.subarray(0, header.length / 2)), part!.length]).toEqual([header, header.length / 2 + length]);
  });

  it('share one part if they are small', () => {
    const messages = Array.from({ length: 100 }, (_, index) => [Uint8Array.of(index), Uint8Array.of(1, 2)]);
    const parts = encodeMessages(messages, allocate);
    expect(parts.map(({ length }) => length)).toEqual([700]);
    expect(parts[0]?.subarray(-7)).toEqual(fromHex('010163', '00020102'));
  });

  it('pass on large bodies by reference', () => {
    const body = new Uint8Array(10_000);
    const parts = encodeMessages([[Uint8Array.of(1), body, Uint8Array.of(2)], [body]], allocate);
    expect(parts.map((part) => (part === body ? 'body' : toHex(part)))).toEqual([
      `010101030000000000002710`,
      'body',
      `000102020000000000002710`,
      'body',
    ]);
  });

  it('take memory for output of one part where the caller says', () => {
    const asked: string[] = [];
    const taking = (who: string) => (bytes: number) => (asked.push(`${who} ${bytes}`), allocate(bytes));
    for (const body of [new Uint8Array(8191), new Uint8Array(8192)])
      encodeMessages([[Uint8Array.of(1)], [body]], taking('any'), taking('one part'));
    expect(asked).toEqual(['one part 8203', 'any 12']);
  });
});
