/** EventMQ broker, what an admin is told (rules 29 and 30): the product's JSON, spaced as Python does. Reads the books, changes nothing. */
import { encodeEmqpJson } from '@proj/frames/emqp';
import type { Peer } from '@proj/transport';
import type { Books } from './books.js';
import type { Queue } from './queues.js';

const fromUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const UNPRINTABLE = /\p{C}/u;

/** Answer to STATUS. */
export function statusAsJson({ queues, peers }: Books): string {
  const open = [...queues.values()];
  const ended = [...queues.totals()].filter(([, { processed }]) => processed > 0);
  const counted = (count: (queue: Queue) => number) =>
    fromEntries(open.map((queue): [string, number] => [queue.name, count(queue)]).filter(([, number]) => number > 0));
  return encodeEmqpJson({
    inflight_messages_by_queue: counted((queue) => queue.inFlight),
    latency_messages_by_queue: fromEntries(ended.map(([name, { latencyMs }]) => [name, latencyMs])),
    max_latency_messages_by_queue: fromEntries(ended.map(([name, { maxLatencyMs }]) => [name, maxLatencyMs])),
    waiting_messages_by_queue: counted((queue) => queue.waiting.size),
    processed_messages_by_queue: fromEntries(ended.map(([name, { processed }]) => [name, processed])),
    processed_messages_by_worker: fromEntries(
      Array.from(peers.workers(), ({ peer, processed }): [string, number] => [idOf(peer), processed]).filter(
        ([, processed]) => processed > 0,
      ),
    ),
  });
}

/** Answer to ROUTER_SHOW_WORKERS. */
export function workersAsJson({ queues, peers }: Books): string {
  const workers = Array.from(peers.workers(), (worker): [string, unknown] => [
    idOf(worker.peer),
    {
      queues: worker.seats.map(({ weight, queue }) => [weight, queue.name]),
      hb: worker.lastSeen / 1000,
      available_slots: worker.slots,
    },
  ]);
  const served = [...queues.values()].filter(({ seats }) => seats.size > 0);
  return encodeEmqpJson({
    connected_workers: fromEntries(workers),
    connected_queues: fromEntries(
      served.map(({ name, seats }) => [name, Array.from(seats, ({ weight, worker }) => [weight, idOf(worker.peer)])]),
    ),
  });
}

/** Answer to ROUTER_SHOW_SCHEDULERS. */
export function schedulersAsJson({ assignments }: Books): string {
  return encodeEmqpJson({
    connected_schedulers: fromEntries(
      Array.from(assignments.values(), ({ peer, lastSeen }) => [idOf(peer), { hb: lastSeen / 1000 }]),
    ),
  });
}

/** The routing id as text if it is printable, else as hex. */
function idOf({ id }: Peer): string {
  try {
    const text = fromUtf8.decode(id);
    if (!UNPRINTABLE.test(text)) return text;
  } catch {
    // Not UTF-8.
  }
  return `hex:${Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** An object with these keys, whatever names peers choose. */
function fromEntries(entries: Iterable<readonly [string, unknown]>): object {
  return Object.fromEntries(entries);
}
