import { describe, expect, it } from 'vitest';
import { Link, LinkedList } from './linked-list.js';

function listOf(...values: string[]): { list: LinkedList<string>; links: Link<string>[] } {
  const list = new LinkedList<string>();
  const links = values.map((value) => new Link(value));
  for (const link of links) list.pushBack(link);
  return { list, links };
}

describe('LinkedList', () => {
  it('is empty at first', () => {
    const list = new LinkedList<string>();
    expect([list.size, list.first, list.shift(), [...list.values()]]).toEqual([0, undefined, undefined, []]);
  });

  it('keeps the order of arrival', () => {
    const { list } = listOf('a', 'b', 'c');
    expect([list.shift(), list.shift(), list.shift(), list.shift()]).toEqual(['a', 'b', 'c', undefined]);
  });

  it.each([
    ['front', 0, ['b', 'c']],
    ['middle', 1, ['a', 'c']],
    ['back', 2, ['a', 'b']],
  ])('removes at the %s', (_where, index, rest) => {
    const { list, links } = listOf('a', 'b', 'c');
    expect(list.remove(links[index]!)).toBe(true);
    expect([...list.values()]).toEqual(rest);
    expect(list.size).toBe(2);
  });

  it('appends behind a new last link after the last one was removed', () => {
    const { list, links } = listOf('a', 'b');
    list.remove(links[1]!);
    list.pushBack(new Link('c'));
    expect([...list.values()]).toEqual(['a', 'c']);
  });

  it('leaves links of other lists alone', () => {
    const { list } = listOf('a');
    const other = listOf('b');
    expect(list.remove(other.links[0]!)).toBe(false);
    expect([...other.list.values()]).toEqual(['b']);
  });

  it('refuses a link that is in a list, which would corrupt both', () => {
    const { links } = listOf('a');
    expect(() => {
      new LinkedList<string>().pushBack(links[0]!);
    }).toThrow('one list only');
  });

  it('tells through the link whether it is listed', () => {
    const { list, links } = listOf('a');
    expect(links[0]!.linked).toBe(true);
    list.shift();
    expect(links[0]!.linked).toBe(false);
  });

  it('lets the value at hand be removed while iterating', () => {
    const { list, links } = listOf('a', 'b', 'c');
    const seen: string[] = [];
    for (const value of list.values()) {
      seen.push(value);
      list.remove(links[seen.length - 1]!);
    }
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(list.size).toBe(0);
  });
});
