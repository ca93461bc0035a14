import { describe, expect, it } from 'vitest';
import { peerNamed, QueueUnderTest } from '../../test/queue-under-test.js';

describe('rule 18: memory', () => {
  it('counts the bytes of messages that wait for the store, not the buffers they came in', () => {
    const queue = new QueueUnderTest({ intakeMax: 1000, intakeMaxBytes: 1_000_000, maxMessageBytes: 10_000 });
    queue.step({ kind: 'start' });
    queue.storeHeld = true;
    const { engine } = queue;
    const before = engine.heldBytes;
    for (let index = 0; index < 40; index++) {
      const [id, body] = [
        new Uint8Array(8192).fill(index).subarray(9, 17),
        new Uint8Array(8192).fill(index).subarray(0, 200),
      ];
      queue.step({
        kind: 'produce',
        peer: peerNamed('p1'),
        acksWaiting: 0,
        command: { kind: 'produce', id, headers: [], body: [body] },
      });
    }
    expect(engine.heldBytes - before).toBe(40 * (200 + 8 + 768));
    const commit = queue.takeAsked('commit');
    const puts = commit.kind === 'commit' ? commit.batch.puts : [];
    const held = puts.flatMap(({ body }) => body.map(({ buffer }) => buffer.byteLength));
    expect(new Set(held)).toEqual(new Set([200]));
  });

  it('keeps nothing of the buffer in which the id of a waiting message came', () => {
    const queue = new QueueUnderTest({ dedupeWindowMs: 1000 });
    queue.storeHeld = true;
    const buffer = new Uint8Array(8192).fill(97);
    const command = { kind: 'produce', id: buffer.subarray(9, 12), headers: [], body: [Uint8Array.of(1)] } as const;
    queue.step({ kind: 'produce', peer: peerNamed('p1'), acksWaiting: 0, command });
    buffer.fill(0);
    expect(queue.answerStore()).toEqual(['-> p1 "aaa" 1']);
    // The store knows the id, too.
    queue.storeHeld = false;
    queue.produce('p1', 'aaa', 'again');
    expect(queue.stats.counters).toMatchObject({ stored: 1, deduplicated: 1 });
  });

  it('gives no buffer of its own to a small message that waits for more than four commits', () => {
    const queue = new QueueUnderTest({ batchMax: 1 });
    queue.storeHeld = true;
    for (let index = 0; index < 7; index++) {
      const [id, body] = [Uint8Array.of(index), new Uint8Array(8192).fill(index).subarray(0, 200)];
      const command = { kind: 'produce', id, headers: [], body: [body] } as const;
      queue.step({ kind: 'produce', peer: peerNamed('p1'), acksWaiting: 0, command });
    }
    for (let index = 0; index < 7; index++) queue.answerStore();
    const stored = [...queue.store.rows.values()].map(({ message }) => message.body[0]!);
    expect(stored).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => new Uint8Array(200).fill(index)));
    expect(stored.map(({ buffer }) => buffer.byteLength)).toEqual([200, 200, 200, 200, 200, 8192, 8192]);
  });

  it('copies no message that fills the buffer it came in', () => {
    const queue = new QueueUnderTest();
    queue.storeHeld = true;
    const memory = new Uint8Array(1000);
    const body = [memory.subarray(0, 300), memory.subarray(300, 600), memory.subarray(600, 900)];
    const command = { kind: 'produce', id: Uint8Array.of(1), headers: [], body } as const;
    queue.step({ kind: 'produce', peer: peerNamed('p1'), acksWaiting: 0, command });
    const commit = queue.takeAsked('commit');
    const puts = commit.kind === 'commit' ? commit.batch.puts : [];
    expect(puts.flatMap((put) => put.body.map(({ buffer }) => buffer === memory.buffer))).toEqual([true, true, true]);
  });

  it('counts the frames of messages that wait for the store, except for the first eight', () => {
    const queue = new QueueUnderTest({ maxParts: 1000, intakeMaxBytes: 1_000_000 });
    queue.storeHeld = true;
    const before = queue.engine.heldBytes;
    for (const [id, frames] of [
      ['a', 8],
      ['b', 1000],
    ] as const)
      queue.produce(id, id, ...new Array<string>(frames).fill(''));
    expect(queue.engine.heldBytes - before).toBe(2 * (1 + 768) + 992 * 128);
  });

  it('is short: long messages are refused until there is room, short ones as soon as a megabyte waits for the store', () => {
    const queue = new QueueUnderTest({ maxMessageBytes: 2 ** 21, intakeMaxBytes: 2 ** 24 });
    queue.step({ kind: 'memory', isTight: true });
    expect(queue.produce('p1', 'a', 'x'.repeat(2 ** 20 + 1)).join()).toContain('Queue is full (bytes)');
    expect(queue.produce('p1', 'b', 'x').join()).not.toContain('full');
    queue.storeHeld = true;
    for (const id of ['c', 'd', 'e']) queue.produce('p1', id, 'x'.repeat(2 ** 18));
    queue.produce('p1', 'f', 'x'.repeat(2 ** 18));
    queue.storeHeld = false;
    queue.step({ kind: 'memory', isTight: false });
    expect(queue.dropped).toEqual({ 'queue-full-bytes': 2 });
    expect(queue.produce('p1', 'g', 'x'.repeat(2 ** 20)).join()).not.toContain('full');
  });

  it('is short: everything is refused where messages are kept in memory', () => {
    const queue = new QueueUnderTest({}, { storeName: 'memory' });
    queue.step({ kind: 'memory', isTight: true });
    expect(queue.produce('p1', 'a', 'x').join()).toContain('Queue is full (bytes)');
    queue.step({ kind: 'memory', isTight: false });
    expect(queue.produce('p1', 'b', 'x').join()).not.toContain('full');
    expect(queue.stats.messages).toBe(1);
  });
});
