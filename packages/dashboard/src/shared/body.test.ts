/** Bodies as text or hex. */
import { describe, expect, it } from 'vitest';
import { viewBody } from './body.js';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('viewBody', () => {
  it('shows text as text', () => {
    expect(viewBody(bytes('{"a": "ü"}\n'))).toEqual({ kind: 'text', text: '{"a": "ü"}\n', hidden: 0 });
  });

  it.each([
    [Uint8Array.of(0x41, 0xff), '000000  41 ff                                            A.'],
    [Uint8Array.of(0, 0x42), '000000  00 42                                            .B'],
  ])('shows %j as hex', (body, text) => expect(viewBody(body)).toEqual({ kind: 'hex', text, hidden: 0 }));

  it('starts a row every 16 bytes', () => {
    expect(viewBody(new Uint8Array(17)).text.split('\n')[1]).toMatch(/^000010 {2}00 /);
  });

  it('shows 16 KiB, even if that cuts a character', () => {
    const { kind, text, hidden } = viewBody(bytes(`${'a'.repeat(16 * 1024 - 1)}ü`));
    expect([kind, text.length, hidden]).toEqual(['text', 16 * 1024 - 1, 1]);
  });
});
