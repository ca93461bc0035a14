/** The public life cycle of all facades, documented once. `EngineHost` and `SessionHost` do the work; facades pass the calls on. */
import type { AccessRules } from './access.js';

/** What is called with each event of this name. */
export type EventListener<Events, Name extends keyof Events> = (payload: Events[Name]) => void;

/** The methods of every facade. `Events` maps event names to what listeners get. */
export interface Life<Events extends object> {
  /** Adds a listener. Returns a function that removes it. */
  on<Name extends keyof Events>(event: Name, listener: EventListener<Events, Name>): () => void;
  /** Stops at once: open work is dropped, open calls reject with `CLOSED`. Resolves when all sockets are closed. Idempotent. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A facade that starts and drains: every server, and every peer that serves, such as a worker. `Started` is the result of `start`. */
export interface Startable<Events extends object, Started = void> extends Life<Events> {
  /**
   * Opens the sockets and serves. Resolves to the bound endpoints, if any, with port `*` filled in. Rejects with `ADDRESS_IN_USE`, with
   * `OPTIONS_INVALID` for an unusable endpoint, or with `UNAVAILABLE` if the transport cannot be loaded; then nothing stays open.
   */
  start(): Promise<Started>;
  /** Accepts no new work, lets open work finish within the limits in the options, says goodbye to its peers, then closes. Idempotent. */
  drain(): Promise<void>;
}

/** A facade with access rules: every server. */
export interface Guarded {
  /**
   * Replaces the access rules at once, also for connected peers. Throws `OPTIONS_INVALID` and keeps the old rules if the new ones are invalid,
   * or name keys on a transport that does not know its peers' keys.
   */
  setAccess(rules: AccessRules): void;
}
