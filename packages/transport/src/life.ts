/** The public life cycle that all facades share, documented once. `EngineHost` and `SessionHost` do the work; a facade passes the calls on. */
import type { AccessRules } from './access.js';

/** What every facade of a server or of a peer has. `Events` maps the name of an event to what its listeners are given. */
export interface Life<Events extends object> {
  /** Adds a listener. Returns the function that removes it. */
  on<Name extends keyof Events>(event: Name, listener: (payload: Events[Name]) => void): () => void;
  /** Stops at once: open work is dropped, open calls reject with `CLOSED`. Resolves when all sockets are closed. Idempotent. */
  close(): Promise<void>;
  /** Same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A facade that starts and drains: every server, and every peer that serves, such as a worker. `Started` is what `start` resolves to. */
export interface Startable<Events extends object, Started = void> extends Life<Events> {
  /**
   * Opens the sockets and serves. Resolves to the bound endpoints where it binds, with port `*` filled in. Rejects with `ADDRESS_IN_USE`, with
   * `OPTIONS_INVALID` for an endpoint that cannot be used, or with `UNAVAILABLE` when the transport cannot be loaded; then nothing stays open.
   */
  start(): Promise<Started>;
  /** Takes no new work, lets open work finish for as long as the options allow, says goodbye to its peers, then closes. Idempotent. */
  drain(): Promise<void>;
}

/** A facade with access rules: every server. */
export interface Guarded {
  /**
   * Replaces the access rules at once, also for peers that are connected. Throws `OPTIONS_INVALID`, and keeps the old rules, if these are not
   * rules, or name keys on a transport that does not know the keys of its peers.
   */
  setAccess(rules: AccessRules): void;
}
