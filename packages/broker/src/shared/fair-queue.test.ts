import { describe, expect, it } from 'vitest';
import { FairQueue, type ClientQueue } from './fair-queue.js';
import { RemovableQueue, QueueSlot } from './removable-queue.js';

/** A queue of the given entries, written `client:value`; returns the slots by value as well. */
function queueOf(
  max: number,
  ...entries: string[]
): { queue: FairQueue<string>; places: Map<string, QueueSlot<string>> } {
  const queue = new FairQueue<string>(max);
  const places = new Map<string, QueueSlot<string>>();
  for (const entry of entries) {
    const [client = '', value = ''] = entry.split(':');
    const place = new QueueSlot(value);
    places.set(value, place);
    queue.push(place, client);
  }
  return { queue, places };
}

function drain(queue: FairQueue<string>): string {
  let text = '';
  for (let value = queue.shift(); value !== undefined; value = queue.shift()) text += value;
  return text;
}

describe('FairQueue', () => {
  it('is first in, first out for one client', () => {
    expect(drain(queueOf(9, 'x:1', 'x:2', 'x:3').queue)).toBe('123');
  });

  it('serves clients in turn however much one of them has waiting', () => {
    expect(drain(queueOf(9, 'x:1', 'x:2', 'x:3', 'x:4', 'y:a', 'z:A', 'y:b').queue)).toBe('1aA2b34');
  });

  /** A queue in which some clients have 50 values each waiting. */
  function crowded(clients: number): FairQueue<string> {
    const queue = new FairQueue<string>(10_000);
    for (let client = 0; client < clients; client++)
      for (let value = 0; value < 50; value++) queue.push(new QueueSlot('-'), `many-${client}`);
    return queue;
  }

  it('serves clients with few waiting values before those with many, however many those are', () => {
    const queue = crowded(40);
    for (const value of ['1', '2', '3']) {
      queue.push(new QueueSlot(value), 'x');
      queue.push(new QueueSlot(value), 'y');
      const served = Array.from({ length: 3 }, () => queue.shift()).join('');
      expect(served.replaceAll('-', '')).toBe(value + value);
    }
  });

  it('gives one turn in four to clients with many values, however many others there are', () => {
    const queue = crowded(3);
    let text = '';
    for (let turn = 0; turn < 40; turn++) {
      queue.push(new QueueSlot('x'), `few-${turn}`);
      text += String(queue.shift());
    }
    expect(text).toHaveLength(40);
    expect(text.replaceAll('x', '')).toHaveLength(10);
    expect(text).not.toContain('xxxx');
  });

  it('counts a client with at most four values after its turn among those with few', () => {
    const queue = crowded(1);
    for (const value of ['1', '2', '3', '4', '5']) queue.push(new QueueSlot(value), 'x');
    for (const value of ['a', 'b', 'c', 'd', 'e', 'f']) queue.push(new QueueSlot(value), 'y');
    expect(Array.from({ length: 12 }, () => queue.shift()).join('')).toBe('-1a234-5bcd-');
  });

  it('puts a client that returns behind those that wait', () => {
    const { queue } = queueOf(9, 'x:1', 'y:a', 'z:A');
    expect(queue.shift()).toBe('1');
    queue.push(new QueueSlot('2'), 'x');
    expect(drain(queue)).toBe('aA2');
  });

  it('serves the front before all others, in the order it was filled', () => {
    const { queue } = queueOf(9, 'x:1', 'y:a');
    queue.pushFront(new QueueSlot('R'));
    queue.pushFront(new QueueSlot('S'));
    expect(drain(queue)).toBe('RS1a');
  });

  it('does not count serving from the front as a turn', () => {
    const { queue } = queueOf(9, 'x:1', 'x:2', 'y:a');
    queue.pushFront(new QueueSlot('R'));
    queue.shift();
    expect(queue.shift()).toBe('1');
  });

  it('refuses values beyond its bound', () => {
    const { queue } = queueOf(2, 'x:1', 'y:a');
    expect(queue.full).toBe(true);
    expect(queue.push(new QueueSlot('2'), 'x')).toBe(false);
    expect(drain(queue)).toBe('1a');
  });

  it('never refuses the front', () => {
    const { queue } = queueOf(1, 'x:1');
    queue.pushFront(new QueueSlot('R'));
    expect(queue.size).toBe(2);
    queue.shift();
    expect(queue.full).toBe(true);
  });

  it('removes from the middle of a client', () => {
    const { queue, places } = queueOf(9, 'x:1', 'x:2', 'x:3');
    expect(queue.remove(places.get('2')!)).toBe(true);
    expect(queue.size).toBe(2);
    expect(drain(queue)).toBe('13');
  });

  it('removes from the front', () => {
    const { queue } = queueOf(9, 'x:1');
    const place = new QueueSlot('R');
    queue.pushFront(place);
    expect(queue.remove(place)).toBe(true);
    expect(drain(queue)).toBe('1');
  });

  it('reports that a value to remove is not here', () => {
    const { queue, places } = queueOf(9, 'x:1');
    queue.shift();
    expect(queue.remove(places.get('1')!)).toBe(false);
    expect(queue.size).toBe(0);
  });

  it('keeps nothing for a client without waiting values', () => {
    const { queue, places } = queueOf(9, 'x:1', 'y:a');
    expect(queue.clients).toBe(2);
    queue.remove(places.get('a')!);
    queue.shift();
    expect(queue.clients).toBe(0);
  });

  it('lists everything that a client has waiting, over several queues and at their fronts', () => {
    const owned = new RemovableQueue<ClientQueue<string>>();
    const { queue } = queueOf(9, 'y:a');
    const other = new FairQueue<string>(9);
    for (const value of ['1', '2']) queue.push(new QueueSlot(value), 'x', owned);
    other.push(new QueueSlot('3'), 'x', owned);
    other.pushFront(new QueueSlot('R'), owned);
    const found = (): string => Array.from(owned.values(), (lane) => [...lane.values()].join('')).join(' ');
    expect(found()).toBe('12 3 R');
    drain(other);
    expect(found()).toBe('12');
    drain(queue);
    expect(owned.size).toBe(0);
  });

  it('lists the values of a client, newest first, the front aside', () => {
    const { queue } = queueOf(9, 'x:1', 'y:a', 'x:2');
    queue.pushFront(new QueueSlot('R'));
    expect(['x', 'y', 'z'].map((client) => [...queue.newest(client)].join(''))).toEqual(['21', 'a', '']);
  });

  it('takes nothing from queues that have retired; what they hold stays until it is removed', () => {
    const { queue } = queueOf(9, 'x:1', 'x:2');
    const owned = new RemovableQueue<ClientQueue<string>>();
    const resent = new QueueSlot('R');
    const left = new QueueSlot('L');
    queue.pushFront(resent, owned);
    queue.push(left, 'gone', owned);
    for (const line of owned.values()) queue.retire(line);
    expect([drain(queue), queue.size]).toEqual(['12', 2]);
    expect([queue.remove(resent), queue.remove(left), queue.size, owned.size]).toEqual([true, true, 0, 0]);
  });

  it('reports that a value of another queue is not here', () => {
    const { places } = queueOf(9, 'x:1');
    const other = queueOf(9, 'x:2').queue;
    expect(other.remove(places.get('1')!)).toBe(false);
    expect(other.size).toBe(1);
  });

  it('accepts the same slot again, for a request that waits a second time', () => {
    const { queue, places } = queueOf(9, 'x:1');
    queue.shift();
    queue.pushFront(places.get('1')!);
    expect(places.get('1')!.taken).toBe(true);
    queue.shift();
    queue.push(places.get('1')!, 'x');
    expect(drain(queue)).toBe('1');
  });

  it('lists the front, then client by client', () => {
    const { queue } = queueOf(9, 'x:1', 'y:a', 'x:2');
    queue.pushFront(new QueueSlot('R'));
    expect([...queue.values()].join('')).toBe('R12a');
  });

  it('allows removing the current value while listing', () => {
    const { queue, places } = queueOf(9, 'x:1', 'y:a', 'x:2', 'z:A');
    const seen: string[] = [];
    for (const value of queue.values()) {
      seen.push(value);
      queue.remove(places.get(value)!);
    }
    expect(seen.join('')).toBe('12aA');
    expect(queue.size).toBe(0);
  });
});
