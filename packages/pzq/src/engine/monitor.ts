/** PZQ: what the queue reports about itself, as figures and as the monitor's text. Rule 22 of docs/protocols/pzq.md. */
import { encodePzqMonitorText } from '@proj/frames/pzq';
import type { MemoryStats } from '@proj/transport';
import type { PzqStats } from './events.js';
import type { QueueState } from './state.js';

/** Current sizes and totals so far. */
export function statsOf({ commits, dead, out, pending, producers, queue, store }: QueueState): PzqStats {
  const { messages, bytes, delayed, dead: deadLetters, storeBytes } = commits.counts;
  const { inFlight, inFlightBytes, resting, ready } = queue.side;
  const elsewhere = delayed + inFlight + resting + pending.removals + pending.burials;
  const { counters } = out;
  return {
    counters: { ...counters, dropped: { ...counters.dropped } },
    messages,
    bytes,
    inFlight: inFlight + (dead?.side.inFlight ?? 0),
    inFlightBytes: inFlightBytes + (dead?.side.inFlightBytes ?? 0),
    ready: Math.max(messages - elsewhere, 0),
    delayed: delayed + resting,
    dead: deadLetters,
    storeBytes: store.name === 'memory' ? bytes : storeBytes,
    window: ready,
    producerAcksPending: producers.waiting,
    store: store.name,
    storeState: commits.corrupt ? 'corrupt' : commits.refusing === undefined ? 'ok' : 'refusing',
  };
}

/** The original's lines first, in its order; new ones only at the end. `memory`: if there is a budget. */
export function monitorText(stats: PzqStats, uptimeMs: number, version: string, memory?: MemoryStats): string {
  const { counters } = stats;
  return encodePzqMonitorText([
    ['messages', stats.messages],
    ['messages_inflight', stats.inFlight],
    ['db_size', stats.storeBytes],
    ['inflight_db_size', stats.inFlightBytes],
    ['syncs', counters.commits],
    ['expired_messages', counters.timedOut],
    ['messages_in_flight', stats.inFlight],
    ['in_flightdb_size', stats.inFlightBytes],
    ['ready_messages', stats.ready],
    ['delayed_messages', stats.delayed],
    ['dead_messages', stats.dead],
    ['stored_total', counters.stored],
    ['refused_total', counters.refused],
    ['acked_total', counters.acked],
    ['nacked_total', counters.nacked],
    ['redelivered_total', counters.redelivered],
    ['deduplicated_total', counters.deduplicated],
    ['ttl_expired_total', counters.expired],
    ['producer_acks_pending', stats.producerAcksPending],
    ['store', stats.store],
    ['store_state', stats.storeState],
    ['uptime_seconds', Math.floor(uptimeMs / 1000)],
    ['version', version],
    ...(memory === undefined ? [] : linesOf(memory)),
  ]);
}

function linesOf({ maxBytes, heldBytes, level, relievedBytes }: MemoryStats): [string, string | number][] {
  return [
    ['memory_max_bytes', maxBytes],
    ['memory_held_bytes', heldBytes],
    ['memory_level', level],
    ['memory_relieved_bytes', relievedBytes],
  ];
}
