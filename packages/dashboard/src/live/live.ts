/** The connection to the program: its model as it changes, the token while the page is open, and actions. */
import type { Action, ActionResult, Delta, Model } from '@proj/observe/model';
import { applyDelta } from '../shared/merge.js';
import { EventParser } from '../shared/sse.js';

/** `locked`: the program shows nothing without a token. */
export type Status = 'connecting' | 'live' | 'lost' | 'locked';

const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 8000;
/** A server writes every second. After this much silence it is gone, whatever the connection says. */
const SILENCE_MAX_MS = 10_000;

/** The page's state, and who is notified of changes. */
export class Live {
  model: Model | undefined;
  status: Status = 'connecting';
  readonly #listeners = new Set<() => void>();
  /** In memory only: a reload forgets it. */
  #token: string | undefined;
  /** Dead letters that we have requeued or discarded, until a snapshot reflects it. */
  #gone = new Map<string, number | undefined>();
  #connection = new AbortController();

  /** Whether a token was entered. */
  get hasToken(): boolean {
    return this.#token !== undefined;
  }

  /** Calls back on each change until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sets or forgets a token, and reconnects if the program requires one. */
  setToken(token: string | undefined): void {
    this.#token = token;
    if (this.status === 'locked' && token !== undefined) void this.run();
    this.#tell();
  }

  /** Follows the program until the page is left. */
  async run(): Promise<void> {
    this.#connection.abort();
    const connection = (this.#connection = new AbortController());
    const isOver = () => connection.signal.aborted;
    for (let delay = RETRY_FIRST_MS; !isOver();) {
      const before = this.model;
      const status = await this.#follow(connection.signal).catch(() => 'lost' as const);
      if (isOver()) return;
      // A token that did not open the program is useless for anything else.
      if (status === 'locked') this.#token = undefined;
      this.#become(status);
      if (status === 'locked') return;
      // A connection that delivered something resets the waits.
      delay = this.model === before ? Math.min(delay * 2, RETRY_MAX_MS) : RETRY_FIRST_MS;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }

  /** Asks the program for an action, and keeps an accepted token. Never throws: failures are in the answer. */
  async act(action: Action, token = this.#token): Promise<ActionResult> {
    try {
      const response = await fetch('api/actions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization(token) },
        body: JSON.stringify(action),
      });
      if (response.status === 401) {
        this.setToken(undefined);
        return { ok: false, count: 0, text: 'The program rejected the token. Enter it again.' };
      }
      const answer = (await response.json()) as Partial<ActionResult> & { readonly error?: string };
      const text = answer.text ?? answer.error ?? `The program answered ${response.status}.`;
      const ok = response.ok && answer.ok === true;
      if (ok && 'ids' in action)
        this.#forget(action.ids === 'all' ? Object.keys(this.model?.deadLetters ?? {}) : action.ids);
      this.setToken(token);
      return { ok, count: answer.count ?? 0, text };
    } catch {
      return { ok: false, count: 0, text: 'The program did not answer.' };
    }
  }

  /** The bytes of a dead letter. */
  async bodyOf(id: string, signal: AbortSignal): Promise<Uint8Array> {
    if (this.#gone.has(id)) throw new Error('This message is no longer a dead letter.');
    const response = await fetch(`api/dead/${encodeURIComponent(id)}`, { headers: authorization(this.#token), signal });
    if (response.status === 401) {
      this.setToken(undefined);
      throw new Error('The program rejected the token. Enter it again.');
    }
    if (response.status === 404) throw new Error('This message is no longer a dead letter.');
    if (!response.ok) throw new Error(`The program answered ${response.status}.`);
    return new Uint8Array(await response.arrayBuffer());
  }

  async #follow(signal: AbortSignal): Promise<Status> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
    try {
      const response = await fetch('api/events', {
        headers: { accept: 'text/event-stream', ...authorization(this.#token) },
        cache: 'no-store',
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (response.status === 401) return 'locked';
      if (!response.ok || response.body === null) return 'lost';
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return 'lost';
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
        for (const { event, data } of parser.push(value)) this.#take(event, data);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Until the next listing shows otherwise: a message that dies again has another time of death. */
  #forget(ids: readonly string[]): void {
    this.#gone = new Map(ids.map((id) => [id, this.model?.deadLetters[id]?.at]));
  }

  #take(event: string, data: string): void {
    if (event === 'model') this.model = JSON.parse(data) as Model;
    else if (event === 'delta' && this.model !== undefined)
      this.model = applyDelta(this.model, JSON.parse(data) as Delta);
    else return;
    for (const [id, at] of this.#gone) if (this.model.deadLetters[id]?.at !== at) this.#gone.delete(id);
    this.#become('live');
  }

  #become(status: Status): void {
    this.status = status;
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function authorization(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
