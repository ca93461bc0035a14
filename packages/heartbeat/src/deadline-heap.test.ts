import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeadlineHeap, HeapDeadline } from './deadline-heap.js';

function heapOf(...ats: number[]): { heap: DeadlineHeap<number>; entries: HeapDeadline<number>[] } {
  const heap = new DeadlineHeap<number>();
  const entries = ats.map((at, index) => {
    const entry = new HeapDeadline(index);
    heap.set(entry, at);
    return entry;
  });
  return { heap, entries };
}

describe('DeadlineHeap', () => {
  it('shows the earliest deadline, whatever the order of arrival', () => {
    expect(heapOf(30, 10, 20).heap.deadline).toBe(10);
    expect(heapOf(30, 10, 20).heap.first).toBe(1);
  });

  it('has no deadline while it is empty', () => {
    expect(heapOf().heap.deadline).toBe(Infinity);
    expect(heapOf().heap.first).toBeUndefined();
    expect(heapOf().heap.takeDue(Infinity)).toBeUndefined();
  });

  it('hands out what is due, earliest first, and keeps the rest', () => {
    const { heap } = heapOf(30, 10, 20);
    expect([heap.takeDue(20), heap.takeDue(20), heap.takeDue(20)]).toEqual([1, 2, undefined]);
    expect(heap.deadline).toBe(30);
  });

  it('hands out nothing before it may, however often it is postponed', () => {
    const { heap } = heapOf(10, 20);
    heap.postpone(5, 10);
    heap.postpone(1, 10);
    expect([heap.deadline, heap.takeDue(14), heap.takeDue(15), heap.deadline]).toEqual([15, undefined, 0, 20]);
  });

  it('lists what falls due next, as takeDue would hand it out, and keeps it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.nat(30), (ats, count) => {
        const { heap } = heapOf(...ats);
        const listed = heap.next(count);
        heap.assertInvariants();
        const taken = ats.map(() => heap.takeDue(Infinity));
        expect(listed).toEqual(taken.slice(0, count));
      }),
    );
  });

  it('moves an entry later and earlier', () => {
    const { heap, entries } = heapOf(10, 20);
    heap.set(entries[0]!, 30);
    expect(heap.deadline).toBe(20);
    heap.set(entries[0]!, 5);
    expect(heap.deadline).toBe(5);
    expect(heap.size).toBe(2);
  });

  it('hands out entries with one deadline in the order they were set', () => {
    const { heap, entries } = heapOf(7, 7, 5, 7, 7, 7);
    heap.set(entries[1]!, 7);
    const taken = Array.from({ length: 6 }, () => heap.takeDue(7));

    expect(taken).toEqual([2, 0, 3, 4, 5, 1]);
  });

  it('forgets a removed entry; removing it again does nothing', () => {
    const { heap, entries } = heapOf(10, 20);
    heap.remove(entries[0]!);
    heap.remove(entries[0]!);
    expect([heap.deadline, heap.size, entries[0]!.at]).toEqual([20, 1, Infinity]);
  });

  it('agrees with a sorted list under any sequence of set, remove and take', () => {
    const operation = fc.record({
      entry: fc.nat({ max: 11 }),
      at: fc.nat({ max: 50 }),
      action: fc.constantFrom('set', 'set', 'remove', 'take'),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
        const heap = new DeadlineHeap<number>();
        const entries = Array.from({ length: 12 }, (_, index) => new HeapDeadline(index));
        const model = new Map<number, number>();
        for (const { entry, at, action } of operations) {
          if (action === 'set') {
            heap.set(entries[entry]!, at);
            model.set(entry, at);
          } else if (action === 'remove') {
            heap.remove(entries[entry]!);
            model.delete(entry);
          } else {
            const taken = heap.takeDue(at);
            const earliest = Math.min(...model.values());
            if (taken === undefined) expect(earliest).toBeGreaterThan(at);
            else {
              expect(model.get(taken)).toBe(earliest);
              model.delete(taken);
            }
          }
          heap.assertInvariants();
          expect(heap.deadline).toBe(Math.min(...model.values()));
          expect(heap.size).toBe(model.size);
        }
      }),
    );
  });
});
