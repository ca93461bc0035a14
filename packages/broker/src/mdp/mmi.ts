/** 8/MMI inside the broker and the two documented additions (rules 25 to 27). Reads the books, changes nothing. */
import { latin1 } from '@proj/frames';
import {
  encodeMmiReply,
  MMI,
  type MdpClientRequest,
  type MdpVersion,
  type MmiServiceEntry,
  type MmiWorkerEntry,
} from '@proj/frames/mdp';
import type { Roster } from '../parts/roster.js';
import type { Service, Services } from './services.js';
import type { Worker } from './workers.js';

/** Of any protocol version and any option. */
const LONGEST_NAME_BYTES = 255;

/** What MMI may look at. */
export interface MmiBooks {
  readonly services: Services;
  readonly workers: Roster<Worker>;
}

/** True for names that only the broker may serve. */
export function isReserved(service: string): boolean {
  return service.startsWith(MMI.prefix);
}

/** Body of the answer to a request under `mmi.`. The argument is the first body frame; others are ignored. */
export function answerMmi(request: MdpClientRequest, books: MmiBooks, additions: boolean, now: number): Uint8Array[] {
  const argument = nameIn(request.body[0]);
  if (request.service === MMI.service) return lookUp(request.version, argument, books);
  if (additions && request.service === MMI.services) return encodeMmiReply('200', listServices(request.version, books));
  if (additions && request.service === MMI.workers) return listWorkers(argument, books, now);
  return encodeMmiReply('501');
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
function listServices(version: MdpVersion, { services }: MmiBooks): MmiServiceEntry[] {
  return Array.from(services.values(), (service: Service) => ({
    name: service.name,
    version: service.version === 'both' ? version : service.version,
    workers: service.workers,
    busy: service.busy,
    waiting: service.queue.size,
  }));
}

/** Workers of the service in both versions, or of all services when the name is empty. */
function listWorkers(name: string | undefined, { workers }: MmiBooks, now: number): Uint8Array[] {
  const entries: MmiWorkerEntry[] = [];
  for (const worker of workers.values()) {
    if (name === '' || worker.service.name === name) entries.push(describe(worker, now));
  }
  return name !== '' && entries.length === 0 ? encodeMmiReply('404') : encodeMmiReply('200', entries);
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
