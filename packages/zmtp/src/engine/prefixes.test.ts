import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Prefixes } from './prefixes.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

function matches(prefixes: Prefixes<string>, topic: string): string[] {
  const found: string[] = [];
  prefixes.match(bytes(topic), (one) => found.push(one));
  return found;
}

describe('prefixes', () => {
  it('are found for a topic that begins with them, shortest first', () => {
    const prefixes = new Prefixes<string>();
    for (const prefix of ['', 'ab', 'abcd', 'abce', 'x', 'abcdef']) prefixes.add(bytes(prefix), prefix);
    expect(matches(prefixes, 'abcde')).toEqual(['', 'ab', 'abcd']);
    expect(matches(prefixes, 'abc')).toEqual(['', 'ab']);
    expect(matches(prefixes, '')).toEqual(['']);
  });

  it('disappear when removed, without affecting others', () => {
    const prefixes = new Prefixes<string>();
    for (const prefix of ['ab', 'abcd', 'abce']) prefixes.add(bytes(prefix), prefix);
    for (const never of ['', 'a', 'abc', 'abcdx', 'zz']) prefixes.remove(bytes(never), 'ab');
    prefixes.remove(bytes('abce'), 'abce');
    prefixes.remove(bytes('ab'), 'ab');
    expect([matches(prefixes, 'abcd'), matches(prefixes, 'abce')]).toEqual([['abcd'], []]);
  });

  it('behave like a list of all prefixes, whatever is added and removed', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\0'), maxLength: 6 });
    const change = fc.record({ add: fc.boolean(), prefix: text, one: fc.constantFrom('1', '2') });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), fc.array(text, { maxLength: 10 }), (changes, topics) => {
        const tree = new Prefixes<string>();
        const list = new Set<string>();
        for (const { add, prefix, one } of changes) {
          if (add) tree.add(bytes(prefix), one);
          else tree.remove(bytes(prefix), one);
          if (add) list.add(one + prefix);
          else list.delete(one + prefix);
        }
        for (const topic of topics) {
          for (const one of ['1', '2']) expect(tree.has(bytes(topic), one)).toBe(list.has(one + topic));
          const expected = [...list].filter((entry) => topic.startsWith(entry.slice(1))).map((entry) => entry[0]);
          expect(matches(tree, topic).sort()).toEqual(expected.sort());
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('take time proportional to the topic, however many there are', () => {
    const prefixes = new Prefixes<number>();
    for (let index = 0; index < 20_000; index++) prefixes.add(bytes(`${index}.`), index);
    let visits = 0;
    prefixes.match(bytes('1234.x'), () => visits++);
    expect(visits).toBe(1);
  });
});
