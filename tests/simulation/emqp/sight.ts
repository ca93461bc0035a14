/** What a broker and a scheduler receive and do, as typed facts: the only source of facts for checkers. */
import { latin1 } from '@proj/frames';
import { decodeEmqpAtBroker, decodeEmqpAtScheduler, decodeEmqpAtWorker } from '@proj/frames/emqp';
import type { EmqpToBroker, EmqpToScheduler, EmqpToWorker } from '@proj/frames/emqp';
import type { MessageEvent, NetworkEvent } from '@proj/transport/virtual';
import type { RecordObserver } from '../kit/record-disk.js';
import type { Simulation, Watcher } from '../kit/simulation.js';

/** Commands of a broker; a client gets the same REPLYs as a scheduler. */
export type FromBroker = EmqpToWorker | EmqpToScheduler;

/**
 * One thing that the broker receives or does. `peer` names a connection to one of its ports; names are never reused.
 */
export type BrokerSight =
  | { readonly kind: 'received'; readonly peer: string; readonly command: EmqpToBroker }
  | { readonly kind: 'sent'; readonly peer: string; readonly command: FromBroker }
  /** It was not sent after all, or not at all. */
  | { readonly kind: 'returned'; readonly peer: string; readonly command: FromBroker }
  /** Announced by the broker itself. */
  | { readonly kind: 'joined'; readonly peer: string; readonly role: 'worker' | 'scheduler' }
  | { readonly kind: 'left'; readonly peer: string; readonly role: 'worker' | 'scheduler'; readonly reason: string }
  | { readonly kind: 'disconnected'; readonly peer: string }
  /** It was told to stop, and accepts no new requests. */
  | { readonly kind: 'draining' }
  /** From now on it is another process. */
  | { readonly kind: 'crashed' };

/** One thing that the scheduler does or that happens to its disk. `tick` is the name of a regular job. */
export type SchedulerSight =
  /** It received a SCHEDULE or UNSCHEDULE. */
  | { readonly kind: 'told'; readonly tick: string; readonly word: 'schedule' | 'unschedule'; readonly everyMs: number }
  /** A run of the job was sent. */
  | { readonly kind: 'ran'; readonly tick: string }
  /** The job is on disk, changed on disk, or no longer there. */
  | { readonly kind: 'written' | 'erased'; readonly tick: string }
  /** It has a broker and can listen to it, or not. */
  | { readonly kind: 'online' | 'offline' }
  /** It was stopped for a while, and continues. */
  | { readonly kind: 'woken' }
  /** From now on it is another process. */
  | { readonly kind: 'restarted' };

/** Checks one promise on what the broker receives and does. Throws when it is broken. */
export interface BrokerChecker {
  onSight(sight: BrokerSight): void;
}

/** Checks one promise on what the scheduler does. Throws when it is broken. */
export interface SchedulerChecker {
  onRun(sight: SchedulerSight): void;
}

/** The broker's sockets, in creation order; consoles have the third. */
const PORTS = ['frontend', 'backend'] as const;

/** Passes what happens at the broker's sockets to the checkers. */
export class BrokerSights implements Watcher {
  readonly #process: string;
  readonly #checkers: readonly BrokerChecker[];
  readonly #simulation: Simulation;

  /** `process`: where the broker runs. An exception of a checker is a failure of the simulation. */
  constructor(process: string, checkers: readonly BrokerChecker[], simulation: Simulation) {
    this.#process = process;
    this.#checkers = checkers;
    this.#simulation = simulation;
  }

  /** Adds a sight that is not an event of the network. */
  show(sight: BrokerSight): void {
    if (sight.kind === 'joined') this.#simulation.note(`${sight.role} ${sight.peer} joined`);
    else if (sight.kind === 'left') this.#simulation.note(`${sight.role} ${sight.peer} left: ${sight.reason}`);
    for (const checker of this.#checkers)
      this.#simulation.check(checker.constructor.name, () => {
        checker.onSight(sight);
      });
  }

  onEvent(event: NetworkEvent): void {
    if (!('process' in event) || event.process !== this.#process) return;
    if (event.kind === 'crashed') this.show({ kind: 'crashed' });
    else if (event.kind === 'disconnected') {
      for (const port of PORTS) this.show({ kind: 'disconnected', peer: partyOf(port, event.peer) });
    } else if ('socketNumber' in event) this.#onMessage(event);
  }

  #onMessage({ kind, socketNumber, peer: { key }, frames }: MessageEvent): void {
    const port = PORTS[socketNumber - 1];
    if (port === undefined || kind === 'rejected') return;
    const peer = partyOf(port, { key });
    if (kind === 'delivered') this.show({ kind: 'received', peer, command: decodeEmqpAtBroker(frames) });
    else this.show({ kind: kind === 'sent' ? 'sent' : 'returned', peer, command: decodeFromBroker(frames) });
  }
}

/** Passes what the scheduler does and what is on its disk to the checkers. */
export class SchedulerSights implements Watcher, RecordObserver {
  readonly #process: string;
  readonly #checkers: readonly SchedulerChecker[];
  readonly #simulation: Simulation;
  readonly #ticks = new Map<string, string>();
  #hasBroker = false;

  /** `process`: where the scheduler runs. An exception of a checker is a failure of the simulation. */
  constructor(process: string, checkers: readonly SchedulerChecker[], simulation: Simulation) {
    this.#process = process;
    this.#checkers = checkers;
    this.#simulation = simulation;
  }

  onEvent(event: NetworkEvent): void {
    if (!('process' in event) || event.process !== this.#process) return;
    if (event.kind === 'crashed') {
      this.#hasBroker = false;
      this.show({ kind: 'restarted' });
    } else if (event.kind === 'paused') this.show({ kind: 'offline' });
    else if (event.kind === 'resumed') {
      this.show({ kind: 'woken' });
      if (this.#hasBroker) this.show({ kind: 'online' });
    } else if (event.kind === 'sent') {
      const command = decodeEmqpAtBroker(event.frames);
      if (command.kind === 'request') this.show({ kind: 'ran', tick: jobName(command.body) });
    } else if (event.kind === 'delivered') {
      const command = decodeEmqpAtScheduler(event.frames);
      if (command.kind !== 'schedule' && command.kind !== 'unschedule') return;
      const everyMs = Number(command.interval) * 1000;
      this.show({ kind: 'told', tick: jobName(command.body), word: command.kind, everyMs });
    }
  }

  onPut(key: string, value: Uint8Array): void {
    const tick = jobName(value);
    this.#ticks.set(key, tick);
    this.#simulation.note(`disk: ${tick}`);
    this.show({ kind: 'written', tick });
  }

  onRemoved(key: string): void {
    const tick = this.#ticks.get(key) ?? key;
    this.#simulation.note(`disk: without ${tick}`);
    this.show({ kind: 'erased', tick });
  }

  /** Announced by the scheduler itself: it has a broker, or none. */
  onBroker(hasBroker: boolean): void {
    this.#hasBroker = hasBroker;
    this.show({ kind: hasBroker ? 'online' : 'offline' });
  }

  /** Adds a sight that is not an event of the network. */
  show(sight: SchedulerSight): void {
    for (const checker of this.#checkers)
      this.#simulation.check(checker.constructor.name, () => {
        checker.onRun(sight);
      });
  }
}

/** A message of the broker, to any peer. */
export function decodeFromBroker(frames: readonly Uint8Array[]): FromBroker {
  const command = decodeEmqpAtWorker(frames);
  return command.kind === 'malformed' ? decodeEmqpAtScheduler(frames) : command;
}

/** Every job of the workload has its name in its body, between these. */
const NAME = /<([^<>]+)>/;

/** The workload's name for the job with this body or record. */
export function jobName(body: Uint8Array): string {
  return NAME.exec(latin1(body))?.[1] ?? '?';
}

/** The body of a job with this name contains this. */
export function nameInBody(name: string): string {
  return `<${name}>`;
}

/** The same routing id at the other port is another peer. */
export function partyOf(port: string, { key }: { readonly key: string }): string {
  return `${port}/${key}`;
}
