/** 8/MMI inside the broker and our two additions (rules 25 to 27). Reads the state and changes nothing. */
import { latin1 } from '@proj/frames';
import {
  decodeMmiCount,
  encodeMmiReply,
  MMI,
  type MdpClientRequest,
  type MdpVersion,
  type MmiServiceEntry,
  type MmiWorkerEntry,
} from '@proj/frames/mdp';
import { list } from '../../../shared/listings.js';
import { type Service, type Slot, Worker } from '../records.js';
import type { BrokerState } from '../state.js';

/** The longest service name in any protocol version. */
const LONGEST_NAME_BYTES = 255;

/** True for names that only the broker itself may serve. */
export function isReserved(service: string): boolean {
  return service.startsWith(MMI.prefix);
}

/** True for the names whose answers may be long. */
export function isListing(service: string): boolean {
  return service === MMI.services || service === MMI.workers;
}

/**
 * The body of the answer to a request under `mmi.`. The first body frame is the argument; the second one tells listings how many entries
 * to skip.
 */
export function answerMmi(
  request: MdpClientRequest,
  state: BrokerState,
  additions: boolean,
  now: number,
): Uint8Array[] {
  const { version, service } = request;
  const argument = nameIn(request.body[0]);
  if (service === MMI.service) return lookUp(version, argument, state);
  if (!additions) return encodeMmiReply('501');
  const skip = decodeMmiCount(request.body[1]);
  switch (service) {
    case MMI.services: {
      const make = () => listServices(version, state, skip);
      return state.listings.answer(`services ${version} ${skip}`, state.services.size, now, make);
    }
    case MMI.workers: {
      if (argument === undefined || (argument !== '' && !hasWorkers(argument, state))) return encodeMmiReply('404');
      const make = () => listWorkers(version, argument, state, now, skip);
      const lines = state.workers.size + state.own.slots;
      return state.listings.answer(`workers ${version} ${argument} ${skip}`, lines, now, make);
    }
    default:
      return encodeMmiReply('501');
  }
}

/** The name in a frame; `undefined` for a frame too long for any name, which is not decoded. */
function nameIn(frame: Uint8Array | undefined): string | undefined {
  return frame === undefined || frame.length > LONGEST_NAME_BYTES ? undefined : latin1(frame);
}

/** Rule 25: busy workers count, waiting requests do not. The client sees the services of its own version. */
function lookUp(version: MdpVersion, name: string | undefined, { services }: BrokerState): Uint8Array[] {
  const workers = name === undefined ? 0 : (services.find(version, name)?.workers ?? 0);
  return encodeMmiReply(workers > 0 ? '200' : '404');
}

/** All services of both versions. One that `bridge` joins is listed once, in the client's version. */
function listServices(version: MdpVersion, { services }: BrokerState, skip: number): Uint8Array[] {
  const lineOf = (service: Service): MmiServiceEntry => ({
    name: service.name,
    version: service.version === 'both' ? version : service.version,
    workers: service.workers,
    busy: service.busy,
    waiting: service.queue.size,
    requests: service.figures.requests,
  });
  const { lines, more } = list(services.values(), lineOf, undefined, skip);
  return encodeMmiReply('200', lines, more);
}

/** True if the service has workers in any version. */
export function hasWorkers(name: string, { services }: BrokerState): boolean {
  return (['0.1', '0.2'] as const).some((version) => (services.find(version, name)?.workers ?? 0) > 0);
}

/** The workers of a service in both versions, or of all services if the name is empty; then the workers that services inside the broker count as. */
function listWorkers(version: MdpVersion, name: string, state: BrokerState, now: number, skip: number): Uint8Array[] {
  const lineOf = (item: Worker | Slot) => (item instanceof Worker ? describe(item, now) : describeSlot(item, version));
  const matches = ({ service }: Worker | Slot) => name === '' || service.name === name;
  const { lines, more } = list(allWorkers(state), lineOf, matches, skip);
  return encodeMmiReply('200', lines, more);
}

function* allWorkers({ workers, own }: BrokerState): IterableIterator<Worker | Slot> {
  yield* workers.values();
  for (const each of own.services.values()) yield* each.slots();
}

function describeSlot({ service, busy }: Slot, version: MdpVersion): MmiWorkerEntry {
  const spoken = service.version === 'both' ? version : service.version;
  return { id: '', service: service.name, version: spoken, busy, lastSeenMs: 0 };
}

function describe(worker: Worker, now: number): MmiWorkerEntry {
  return {
    id: Array.from(worker.peer.id, (byte) => byte.toString(16).padStart(2, '0')).join(''),
    service: worker.service.name,
    version: worker.framing.version,
    busy: worker.request !== undefined,
    lastSeenMs: Math.round(now - worker.lastSeen),
  };
}
