import { beforeEach, describe, expect, it } from 'vitest';
import { peerNamed, QueueUnderTest } from '../../test/queue-under-test.js';
import type { PzqSettings } from '../options.js';

let queue: QueueUnderTest;

/** A queue of messages of ten bytes, and its connected consumers. */
function start(settings: Partial<PzqSettings>, ...consumers: readonly string[]): void {
  queue = new QueueUnderTest({ windowMax: 100, ...settings });
  for (let n = 0; n < 30; n++) queue.produce('p', `${n}`, 'x'.repeat(10));
  for (const name of consumers) come(name);
}

const come = (name: string) => queue.step({ kind: 'consumer-came', outlet: 'queue', peer: peerNamed(name) });
const go = (name: string) => queue.step({ kind: 'consumer-gone', outlet: 'queue', peer: peerNamed(name) });
/** The transport passes the offer to this one. */
const take = (name: string) => queue.step({ kind: 'delivered', outlet: 'queue', peer: peerNamed(name) });

beforeEach(() => {
  start({ maxInFlight: 6 }, 'a', 'b', 'c');
});

describe('rule 16: shares of consumers', () => {
  it('rule 16: a consumer that has its share gets nothing more, until one of its messages is settled', () => {
    expect([take('a'), take('a')]).toEqual([[], ['hold a']]);
    expect(take('b')).toEqual([]);
    expect(queue.ack(1)).toEqual(['let go a']);
    expect(take('a')).toEqual(['hold a']);
    expect(queue.nack(2)).toEqual(['let go a']);
  });

  it('rule 16: a message not answered in time counts for no consumer', () => {
    take('a');
    take('a');
    expect(queue.advance(1000)).toEqual(['1000ms: let go a']);
  });

  it('rule 16: a single consumer may have everything', () => {
    start({ maxInFlight: 6 }, 'a');
    expect(Array.from({ length: 6 }, () => take('a')).flat()).toEqual([]);
    expect(queue.stats.inFlight).toBe(6);
  });

  it('rule 16: bytes are shared the same way', () => {
    start({ maxInFlight: 100, maxInFlightBytes: 40 }, 'a', 'b');
    expect([take('a'), take('a')]).toEqual([[], ['hold a']]);
    expect(queue.ack(1)).toEqual(['let go a']);
  });

  it('rule 16: shares grow when a consumer leaves, and its messages do not count for the next one with its name', () => {
    take('a');
    take('a');
    take('b');
    go('b');
    expect(queue.ack(1)).toEqual(['let go a']);
    come('b');
    expect([take('b'), take('b')]).toEqual([[], ['hold b']]);
    expect(queue.ack(3)).toEqual([]);
    expect(queue.ack(4)).toEqual(['let go b']);
  });

  it('rule 16: consumers that the transport does not distinguish are not limited', () => {
    start({ maxInFlight: 6 });
    expect(Array.from({ length: 6 }, () => take('')).flat()).toEqual([]);
    expect(queue.stats.inFlight).toBe(6);
  });

  it('rule 16: a message settled before its outcome is known counts for no consumer', () => {
    queue.ack(1);
    expect([take('a'), take('a'), take('a')]).toEqual([[], [], ['hold a']]);
  });
});
