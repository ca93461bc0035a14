import { framesOf } from '@proj/testkit';
import { expect, test } from 'vitest';
import { COMMAND_FRAME, HEADER_FRAME, readCommand, readHeader } from './wire.js';

const NUMBERS = {
  ...{ open: '00', ready: '01', keepalive: '02', disconnect: '03', post: '04', response: '05', get: '06' },
  ...{ delete: '07', event: '08', stream: '09', put: '10', mmi: '11' },
} as const;

test.each(Object.entries(NUMBERS) as [keyof typeof NUMBERS, string][])('%s is 0x%s in both forms', (name, digits) => {
  expect([COMMAND_FRAME.ascii[name]]).toEqual(framesOf(`0x${digits}`));
  expect([COMMAND_FRAME.byte[name]]).toEqual(framesOf(Number.parseInt(digits, 16)));
  for (const form of ['ascii', 'byte'] as const) expect(readCommand(COMMAND_FRAME[form][name])).toEqual({ name, form });
});

test('no other frame is a command', () => {
  const known = new Set(Object.values(NUMBERS));
  for (let byte = 0; byte < 256; byte++) {
    const digits = byte.toString(16).padStart(2, '0') as '00';
    if (known.has(digits)) continue;
    expect(readCommand(Uint8Array.of(byte))).toBeUndefined();
    expect(readCommand(framesOf(`0x${digits}`)[0])).toBeUndefined();
  }
  for (const text of ['', '04', '0X04', 'x004', '0x4', '0x004', '0x04 ', '0x0:', '0x0/'])
    expect(readCommand(framesOf(text)[0])).toBeUndefined();
  expect(readCommand(undefined)).toBeUndefined();
});

test.each(Object.entries(HEADER_FRAME))('%s with any one byte changed is another header or none', (name, frame) => {
  expect(readHeader(frame)).toBe(name);
  for (let at = 0; at < frame.length; at++) {
    for (let byte = 0; byte < 256; byte++) {
      const changed = frame.with(at, byte);
      const same = Object.entries(HEADER_FRAME).find(([, known]) => known.every((value, i) => value === changed[i]));
      expect(readHeader(changed)).toBe(same?.[0]);
    }
  }
  expect(readHeader(Uint8Array.of(...frame, 0))).toBeUndefined();
});
