/** EventMQ broker: what an admin is told (rules 29 and 30), the product's JSON, spaced as Python does. Reads the books, changes nothing. */
import { encodeEmqpJson } from '@proj/frames/emqp';
import type { MemoryStats, Peer } from '@proj/transport';
import { list, LISTED_MAX, type Listing, Listings } from '../../shared/listings.js';
import type { BrokerState } from './state.js';
import type { Queue, QueueTotals } from './queues.js';

const fromUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const UNPRINTABLE = /\p{C}/u;

/** Which answer an admin asks for, and what makes it. */
const ANSWERS = { status, 'show-workers': showWorkers, 'show-schedulers': showSchedulers } as const;

/** What an admin may ask for. */
export type AdminQuestion = keyof typeof ANSWERS;

/** The answers to admins, of which a long one is kept for a moment. */
export class AdminDesk {
  readonly #books: BrokerState;
  readonly #memory: () => MemoryStats | undefined;
  readonly #listings = new Listings<string>();

  /** `memory`: what the process holds for peers; `undefined` where it has no budget. */
  constructor(books: BrokerState, memory: () => MemoryStats | undefined) {
    this.#books = books;
    this.#memory = memory;
  }

  answer(question: AdminQuestion, now: number): string {
    const { queues, peers } = this.#books;
    // Totals of names that are gone are few.
    const lines = queues.size + peers.size;
    return this.#listings.answer(question, lines, now, () =>
      encodeEmqpJson(ANSWERS[question](this.#books, this.#memory())),
    );
  }
}

/** The keys of the product; what is too much for an answer is counted by key in `not_shown`, which is there only then. */
function answerOf(parts: Readonly<Record<string, Listing<readonly [string, unknown]>>>): object {
  const all = Object.entries(parts);
  const cut = all.filter(([, { more }]) => more > 0).map(([key, { more }]): [string, number] => [key, more]);
  const shown = all.map(([key, { lines }]): [string, unknown] => [key, Object.fromEntries(lines)]);
  return Object.fromEntries(cut.length > 0 ? [...shown, ['not_shown', Object.fromEntries(cut)]] : shown);
}

function status({ queues, peers }: BrokerState, memory: MemoryStats | undefined): object {
  const counted = (count: (queue: Queue) => number) =>
    list(
      queues.values(),
      (queue): [string, number] => [queue.name, count(queue)],
      (queue) => count(queue) > 0,
    );
  const ended = (figure: (totals: QueueTotals) => number) =>
    list(
      queues.totals(),
      ([name, totals]): [string, number] => [name, figure(totals)],
      ([, { processed }]) => processed > 0,
    );
  const counts = answerOf({
    inflight_messages_by_queue: counted(({ inFlight }) => inFlight),
    latency_messages_by_queue: ended(({ latencyMs }) => latencyMs),
    max_latency_messages_by_queue: ended(({ maxLatencyMs }) => maxLatencyMs),
    waiting_messages_by_queue: counted(({ waiting }) => waiting.size),
    processed_messages_by_queue: ended(({ processed }) => processed),
    processed_messages_by_worker: list(
      peers.workers(),
      ({ peer, processed }): [string, number] => [idOf(peer), processed],
      ({ processed }) => processed > 0,
    ),
  });
  return memory === undefined ? counts : { ...counts, memory: memoryOf(memory) };
}

function memoryOf({ maxBytes, heldBytes, level, relievedBytes }: MemoryStats): object {
  return { max_bytes: maxBytes, held_bytes: heldBytes, level, relieved_bytes: relievedBytes };
}

function showWorkers({ queues, peers }: BrokerState): object {
  return answerOf({
    connected_workers: upTo(
      peers.workers(),
      ({ seats }) => seats.length,
      (worker) => [
        idOf(worker.peer),
        {
          queues: worker.seats.map(({ weight, queue }) => [weight, queue.name]),
          hb: worker.lastSeen / 1000,
          available_slots: worker.slots,
        },
      ],
    ),
    connected_queues: upTo(
      [...queues.values()].filter(({ seats }) => seats.size > 0),
      ({ seats }) => seats.size,
      ({ name, seats }) => [name, list(seats, ({ weight, worker }) => [weight, idOf(worker.peer)]).lines],
    ),
  });
}

/** As {@link list}, where an entry may be long: ends behind the one with which there are as many parts as a listing may have lines. */
function upTo<Item>(
  items: Iterable<Item>,
  partsOf: (item: Item) => number,
  entryOf: (item: Item) => readonly [string, unknown],
): Listing<readonly [string, unknown]> {
  let parts = 0;
  let more = 0;
  const lines: (readonly [string, unknown])[] = [];
  for (const item of items) {
    if (parts >= LISTED_MAX) {
      more++;
      continue;
    }
    parts += Math.max(1, partsOf(item));
    lines.push(entryOf(item));
  }
  return { lines, more };
}

function showSchedulers({ assignments }: BrokerState): object {
  return answerOf({
    connected_schedulers: list(assignments.values(), ({ peer, lastSeen }): [string, unknown] => [
      idOf(peer),
      { hb: lastSeen / 1000 },
    ]),
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
