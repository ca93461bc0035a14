/** What a broker and its workers receive and do, as typed facts: the only source of facts for checkers. */
import { latin1 } from '@proj/frames';
import {
  decodeNfpAtBroker,
  decodeNfpAtClient,
  decodeNfpAtWorker,
  decodeNfpDispatch,
  decodeNfpJson,
} from '@proj/frames/nfp';
import type { NfpBody, NfpDispatch, NfpToBroker, NfpToClient, NfpToWorker } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { MessageEvent, NetworkEvent } from '@proj/transport/virtual';
import type { Simulation, Watcher } from '../kit/simulation.js';

/** The part of a job that is on a worker's disk. */
export interface JobRecord {
  readonly seq: number;
  readonly state: 'PENDING' | 'STARTED' | 'COMPLETED' | 'FAILED' | 'CANCELLED';
  readonly runs: number;
}

/** How a job ended, as recorded on a worker's disk. */
export interface ResultRecord {
  readonly juuid: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly result: unknown;
  readonly errors: readonly string[];
}

/** One thing that happens at the broker, at a worker or on its disk. `worker` is its name, and that of its host. */
export type Sight =
  | { readonly kind: 'received'; readonly peer: Peer; readonly command: NfpToBroker }
  | { readonly kind: 'sent'; readonly peer: Peer; readonly command: NfpToWorker | NfpToClient }
  /** Announced by the broker itself. */
  | { readonly kind: 'worker-ready'; readonly peer: Peer; readonly service: string }
  | { readonly kind: 'worker-lost'; readonly peer: Peer; readonly service: string; readonly reason: string }
  | { readonly kind: 'told'; readonly worker: string; readonly command: NfpToWorker }
  | { readonly kind: 'said'; readonly worker: string; readonly command: NfpToBroker }
  | { readonly kind: 'begun'; readonly worker: string; readonly uuid: string; readonly run: number }
  /** The task has returned or thrown. */
  | { readonly kind: 'ended'; readonly worker: string; readonly uuid: string; readonly well: boolean }
  | { readonly kind: 'stored'; readonly worker: string; readonly uuid: string; readonly job: JobRecord }
  | { readonly kind: 'result'; readonly worker: string; readonly uuid: string; readonly result: ResultRecord }
  | { readonly kind: 'removed'; readonly worker: string; readonly uuid: string }
  /** The broker listens. */
  | { readonly kind: 'started' }
  /** The broker's program is being closed. */
  | { readonly kind: 'closing' }
  /** A process has died. */
  | { readonly kind: 'crashed'; readonly process: string };

/** Checks one promise. Throws when it is broken. */
export interface Checker {
  onSight(sight: Sight): void;
}

/** Where the broker runs. */
export const BROKER = 'broker';

/** Passes what happens at the sockets of the broker and of workers to the checkers. */
export class Sights implements Watcher {
  readonly #checkers: readonly Checker[];
  readonly #simulation: Simulation;
  readonly #workers: ReadonlySet<string>;

  /** An exception of a checker is a failure of the simulation. */
  constructor(checkers: readonly Checker[], simulation: Simulation, workers: ReadonlySet<string>) {
    this.#checkers = checkers;
    this.#simulation = simulation;
    this.#workers = workers;
  }

  /** Adds a sight that is not an event of the network. */
  show(sight: Sight): void {
    for (const checker of this.#checkers)
      this.#simulation.check(checker.constructor.name, () => {
        checker.onSight(sight);
      });
  }

  onEvent(event: NetworkEvent): void {
    if (event.kind === 'crashed') this.show({ kind: 'crashed', process: event.process });
    else if ('socket' in event) this.#onMessage(event);
  }

  #onMessage({ kind, process, socket, peer, frames }: MessageEvent): void {
    if (socket === 'router') {
      if (kind === 'delivered') this.show({ kind: 'received', peer, command: decodeNfpAtBroker(frames) });
      else if (kind === 'sent') this.show({ kind: 'sent', peer, command: decodeFromBroker(frames) });
    } else if (this.#workers.has(process)) {
      if (kind === 'delivered') this.show({ kind: 'told', worker: process, command: decodeNfpAtWorker(frames) });
      else if (kind === 'sent') this.show({ kind: 'said', worker: process, command: decodeNfpAtBroker(frames) });
    }
  }
}

let last: { readonly body: NfpBody; readonly said: NfpDispatch | undefined } | undefined;

/**
 * The broker's own answer in a body, if it is one. Cached, because checkers ask for the same body one after the other, and
 * reading JSON is expensive.
 */
export function dispatchIn(body: NfpBody): NfpDispatch | undefined {
  if (last?.body !== body) last = { body, said: decodeNfpDispatch(body) };
  return last.said;
}

/** What has happened to a worker, from an EVENT or a 408 of the broker itself. */
const FATE = /"status":"(worker-lost|worker-back|redispatched|FAILED|PENDING)"/;

/** Whether the broker, not a worker, says this about a job. */
export function isFate(command: string, status: number, body: NfpBody): boolean {
  const isNews = command === 'event' && status === 200;
  return (isNews || (command === 'response' && status === 408)) && FATE.test(body.map(latin1).join(''));
}

/** The worker for which the broker answers with 408, if this is such an answer. */
export function answeredFor(command: string, status: number, body: NfpBody): string | undefined {
  if (status !== 408 || !isFate(command, status, body)) return undefined;
  const { worker } = decodeNfpJson(body) as { readonly worker?: unknown };
  return typeof worker === 'string' ? worker : undefined;
}

/** Whether the broker says that it has taken a job away from a worker. */
export function isTakenAway(command: string, status: number, body: NfpBody): boolean {
  return isFate(command, status, body) && body.map(latin1).join('').includes('"status":"redispatched"');
}

/** A message of the broker, to a worker or to a client. */
export function decodeFromBroker(frames: readonly Uint8Array[]): NfpToWorker | NfpToClient {
  const command = decodeNfpAtWorker(frames);
  // An MMI to a client reads as a call in the form of the tables, which our broker never writes.
  return command.kind === 'malformed' || command.kind === 'worker-table-call' ? decodeNfpAtClient(frames) : command;
}
