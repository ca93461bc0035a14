/** The processes or threads of an EventMQ job manager: one per slot, each replaced when it has gone. docs/adr/0010 says why it is our own. */
import { encodeEmqpJson } from '@proj/frames/emqp';
import { Backoff } from '@proj/heartbeat';
import type { Clock, Timer } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import type { EmqpJobManagerEvent, EmqpRun } from './engine/events.js';
import type { FromJobHost, JobHost, JobSources, StartJobHost } from './job-host.js';

/** Settings of a {@link JobPool}. */
export interface JobPoolOptions extends JobSources {
  readonly concurrency: number;
  readonly startHost: StartJobHost;
}

/** What a pool reports. */
export interface JobPoolListener {
  /** For each process: `up`, then `ran` for each finished run, then `gone`. */
  readonly onEvent: (event: Extract<EmqpJobManagerEvent, { slot: number }>) => void;
  /** A process failed to start after `start` had settled; another attempt follows. */
  readonly onError: (error: Error) => void;
}

/** How long an idle process may take to stop before it is killed. */
const STOP_MS = 2000;

/** Pauses between attempts to start a process. */
const RESTART = { minMs: 250, maxMs: 30_000, minUptimeMs: 0 } as const;

const STOP = { stop: true } as const;

interface Place {
  readonly slot: number;
  readonly backoff: Backoff;
  host: JobHost | undefined;
  isUp: boolean;
  /** What kept the process from starting. */
  failure: string | undefined;
  /** When to start the next process, or kill one that does not stop. */
  timer: Timer | undefined;
}

/** Keeps one process in each slot from {@link start} to {@link close}. */
export class JobPool {
  readonly #options: JobPoolOptions;
  readonly #clock: Clock;
  readonly #listener: JobPoolListener;
  readonly #places: readonly Place[];
  readonly #print = new TextEncoder();
  /** Settles `start`, until it has. */
  #hasStarted: ((error?: Error) => void) | undefined;
  #onEmpty: (() => void) | undefined;

  /** `random` returns a number in [0, 1) and spreads the pauses. */
  constructor(options: JobPoolOptions, clock: Clock, random: () => number, listener: JobPoolListener) {
    this.#options = options;
    this.#clock = clock;
    this.#listener = listener;
    this.#places = Array.from({ length: options.concurrency }, (_, slot) => {
      const backoff = new Backoff(RESTART, random);
      return { slot, backoff, host: undefined, isUp: false, failure: undefined, timer: undefined };
    });
  }

  /** Ids of the processes, or threads, that exist. */
  get ids(): number[] {
    return this.#places.flatMap(({ host }) => host?.id ?? []);
  }

  /** Starts all; resolves when the first one is up, and rejects if it cannot start. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#hasStarted = (error) => {
        this.#hasStarted = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
      for (const place of this.#places) this.#fill(place);
    });
  }

  run(slot: number, run: EmqpRun, wantsResult: boolean): void {
    this.#places[slot]?.host?.post({ run, wantsResult });
  }

  kill(slot: number): void {
    this.#places[slot]?.host?.kill();
  }

  /** Replaces the idle process in the slot. */
  recycle(slot: number): void {
    const place = this.#places[slot];
    if (place !== undefined) this.#stop(place);
  }

  /** Ends all; resolves when none exists any more. Call it once. */
  async close(): Promise<void> {
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    this.#hasStarted?.(new ProjError('CLOSED', 'EmqpJobManager: it was closed'));
    for (const place of this.#places) this.#stop(place);
    this.#endIfEmpty();
    await emptied;
  }

  #stop(place: Place): void {
    const { host } = place;
    place.timer?.cancel();
    place.timer = undefined;
    if (host === undefined) return;
    if (place.isUp) {
      host.post(STOP);
      place.timer = this.#clock.at(this.#clock.now() + STOP_MS, () => {
        host.kill();
      });
    } else host.kill();
  }

  #fill(place: Place): void {
    place.isUp = false;
    place.failure = undefined;
    place.timer = undefined;
    place.host = this.#options.startHost({
      onMessage: (message) => {
        this.#onMessage(place, message);
      },
      onExit: (reason) => {
        this.#onExit(place, reason);
      },
    });
    const { handlers, directory, resultMaxBytes } = this.#options;
    place.host.post({ start: { handlers, directory, resultMaxBytes } });
  }

  #onMessage(place: Place, message: FromJobHost): void {
    if ('ready' in message) {
      place.isUp = true;
      place.backoff.up(this.#clock.now());
      this.#hasStarted?.();
      this.#listener.onEvent({ kind: 'up', slot: place.slot });
    } else if ('broken' in message) {
      place.failure = message.broken;
      place.host?.kill();
    } else {
      const { number: job, outcome, json } = message;
      const result = this.#print.encode(json === '' ? '' : pythonJson(json));
      this.#listener.onEvent({ kind: 'ran', slot: place.slot, job, outcome, result });
    }
  }

  #onExit(place: Place, reason: string): void {
    const wasUp = place.isUp;
    place.host = undefined;
    place.isUp = false;
    place.timer?.cancel();
    place.timer = undefined;
    if (wasUp) this.#listener.onEvent({ kind: 'gone', slot: place.slot, reason });
    if (this.#onEmpty !== undefined) this.#endIfEmpty();
    else if (wasUp) this.#fill(place);
    else this.#retry(place, reason);
  }

  #retry(place: Place, reason: string): void {
    this.#failed(place.failure ?? reason);
    const now = this.#clock.now();
    place.timer = this.#clock.at(now + place.backoff.down(now), () => {
      this.#fill(place);
    });
  }

  #failed(reason: string): void {
    const error = new ProjError('OPTIONS_INVALID', `EmqpJobManager: jobs cannot run here: ${reason}`);
    if (this.#hasStarted === undefined) this.#listener.onError(error);
    else this.#hasStarted(error);
  }

  #endIfEmpty(): void {
    if (this.#places.every(({ host }) => host === undefined)) this.#onEmpty?.();
  }
}

/** Rule 6: the result as EventMQ prints it, or why it cannot be printed: nested too deeply, or too long. */
function pythonJson(json: string): string {
  try {
    return encodeEmqpJson(JSON.parse(json));
  } catch (error) {
    return encodeEmqpJson({ value: `the result cannot be printed: ${(error as Error).message}` });
  }
}
