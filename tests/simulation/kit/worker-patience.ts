/**
 * Checker of worker rule 3 of docs/protocols/mdp.md and its like: a worker stops talking
 * to a silent broker.
 */
import type { MessageEvent, NetworkEvent } from '@proj/transport/virtual';
import type { Excuses } from './excuses.js';
import type { Simulation, Watcher } from './simulation.js';

/** Sums of fractions of a millisecond are not exact. */
export const ROUNDING_MS = 0.001;

/** Settings that all programs share. */
export interface Patience {
  readonly heartbeatIntervalMs: number;
  readonly liveness: number;
}

/** True for a worker's heartbeat. */
export type IsHeartbeat = (frames: readonly Uint8Array[]) => boolean;

/** Watches the sockets of workers. */
export class WorkerPatienceChecker implements Watcher {
  readonly #simulation: Simulation;
  readonly #limitMs: number;
  /** When each socket last received something, or first sent something before that. */
  readonly #heardAt = new Map<string, number>();
  readonly #excuses: Excuses;
  readonly #isHeartbeat: IsHeartbeat;

  constructor(
    simulation: Simulation,
    { heartbeatIntervalMs, liveness }: Patience,
    excuses: Excuses,
    isHeartbeat: IsHeartbeat,
  ) {
    this.#simulation = simulation;
    this.#isHeartbeat = isHeartbeat;
    this.#limitMs = heartbeatIntervalMs * liveness + ROUNDING_MS;
    this.#excuses = excuses;
  }

  onEvent(event: NetworkEvent, now: number): void {
    if (event.kind === 'crashed') {
      for (const socket of this.#heardAt.keys())
        if (socket.startsWith(`${event.process} `)) this.#heardAt.delete(socket);
    } else if ('socket' in event && event.socket === 'dealer') this.#onMessage(event, now);
  }

  #onMessage({ kind, process, socketNumber, frames }: MessageEvent, now: number): void {
    const socket = `${process} ${socketNumber}`;
    const heardAt = this.#heardAt.get(socket);
    if (kind === 'delivered' || heardAt === undefined) this.#heardAt.set(socket, now);
    else if (kind === 'sent' && this.#isHeartbeat(frames)) {
      if (now - heardAt > this.#limitMs && !this.#excuses.has(process, this.#limitMs, now))
        this.#simulation.fail(
          `${process} beats for a broker that has been silent for ${(now - heardAt).toFixed(0)} ms`,
        );
    }
  }
}
