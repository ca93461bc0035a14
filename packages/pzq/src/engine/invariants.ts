/** What must be true of the PZQ engine's books between two steps. */
import type { PzqCounters } from './counters.js';
import type { ProducerSide } from './producer-side.js';
import type { InFlight, Whereabouts } from './message.js';
import type { ConsumerSide } from './consumer-side.js';
import type { PzqSettings } from './settings.js';
import type { Backlog } from './backlog.js';

/** Everything the engine keeps. */
export interface QueueState {
  readonly settings: PzqSettings;
  readonly ways: readonly { readonly outlet: ConsumerSide; readonly shelf: Backlog }[];
  readonly inFlight: InFlight;
  readonly intake: ProducerSide;
  /** Producers' messages in the commit under way. */
  readonly committing: number;
  readonly counters: PzqCounters;
  readonly shared: boolean;
  readonly drained: boolean;
}

/** Throws an `Error` that names the first fact that does not hold. */
export function assertBooks(books: QueueState): void {
  let count = 0;
  let bytes = 0;
  for (const { outlet, shelf } of books.ways) {
    const held = assertOutlet(outlet, shelf, books);
    count += held.count;
    bytes += held.bytes;
  }
  const { settings, inFlight, counters } = books;
  check(count === inFlight.count && bytes === inFlight.bytes, 'what is offered, in flight or resting is counted');
  check(count <= settings.maxInFlight, 'no more than maxInFlight');
  check(bytes <= settings.maxInFlightBytes || count === 1, 'no more than maxInFlightBytes');
  check(counters.redelivered <= counters.delivered, 'a redelivery is a delivery');
  assertIntake(books);
}

function assertOutlet(
  outlet: ConsumerSide,
  shelf: Backlog,
  { settings, shared }: QueueState,
): { count: number; bytes: number } {
  const places: Record<Whereabouts, number> = {
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
  for (const message of outlet.messages()) {
    places[message.where]++;
    if (message.where === 'ready') ready += message.bytes;
    else held += message.bytes;
    if (message.where === 'in-flight') leased += message.bytes;
    check(outlet.find(message.seq) === message, 'a message is found by its sequence');
    check(!shelf.hides(message.seq), 'what is settled is not in memory');
    check(shared || message.seq <= shelf.top, 'what is in memory is in the store');
    check(!message.givenBack || message.where === 'offered', 'only an open offer is given back ahead of time');
    check(Number.isFinite(message.lease.at) === (message.where === 'in-flight'), 'what is in flight has a lease');
  }
  check(places.gone + places.returned === 0, 'what is gone is forgotten, what came back has a place');
  check(places.ready === outlet.ready && ready === outlet.readyBytes, 'what is ready is counted');
  check(places['in-flight'] === outlet.inFlight && places.resting === outlet.resting, 'leases and rests are counted');
  check(leased === outlet.inFlightBytes, 'bytes in flight are counted');
  check(places.offered <= (outlet.offering ? 1 : 0), 'one offer at a time');
  check(shelf.cursor <= shelf.top, 'the cursor is within the shelf');
  check(outlet.ready <= 2 * settings.windowMax + settings.takeMax + settings.maxInFlight, 'memory is bounded');
  return { count: places.offered + places['in-flight'] + places.resting, bytes: held };
}

function assertIntake({ settings, intake, committing, drained }: QueueState): void {
  const { entries, puts, putBytes } = intake.sizes;
  check(entries === intake.waiting, 'producers count their answers');
  check(drained || entries === intake.queued + committing, 'an answer waits in the queue or in the commit');
  check(puts <= entries && puts <= settings.intakeMax, 'what waits for a commit is bounded');
  check(putBytes <= Math.max(settings.intakeMaxBytes, settings.maxMessageBytes), 'its bytes are bounded');
}

function check(holds: boolean, fact: string): void {
  if (!holds) throw new Error(`broken invariant: ${fact}`);
}
