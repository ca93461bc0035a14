// Producer, queue and consumer of both makers in all combinations (sections 1 and 3 of docs/protocols/pzq.md).
import { describe, expect, it } from 'vitest';
import { BODIES, lengths } from '../test-peers.js';
import type { Maker } from '../test-peers.js';
import { stage } from './stage.js';

const theater = stage();
const MAKERS: readonly Maker[] = ['ours', 'python'];
const MIXTURES = MAKERS.flatMap((producer) =>
  MAKERS.flatMap((queue) => MAKERS.map((consumer) => [producer, queue, consumer] as const)),
).filter((makers) => new Set(makers).size > 1);

describe.each(MIXTURES)('PZQ: producer %s, queue %s, consumer %s', (producer, queue, consumer) => {
  it('rules 1, 2 and 10: bodies of any frames are stored, acknowledged and delivered, byte for byte and in order', async () => {
    const { receive, send } = await theater.queueBy(queue);
    await theater.storeBy(producer, receive, BODIES);
    const taken = await theater.takeBy(consumer, send, BODIES.length);
    expect(taken.map(lengths)).toEqual(BODIES.map(lengths));
    expect(taken.every((body, i) => Buffer.concat(body).equals(Buffer.concat(BODIES[i]!)))).toBe(true);
  });

  it('rules 3 and 10: 1000 messages at once come out in order', async () => {
    const { receive, send } = await theater.queueBy(queue);
    const bodies = Array.from({ length: 1000 }, (_, number) => [Buffer.from(`message ${number}`)]);
    await theater.storeBy(producer, receive, bodies);
    const taken = await theater.takeBy(consumer, send, bodies.length);
    expect(taken.map(String)).toEqual(bodies.map(String));
  });
});
