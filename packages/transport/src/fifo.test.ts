import { describe, expect, it } from 'vitest';
import { Fifo } from './fifo.js';

describe('Fifo', () => {
  it('gives items back in the order they came', () => {
    const fifo = new Fifo<number>();
    for (const item of [1, 2, 3]) fifo.push(item);

    expect([fifo.shift(), fifo.shift(), fifo.shift(), fifo.shift()]).toEqual([1, 2, 3, undefined]);
  });

  it('shows the oldest item without taking it', () => {
    const fifo = new Fifo<string>();
    fifo.push('a');
    fifo.push('b');

    expect(fifo.peek()).toBe('a');
    expect(fifo.length).toBe(2);
  });

  it('keeps order and length while items come and go by the thousand', () => {
    const fifo = new Fifo<number>();
    const numbers = Array.from({ length: 20_000 }, (_, index) => index);
    const out: (number | undefined)[] = [];
    // Two in, one out: the array is cut several times on the way.
    for (let index = 0; index < numbers.length; index += 2) {
      fifo.push(index);
      fifo.push(index + 1);
      out.push(fifo.shift());
    }
    expect(fifo.length).toBe(10_000);
    while (fifo.length > 0) out.push(fifo.shift());
    expect(out).toEqual(numbers);
  });

  it('can be used again after it ran empty', () => {
    const fifo = new Fifo<number>();
    for (let item = 0; item < 5_000; item++) fifo.push(item);
    while (fifo.shift() !== undefined);
    fifo.push(7);

    expect([fifo.length, fifo.peek(), fifo.shift(), fifo.length]).toEqual([1, 7, 7, 0]);
  });
});
