/**
 * Checker of TINY/1, on what the broker receives and sends: every request that reaches it ends once, with the reply of the worker that had it
 * or as lost; a worker has one request at a time.
 */
import { latin1 } from '@proj/frames';
import type { MessageEvent, NetworkEvent } from '@proj/transport/virtual';
import type { Watcher } from '../../simulation/kit/simulation.js';
import { decodeTiny } from '../protocol.js';

/** Name of the broker's process. */
export const BROKER = 'broker';

/** Keeps its own records. Throws when a rule is broken. */
export class OutcomesChecker implements Watcher {
  /** The texts of requests that have not ended, by client and number. */
  readonly #open = new Map<string, string>();
  /** What each worker has in hand: the text of a request, and its number at the worker. */
  readonly #jobs = new Map<string, { readonly text: string; readonly number: string }>();
  /** Texts whose reply the broker has received from the right worker but not yet forwarded. */
  readonly #due = new Set<string>();

  onEvent(event: NetworkEvent): void {
    if (event.kind === 'crashed' && event.process === BROKER)
      for (const account of [this.#open, this.#jobs, this.#due]) account.clear();
    else if (event.kind === 'delivered' && event.process === BROKER) this.#received(event);
    else if (event.kind === 'sent' && event.process === BROKER) this.#sent(event);
  }

  /** Throws if a request has not ended. Call it when nothing is in flight. */
  checkEnd(): void {
    if (this.#open.size > 0) throw new Error(`not ended: ${[...this.#open.values()].join(', ')}`);
  }

  #received({ peer, frames }: MessageEvent): void {
    const { kind, id, body } = decodeTiny(frames);
    if (kind === 'request') this.#open.set(`${peer.key} ${id}`, textOf(body));
    const job = this.#jobs.get(peer.key);
    if (kind !== 'reply' || job?.number !== id) return;
    if (textOf(body) !== answerTo(job.text)) throw new Error(`a worker answered ${job.text} with ${textOf(body)}`);
    this.#jobs.delete(peer.key);
    this.#due.add(job.text);
  }

  #sent({ peer, frames }: MessageEvent): void {
    const { kind, id, body } = decodeTiny(frames);
    if (kind === 'request') {
      const job = this.#jobs.get(peer.key);
      if (job !== undefined) throw new Error(`a worker got ${textOf(body)} and still has ${job.text}`);
      this.#jobs.set(peer.key, { text: textOf(body), number: id });
      return;
    }
    const text = this.#open.get(`${peer.key} ${id}`);
    if (text === undefined) throw new Error(`${kind} for request ${id}, which is not open`);
    this.#open.delete(`${peer.key} ${id}`);
    if (kind === 'reply' && !(this.#due.delete(text) && textOf(body) === answerTo(text)))
      throw new Error(`${textOf(body)} for ${text}, which no worker sent`);
    // A worker that was given up keeps its request to itself.
    for (const [worker, job] of this.#jobs) if (job.text === text) this.#jobs.delete(worker);
  }
}

/** What the handlers of the simulation return for a request. */
export function answerTo(text: string): string {
  return `done ${text}`;
}

function textOf(body: readonly Uint8Array[]): string {
  return body.map((frame) => latin1(frame)).join(' ');
}
