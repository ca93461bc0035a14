/** The log of notes: what engines say, which connections were refused, and what could not be observed. Bounded; time is given. */
import { oncePerMinute } from '@proj/heartbeat';
import type { HandshakeRefusal } from '@proj/transport';
import { encodeZ85 } from '@proj/transport/curve';
import { nameOf } from '@proj/transport/engine';
import { latestNotes } from './model.js';
import type { NoteRow } from './model.js';

/** So many wait for {@link NoteLog.all}; beyond it they join the others at once. */
const NEW_MAX = 500;
const TEXT_MAX = 1000;

/** A note of an engine, as its facade emits it. */
export interface Note {
  readonly code: string;
  readonly reason?: string;
  readonly peer?: { readonly id: Uint8Array };
}

/** The latest notes of a process. */
export class NoteLog {
  readonly #now: () => number;
  readonly #refusals = oncePerMinute();
  readonly #failures = oncePerMinute();
  #notes: readonly NoteRow[] = [];
  #new: NoteRow[] = [];
  #lastId = 0;

  /** `now`: wall-clock milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** All of them; the same list again while nothing is added. */
  all(): readonly NoteRow[] {
    this.#notes = latestNotes(this.#notes, this.#new);
    this.#new = [];
    return this.#notes;
  }

  /** Adds a note of a server. */
  add(protocol: string, { code, reason, peer, ...fields }: Note): void {
    const shown = Object.entries(fields).flatMap(([name, value]) =>
      name !== 'kind' && ['string', 'number', 'boolean'].includes(typeof value) ? [`${name} ${String(value)}`] : [],
    );
    const id = peer && nameOf(peer);
    const text = [
      code,
      ...(reason === undefined ? [] : [reason]),
      ...(id === undefined ? [] : [`peer ${id}`]),
      ...shown,
    ];
    this.#push({
      protocol,
      code,
      ...(reason === undefined ? {} : { reason }),
      ...(id === undefined ? {} : { peer: id }),
      text: text.join(', '),
    });
  }

  /** Adds a refused connection: at most once a minute of the same key or address, whatever its port. */
  refused(protocol: string, { reason, cause, publicKey, address = 'an unknown address' }: HandshakeRefusal): void {
    const host = address.replace(/:\d+$/, '');
    const who = publicKey === undefined ? host : encodeZ85(publicKey);
    if (!this.#refusals.allow(`${protocol} ${reason} ${who}`, this.#now())) return;
    const text = ['handshake-refused', reason, `peer ${who}`, ...(publicKey === undefined ? [] : [`address ${host}`])];
    if (cause !== undefined) text.push(`cause ${cause}`);
    this.#push({ protocol, code: 'handshake-refused', reason, peer: who, text: text.join(', ') });
  }

  /** Adds that something could not be observed: at most once a minute. */
  failed(error: unknown): void {
    if (!this.#failures.allow('second', this.#now())) return;
    const text = `observe-failed, ${error instanceof Error ? error.message : String(error)}`;
    this.#push({ protocol: '', code: 'observe-failed', text });
  }

  #push({ text, ...note }: Omit<NoteRow, 'id' | 'at'>): void {
    this.#new.push({ id: ++this.#lastId, at: this.#now(), ...note, text: text.slice(0, TEXT_MAX) });
    if (this.#new.length === NEW_MAX) this.all();
  }
}
