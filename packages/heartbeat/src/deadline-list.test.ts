import { describe, expect, it } from 'vitest';
import { Deadline, DeadlineList } from './deadline-list.js';

function takeAll<Value>(list: DeadlineList<Value>, now: number): Value[] {
  const taken: Value[] = [];
  for (let value = list.takeDue(now); value !== undefined; value = list.takeDue(now)) taken.push(value);
  return taken;
}

describe('DeadlineList', () => {
  it('is empty at first and never due', () => {
    const list = new DeadlineList<string>(100);

    expect([list.size, list.first, list.deadline, list.takeDue(Infinity)]).toEqual([0, undefined, Infinity, undefined]);
  });

  it('shows and takes the earliest entry, when it is due and not before', () => {
    const list = new DeadlineList<string>(100);
    list.renew(new Deadline('a'), 0);
    list.renew(new Deadline('b'), 10);

    expect([list.size, list.first, list.deadline]).toEqual([2, 'a', 100]);
    expect(list.takeDue(99)).toBeUndefined();
    expect(list.takeDue(100)).toBe('a');
    expect([list.size, list.first, list.deadline]).toEqual([1, 'b', 110]);
    expect(list.takeDue(100)).toBeUndefined();
    expect(list.takeDue(1000)).toBe('b');
  });

  it('takes all that is due, oldest first', () => {
    const list = new DeadlineList<string>(100);
    for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) list.renew(new Deadline(name), index);

    expect(takeAll(list, 102)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['the first', 0, ['b', 'c', 'a']],
    ['a middle one', 1, ['a', 'c', 'b']],
    ['the last', 2, ['a', 'b', 'c']],
  ])('moves %s to the end when it is renewed', (_, index, order) => {
    const list = new DeadlineList<string>(100);
    const entries = ['a', 'b', 'c'].map((name) => new Deadline(name));
    for (const entry of entries) list.renew(entry, 0);
    list.renew(entries[index]!, 50);

    expect([...list.values()]).toEqual(order);
    expect([list.size, entries[index]!.at]).toEqual([3, 150]);
  });

  it.each([
    ['the first', 0, ['b', 'c']],
    ['a middle one', 1, ['a', 'c']],
    ['the last', 2, ['a', 'b']],
  ])('takes %s out when it is removed', (_, index, order) => {
    const list = new DeadlineList<string>(100);
    const entries = ['a', 'b', 'c'].map((name) => new Deadline(name));
    for (const entry of entries) list.renew(entry, 0);
    list.remove(entries[index]!);
    list.remove(entries[index]!);

    expect([...list.values()]).toEqual(order);
    expect([list.size, entries[index]!.at]).toEqual([2, Infinity]);
    list.renew(entries[index]!, 1);
    expect([...list.values()]).toEqual([...order, entries[index]!.value]);
  });

  it('marks an entry that was taken as being in no list', () => {
    const list = new DeadlineList<string>(100);
    const entry = new Deadline('a');
    list.renew(entry, 0);
    list.takeDue(100);

    expect(entry.at).toBe(Infinity);
    list.remove(entry);
    expect(list.size).toBe(0);
  });

  it('moves an entry over from another list, and does not remove what is in another', () => {
    const idle = new DeadlineList<string>(100);
    const busy = new DeadlineList<string>(900);
    const entry = new Deadline('a');
    idle.renew(entry, 0);
    busy.renew(entry, 10);
    idle.remove(entry);

    expect([idle.size, idle.deadline, busy.size, busy.deadline]).toEqual([0, Infinity, 1, 910]);
  });

  describe('after postpone', () => {
    it('lets nothing fall due before the extension is over', () => {
      const list = new DeadlineList<string>(100);
      list.renew(new Deadline('a'), 0);
      list.postpone(50, 90);

      expect(list.deadline).toBe(140);
      expect(list.takeDue(139)).toBeUndefined();
      expect(list.takeDue(140)).toBe('a');
    });

    it('leaves later deadlines where they are', () => {
      const list = new DeadlineList<string>(100);
      list.renew(new Deadline('a'), 0);
      list.postpone(5, 90);

      expect(list.deadline).toBe(100);
    });

    it('does not shorten an earlier extension', () => {
      const list = new DeadlineList<string>(100);
      list.renew(new Deadline('a'), 0);
      list.postpone(50, 90);
      list.postpone(1, 95);

      expect(list.deadline).toBe(140);
    });

    it('is still never due when it is empty', () => {
      const list = new DeadlineList<string>(100);
      list.postpone(50, 0);

      expect(list.deadline).toBe(Infinity);
    });
  });
});
