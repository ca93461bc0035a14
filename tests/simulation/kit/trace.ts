/** What happened in a simulation: all of it as one hash, the last part as text. */
import { createHash } from 'node:crypto';
import { latin1, printable } from '@proj/frames';
import type { MessageEvent, NetworkEvent } from '@proj/transport/virtual';

/** Prints a message; the default shows the bytes. */
export type Describe = (event: MessageEvent) => string;

const showBytes: Describe = ({ frames }) => frames.map((frame) => printable(frame, 24)).join(' ');

/** Characters that are hashed at once: calls of the hash cost more than what they hash. */
const BATCH = 65_536;

interface Entry {
  readonly now: number;
  readonly event: NetworkEvent | string;
}

/** Records every event of a run; keeps the last `max` events, or `SIM_TRACE` of the environment, for the report of a failure. */
export class Trace {
  readonly #hash = createHash('sha256');
  readonly #max: number;
  readonly #describe: Describe;
  #entries: Entry[] = [];
  /** What is not in the hash yet. */
  #batch = '';
  #frozen = false;
  /** Number of events recorded. */
  count = 0;

  constructor(max = Number(process.env['SIM_TRACE'] ?? 100), describe: Describe = showBytes) {
    this.#max = max;
    this.#describe = describe;
  }

  /** Adds an event of the network, or a line of text. */
  add(now: number, event: NetworkEvent | string): void {
    if (this.#frozen) return;
    this.count++;
    this.#digest(now, event);
    this.#entries.push({ now, event });
    if (this.#entries.length >= 2 * this.#max) this.#entries = this.#entries.slice(-this.#max);
  }

  /** Keeps the trace as it is: later events do not explain a failure. */
  freeze(): void {
    this.#frozen = true;
  }

  /** Two runs with the same hash had the same events at the same times. */
  get hash(): string {
    return this.#hash.copy().update(this.#batch).digest('hex');
  }

  /** The last events, one line each, oldest first. */
  lines(): string[] {
    return this.#entries
      .slice(-this.#max)
      .map(({ now, event }) => `${now.toFixed(3).padStart(10)}  ${this.#show(event)}`);
  }

  #digest(now: number, event: NetworkEvent | string): void {
    if (typeof event === 'string') this.#batch += `${now} ${event}\n`;
    else if ('frames' in event) {
      this.#batch += `${now} ${event.process} ${event.kind} ${event.peer.key} ${event.frames.length}\n`;
      for (const frame of event.frames) this.#batch += latin1(frame);
    } else this.#batch += `${now} ${this.#show(event)}\n`;
    if (this.#batch.length < BATCH) return;
    this.#hash.update(this.#batch);
    this.#batch = '';
  }

  #show(event: NetworkEvent | string): string {
    if (typeof event === 'string') return event;
    switch (event.kind) {
      case 'crashed':
      case 'paused':
      case 'resumed':
        return `${event.process} ${event.kind}`;
      case 'slowed':
        return `${event.process} wakes up to ${event.maxMs.toFixed(0)} ms late`;
      case 'partitioned':
      case 'healed':
      case 'cut':
        return `${event.between.join(' | ')} ${event.kind}`;
      case 'lost':
        return `${event.between.join(' | ')} ${event.messages} messages lost`;
      case 'connected':
      case 'disconnected':
        return `${event.client} ${event.kind} at ${event.process} as ${name(event.peer.id)}${event.mute ? ' (mute)' : ''}`;
      default:
        return `${event.process} ${event.kind} ${name(event.peer.id)}: ${this.#describe(event)}`;
    }
  }
}

function name(id: Uint8Array): string {
  return id.length === 0 ? 'router' : printable(id);
}
