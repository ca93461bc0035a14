/**
 * PZQ: a producer and a consumer. The measured answer is the acknowledgement; a message that never reaches the consumer also
 * counts as lost.
 */
import { PzqConsumer, PzqProducer } from '@proj/client';
import { PATIENCE_MS } from './probe.js';
import type { Honest } from './probe.js';

/** The clients of a PZQ queue. */
export function pzq(): Honest {
  /** Stored, but not delivered yet. */
  const open = new Set<string>();
  let producer: PzqProducer;
  let missing = 0;
  let wake = (): void => undefined;
  const ask = async (text: string): Promise<void> => {
    const mine = `honest ${text}`;
    open.add(mine);
    try {
      await producer.send(mine);
    } catch (error) {
      open.delete(mine);
      throw error;
    }
  };
  const drain = async (): Promise<void> => {
    const end = performance.now() + 2 * PATIENCE_MS;
    while (open.size > 0 && performance.now() < end)
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 1000);
      });
    missing += open.size;
    open.clear();
  };
  return {
    async start(at, transport) {
      producer = new PzqProducer({ transport, endpoints: [at.receive!], timeoutMs: PATIENCE_MS });
      const consumer = new PzqConsumer({ transport, endpoints: [at.send!], prefetch: 100 });
      const heard = (text: string): void => {
        if (open.delete(text)) wake();
      };
      void consumer.run(({ body }) => heard(String(body[0])), { concurrency: 100 });
      await ask('registered');
      await drain();
    },
    ask,
    drain,
    losses: () => missing,
  };
}
