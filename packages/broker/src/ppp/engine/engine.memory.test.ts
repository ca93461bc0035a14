import { beforeEach, describe, expect, it } from 'vitest';
import { peerNamed } from '../../../test/keyed.js';
import { QueueUnderTest } from '../../../test/ppp/under-test.js';
import { RESERVE_BYTES } from '../../shared/budget.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest({ requestQueueMaxBytes: 2 ** 20, maxMessageBytes: 2 ** 20 });
});

describe('rule 14: memory', () => {
  // As text, or as a frame.
  it.each([
    [200, 8192],
    [300, 600],
  ])('of waiting requests of %i bytes is their own size, not that of the block they came in', (length, most) => {
    const { engine } = queue;
    const before = engine.heldBytes;
    const blocks = new Set<ArrayBufferLike>();
    for (let index = 0; index < 100; index++) {
      const block = new Uint8Array(8192).fill(index);
      blocks.add(block.buffer);
      const content = [block.subarray(100, 100 + length)];
      const command = { kind: 'client-request', hops: [], content } as const;
      engine.step({ kind: 'message', socket: 'frontend', peer: peerNamed('c1'), command }, 0);
    }
    engine.assertInvariants();
    expect(engine.heldBytes - before).toBeLessThan(100 * 1500);
    const sent: Uint8Array[] = [];
    for (let index = 0; index < 100; index++) {
      const ready = {
        kind: 'message',
        socket: 'backend',
        peer: peerNamed(`w${index}`),
        command: { kind: 'ready' },
      } as const;
      for (const effect of engine.step(ready, 0))
        if (effect.kind === 'send' && effect.command.kind === 'request') sent.push(...effect.command.content);
    }
    expect(sent.map(([first]) => first)).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(sent.filter(({ buffer }) => blocks.has(buffer) || buffer.byteLength > most).length).toBeLessThan(4);
    engine.assertInvariants();
  });

  it('is short: a long request that would have to wait is refused, a short one or one that a worker takes at once is not', () => {
    const long = 'x'.repeat(RESERVE_BYTES);
    queue = new QueueUnderTest();
    queue.ready('w1');
    queue.step({ kind: 'memory', isTight: true });
    expect(queue.request('c1', long)).toEqual([expect.stringContaining('w1')]);
    queue.request('c1', 'y');
    expect(queue.dropped).toEqual({});
    queue.request('c1', long);
    expect(queue.dropped).toEqual({ 'queue-full': 1 });
    queue.step({ kind: 'memory', isTight: false });
    queue.request('c1', long);
    expect(queue.dropped).toEqual({ 'queue-full': 1 });
  });
});
