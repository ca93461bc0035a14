/** 8/MMI inside the broker and the two documented additions (rules 25 to 27). Reads the books, changes nothing. */
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
import { list, type Listings } from '../../shared/listings.js';
import type { WorkerTable } from '../../shared/worker-table.js';
import type { OwnServices, Slot } from './own-services.js';
import type { Service, Services } from './services.js';
import { Worker } from './workers.js';

/** Of any protocol version and any option. */
const LONGEST_NAME_BYTES = 255;

/** What MMI may look at. */
export interface MmiBooks {
  readonly services: Services;
  readonly workers: WorkerTable<Worker>;
  readonly listings: Listings<Uint8Array[]>;
  readonly own: OwnServices;
}

/** True for names that only the broker may serve. */
export function isReserved(service: string): boolean {
  return service.startsWith(MMI.prefix);
}

/** True for those whose answers may be long. */
export function isListing(service: string): boolean {
  return service === MMI.services || service === MMI.workers;
}

/**
 * Body of the answer to a request under `mmi.`. The argument is the first body frame; listings take from the second one how many
 * entries to skip.
 */
export function answerMmi(request: MdpClientRequest, books: MmiBooks, additions: boolean, now: number): Uint8Array[] {
  const { version, service } = request;
  const argument = nameIn(request.body[0]);
  if (service === MMI.service) return lookUp(version, argument, books);
  if (!additions) return encodeMmiReply('501');
  const skip = decodeMmiCount(request.body[1]);
  switch (service) {
    case MMI.services: {
      const make = () => listServices(version, books, skip);
      return books.listings.answer(`services ${version} ${skip}`, books.services.size, now, make);
    }
    case MMI.workers: {
      if (argument === undefined || (argument !== '' && !hasWorkers(argument, books))) return encodeMmiReply('404');
      const make = () => listWorkers(version, argument, books, now, skip);
      const lines = books.workers.size + books.own.slots;
      return books.listings.answer(`workers ${version} ${argument} ${skip}`, lines, now, make);
    }
    default:
      return encodeMmiReply('501');
  }
}

/** The name in a frame; a frame too long for any name is not converted, whatever its size, and names nothing. */
function nameIn(frame: Uint8Array | undefined): string | undefined {
  return frame === undefined || frame.length > LONGEST_NAME_BYTES ? undefined : latin1(frame);
}

/** Rule 25: busy workers count, waiting requests do not; the asker's version decides which services it sees. */
function lookUp(version: MdpVersion, name: string | undefined, { services }: MmiBooks): Uint8Array[] {
  const workers = name === undefined ? 0 : (services.find(version, name)?.workers ?? 0);
  return encodeMmiReply(workers > 0 ? '200' : '404');
}

/** All services of both versions. One that `bridge` has joined is listed once, in the asker's version. */
function listServices(version: MdpVersion, { services }: MmiBooks, skip: number): Uint8Array[] {
  const lineOf = (service: Service): MmiServiceEntry => ({
    name: service.name,
    version: service.version === 'both' ? version : service.version,
    workers: service.workers,
    busy: service.busy,
    waiting: service.queue.size,
  });
  const { lines, more } = list(services.values(), lineOf, undefined, skip);
  return encodeMmiReply('200', lines, more);
}

/** In any version. */
export function hasWorkers(name: string, { services }: Pick<MmiBooks, 'services'>): boolean {
  return (['0.1', '0.2'] as const).some((version) => (services.find(version, name)?.workers ?? 0) > 0);
}

/** Workers of the service in both versions, or of all services when the name is empty; behind them what services inside the broker stand for. */
function listWorkers(version: MdpVersion, name: string, books: MmiBooks, now: number, skip: number): Uint8Array[] {
  const lineOf = (item: Worker | Slot) => (item instanceof Worker ? describe(item, now) : describeSlot(item, version));
  const matches = ({ service }: Worker | Slot) => name === '' || service.name === name;
  const { lines, more } = list(allWorkers(books), lineOf, matches, skip);
  return encodeMmiReply('200', lines, more);
}

function* allWorkers({ workers, own }: MmiBooks): IterableIterator<Worker | Slot> {
  yield* workers.values();
  for (const each of own.values()) yield* each.slots();
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
