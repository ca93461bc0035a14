import { describe, expect, it } from 'vitest';
import { RemovableQueue, QueueSlot } from './removable-queue.js';

function lineOf(...values: string[]): { line: RemovableQueue<string>; places: QueueSlot<string>[] } {
  const line = new RemovableQueue<string>();
  const places = values.map((value) => new QueueSlot(value));
  for (const place of places) line.push(place);
  return { line, places };
}

describe('Line', () => {
  it('is empty at first', () => {
    const line = new RemovableQueue<string>();
    expect([line.size, line.first, line.shift(), [...line.values()]]).toEqual([0, undefined, undefined, []]);
  });

  it('keeps the order of arrival', () => {
    const { line } = lineOf('a', 'b', 'c');
    expect([line.shift(), line.shift(), line.shift(), line.shift()]).toEqual(['a', 'b', 'c', undefined]);
  });

  it.each([
    ['front', 0, ['b', 'c']],
    ['middle', 1, ['a', 'c']],
    ['back', 2, ['a', 'b']],
  ])('removes at the %s', (_where, index, rest) => {
    const { line, places } = lineOf('a', 'b', 'c');
    expect(line.remove(places[index]!)).toBe(true);
    expect([...line.values()]).toEqual(rest);
    expect(line.size).toBe(2);
  });

  it('appends behind a new last place after the last one was removed', () => {
    const { line, places } = lineOf('a', 'b');
    line.remove(places[1]!);
    line.push(new QueueSlot('c'));
    expect([...line.values()]).toEqual(['a', 'c']);
  });

  it('leaves places of other lists alone', () => {
    const { line } = lineOf('a');
    const other = lineOf('b');
    expect(line.remove(other.places[0]!)).toBe(false);
    expect([...other.line.values()]).toEqual(['b']);
  });

  it('refuses a place that is in a line, which would corrupt both', () => {
    const { places } = lineOf('a');
    expect(() => {
      new RemovableQueue<string>().push(places[0]!);
    }).toThrow('one line only');
  });

  it('tells through the place whether it is listed', () => {
    const { line, places } = lineOf('a');
    expect(places[0]!.taken).toBe(true);
    line.shift();
    expect(places[0]!.taken).toBe(false);
  });

  it('lets the value at hand be removed while iterating', () => {
    const { line, places } = lineOf('a', 'b', 'c');
    const seen: string[] = [];
    for (const value of line.values()) {
      seen.push(value);
      line.remove(places[seen.length - 1]!);
    }
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(line.size).toBe(0);
  });

  it('does not grow by those who leave while the first one stays', () => {
    const line = new RemovableQueue<number>();
    line.push(new QueueSlot(0));
    let behind = new QueueSlot(1);
    line.push(behind);
    for (let n = 2; n <= 10_000; n++) {
      const next = new QueueSlot(n);
      line.push(next);
      line.remove(behind);
      behind = next;
    }
    expect([...line.values()]).toEqual([0, 10_000]);
    expect(line.room).toBeLessThanOrEqual(16);
  });

  it('gives back the room of many when the last one has left', () => {
    const { line } = lineOf(...Array.from({ length: 5000 }, String));
    expect(line.room).toBe(8192);
    while (line.shift() !== undefined);
    expect(line.room).toBe(0);
    line.push(new QueueSlot('again'));
    expect(line.shift()).toBe('again');
  });
});
