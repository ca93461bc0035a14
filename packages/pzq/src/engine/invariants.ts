/** PZQ: what must be true of the queue engine's state between two steps. */
import type { Message } from './delivery/in-flight.js';
import type { QueueState, Way } from './state.js';

/** Throws an `Error` that names the first fact that does not hold. */
export function assertState(state: QueueState): void {
  let count = 0;
  let bytes = 0;
  for (const way of state.ways) {
    const held = assertWay(way, state);
    count += held.count;
    bytes += held.bytes;
  }
  const { settings, inFlight, out } = state;
  check(count === inFlight.count && bytes === inFlight.bytes, 'what is offered, in flight or resting is counted');
  check(count <= settings.maxInFlight, 'no more than maxInFlight');
  check(bytes <= settings.maxInFlightBytes || count === 1, 'no more than maxInFlightBytes');
  check(out.counters.redelivered <= out.counters.delivered, 'a redelivery is a delivery');
  assertProducers(state);
}

function assertWay(
  { side, window }: Way,
  { settings, store, pending, commits }: QueueState,
): { count: number; bytes: number } {
  const places: Record<Message['where'], number> = {
    ready: 0,
    offered: 0,
    'in-flight': 0,
    returned: 0,
    resting: 0,
    gone: 0,
  };
  let ready = 0;
  let held = 0;
  let leased = 0;
  for (const message of side.messages()) {
    places[message.where]++;
    if (message.where === 'ready') ready += message.bytes;
    else held += message.bytes;
    if (message.where === 'in-flight') leased += message.bytes;
    check(side.find(message.seq) === message, 'a message is found by its sequence');
    check(!window.hides(message.seq), 'what is settled is not in memory');
    check(store.shared || message.seq <= window.top, 'what is in memory is in the store');
    check(!message.givenBack || message.where === 'offered', 'only an open offer is given back ahead of time');
    check(Number.isFinite(message.lease.at) === (message.where === 'in-flight'), 'what is in flight has a lease');
  }
  check(places.gone + places.returned === 0, 'what is gone is forgotten, what came back has a place');
  check(places.ready === side.ready && ready === side.readyBytes, 'what is ready is counted');
  check(places['in-flight'] === side.inFlight && places.resting === side.resting, 'leases and rests are counted');
  check(leased === side.inFlightBytes, 'bytes in flight are counted');
  check(places.offered <= (side.offering ? 1 : 0), 'one offer at a time');
  check(window.cursor <= window.top, 'the cursor is within the window');
  const isQuiet = pending.empty && commits.changing === undefined && !window.reading;
  check(!isQuiet || window.hidden === 0, 'nothing stays hidden once it is on disk');
  check(side.ready <= 2 * settings.windowMax + settings.takeMax + settings.maxInFlight, 'memory is bounded');
  return { count: places.offered + places['in-flight'] + places.resting, bytes: held };
}

function assertProducers({ settings, producers, commits, phase }: QueueState): void {
  const { entries, puts, putBytes } = producers.sizes;
  check(entries === producers.waiting, 'producers count their answers');
  check(
    phase === 'drained' || entries === producers.queued + commits.committing,
    'an answer waits in the queue or in the commit',
  );
  check(puts <= entries && puts <= settings.intakeMax, 'what waits for a commit is bounded');
  check(putBytes <= settings.intakeMaxBytes || puts === 1, 'its bytes are bounded');
}

function check(holds: boolean, fact: string): void {
  if (!holds) throw new Error(`broken invariant: ${fact}`);
}
