// A consumer that does not read while it works, for longer than a silent connection may last, does not count as silent.
import { setTimeout as work } from 'node:timers/promises';
import { LazyPirateClient, PzqConsumer, PzqProducer } from '@proj/client';
import { decodePzqMonitorReply, decodePzqMonitorText } from '@proj/frames/pzq';
import { expect, it } from 'vitest';
import { transport } from '../../transport.js';
import { stage, stop } from './stage.js';

/** After 8 s of silence a connection is closed. */
const HANDLER_MS = 10_000;
const PREFETCH = 4;
const MESSAGES = 2 * PREFETCH;

const theater = stage();

it('rule 24: handlers that take longer than the silence limit, at a full prefetch, cause no redelivery', async () => {
  const endpoints = await theater.endpoints();
  const queue = await theater.queue(endpoints, 'memory:', { 'ack-timeout-ms': 6 * HANDLER_MS });
  const producer = theater.keep(new PzqProducer({ transport, endpoints: [endpoints.receive] }));
  const sent = Array.from({ length: MESSAGES }, (_, number) => `job ${number}`);
  for (const text of sent) await producer.send([text]);

  const consumer = theater.keep(new PzqConsumer({ transport, endpoints: [endpoints.send], prefetch: PREFETCH }));
  const handled: string[] = [];
  const end = new AbortController();
  const running = consumer.run(
    async (message) => {
      const text = String(message.body[0]);
      await work(HANDLER_MS);
      handled.push(text);
      if (handled.length === MESSAGES) end.abort();
    },
    { concurrency: PREFETCH, signal: end.signal },
  );
  await Promise.race([running.catch(() => undefined), queue.lost()]);
  await consumer.drain();
  const monitor = theater.keep(new LazyPirateClient({ transport, endpoints: [endpoints.monitor] }));
  const reply = decodePzqMonitorReply(await monitor.request('MONITOR'));
  const figures = reply.kind === 'malformed' ? undefined : decodePzqMonitorText(reply.text);
  expect([handled.sort(), figures?.get('redelivered_total')]).toEqual([sent, '0']);
  expect(await stop(queue)).toBe(0);
});
