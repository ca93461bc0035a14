import { describe, expect, it } from 'vitest';
import { settle, toFrames } from './handler.js';

describe('toFrames', () => {
  it.each<[string, Parameters<typeof toFrames>[0], string[]]>([
    ['text', 'hé', ['hé']],
    ['empty text', '', ['']],
    ['bytes', Uint8Array.of(65), ['A']],
    ['several', ['a', Uint8Array.of(66)], ['a', 'B']],
    ['nothing', undefined, []],
    ['an empty list', [], []],
  ])('%s', (_what, body, expected) => {
    expect(toFrames(body).map((frame) => Buffer.from(frame).toString())).toEqual(expected);
  });

  it('passes bytes on as they are, uncopied', () => {
    const bytes = new Uint8Array(3);
    expect(toFrames(bytes)[0]).toBe(bytes);
  });

  it.each([
    [7, 'number'],
    [null, 'null'],
    [{}, 'an object'],
    [[1], 'number'],
    [[['a']], 'an object'],
    [true, 'boolean'],
  ])('refuses %j', (body, what) => {
    expect(() => toFrames(body as never)).toThrow(`reply frame is ${what}; must be a string or Uint8Array`);
  });
});

describe('settle', () => {
  const refuse = () => Promise.reject(new Error('nobody listens'));

  it('sends what a generator yields, one by one, and returns what it returns', async () => {
    const sent: string[] = [];
    const result = settle(
      (async function* () {
        yield 'a';
        yield 'b';
        return 'c';
      })(),
      async (value) => {
        await Promise.resolve();
        sent.push(value);
      },
    );
    expect(await result).toBe('c');
    expect(sent).toEqual(['a', 'b']);
  });

  it('lets a generator clean up when its partial replies are refused', async () => {
    let cleaned = false;
    const generator = (async function* () {
      try {
        yield 'a';
      } finally {
        cleaned = true;
      }
    })();
    await expect(settle(generator, refuse)).rejects.toThrow('nobody listens');
    expect(cleaned).toBe(true);
  });

  it('passes on what a generator throws', async () => {
    const generator = (async function* (): AsyncGenerator<string, string, undefined> {
      yield 'a';
      throw new Error('mine');
    })();
    await expect(settle(generator, () => Promise.resolve())).rejects.toThrow('mine');
  });

  it('takes values and promises as they are', async () => {
    expect(await settle<string, string[]>(['a'], refuse)).toEqual(['a']);
    expect(await settle<string, string>(Promise.resolve('a'), refuse)).toBe('a');
  });
});
