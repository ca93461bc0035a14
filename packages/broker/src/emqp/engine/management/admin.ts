/** EventMQ broker: its answers to admins (rules 29 and 30): the product's JSON, with Python's spacing. Read-only. */
import { equalBytes, fromLatin1 } from '@proj/frames';
import { type EmqpAdminReply, encodeEmqpJson } from '@proj/frames/emqp';
import type { MemoryStats, Peer } from '@proj/transport';
import { hexOf } from '@proj/transport/engine';
import { list, LISTED_MAX, type Listing, Listings } from '../../../shared/listings.js';
import type { BrokerState } from '../state.js';
import type { Queue, QueueTotals } from '../jobs/queues.js';

const fromUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const toUtf8 = new TextEncoder();
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const UNPRINTABLE = /\p{C}/u;

/** The admins' questions, and the functions that answer them. */
const ANSWERS = { status, 'show-workers': showWorkers, 'show-schedulers': showSchedulers } as const;

/** A question of an admin. */
export type AdminQuestion = keyof typeof ANSWERS;

/** An answer, and its bytes: everybody who asks meanwhile gets the same. */
type Answer = Pick<EmqpAdminReply, 'json' | 'encoded'>;

/** Answers admins. Caches a long answer for a moment. */
export class AdminAnswers {
  readonly #state: BrokerState;
  readonly #memory: () => MemoryStats | undefined;
  readonly #listings = new Listings<Answer>();

  constructor(state: BrokerState, memory: () => MemoryStats | undefined) {
    this.#state = state;
    this.#memory = memory;
  }

  answer(question: AdminQuestion, now: number): Answer {
    const { queues, peers } = this.#state;
    // Totals of forgotten queues are few.
    const lines = queues.size + peers.size;
    return this.#listings.answer(question, lines, now, () => {
      const json = encodeEmqpJson(ANSWERS[question](this.#state, this.#memory()));
      // Python escapes whatever is not ASCII.
      return { json, encoded: fromLatin1(json) };
    });
  }
}

/** The product's keys; `not_shown`, only if needed, counts by key what one answer has no room for. */
function answerOf(parts: Readonly<Record<string, Listing<readonly [string, unknown]>>>): object {
  const all = Object.entries(parts);
  const cut = all.filter(([, { more }]) => more > 0).map(([key, { more }]): [string, number] => [key, more]);
  const shown = all.map(([key, { lines }]): [string, unknown] => [key, new Map(lines)]);
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
      ({ subscriptions }) => subscriptions.length,
      (worker) => [
        idOf(worker.peer),
        {
          queues: worker.subscriptions.map(({ weight, queue }) => [weight, queue.name]),
          hb: worker.lastSeen / 1000,
          available_slots: worker.slots,
        },
      ],
    ),
    connected_queues: upTo(
      [...queues.values()].filter(({ subscriptions }) => subscriptions.size > 0),
      ({ subscriptions }) => subscriptions.size,
      ({ name, subscriptions }) => [
        name,
        list(subscriptions, ({ weight, worker }) => [weight, idOf(worker.peer)]).lines,
      ],
    ),
  });
}

/** Like {@link list} for long entries: ends after the entry that fills a listing's number of lines with its parts. */
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

/** The routing id as text if printable, otherwise in hex. A decoder that throws would take longer than the rest of a listing. */
function idOf(peer: Peer): string {
  const { key, id } = peer;
  if (PRINTABLE_ASCII.test(key)) return key;
  if (!id.some((byte) => byte < 0x20)) {
    const text = fromUtf8.decode(id);
    if (!UNPRINTABLE.test(text) && equalBytes(toUtf8.encode(text), id)) return text;
  }
  return `hex:${hexOf(peer)}`;
}
