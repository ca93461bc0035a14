/** PZQ: a producer and a consumer. */
import { PzqConsumer, PzqProducer } from '@proj/client';
import { PATIENCE_MS } from './probe.js';
import type { Honest } from './probe.js';

/** Who is served by a PZQ queue. */
export function pzq(): Honest {
  const open = new Map<string, () => void>();
  let producer: PzqProducer;
  const ask = async (text: string): Promise<void> => {
    const mine = `honest ${text}`;
    const came = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('what was stored did not come')), PATIENCE_MS);
      open.set(mine, () => {
        clearTimeout(timer);
        resolve();
      });
    });
    came.catch(() => undefined);
    await producer.send(mine);
    await came.finally(() => open.delete(mine));
  };
  return {
    async start(at, transport) {
      producer = new PzqProducer({ transport, endpoints: [at.receive!], timeoutMs: PATIENCE_MS });
      const consumer = new PzqConsumer({ transport, endpoints: [at.send!], prefetch: 100 });
      void consumer.run((message) => open.get(String(message.body[0]))?.(), { concurrency: 100 });
      await ask('registered');
    },
    ask,
    losses: () => 0,
  };
}
