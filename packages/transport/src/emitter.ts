/** The `on(event, listener)` of every facade. */

/** Typed listeners for the events of map `Events` (event name to payload). */
export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, Set<(payload: never) => void>>();

  /** Adds a listener and returns a function that removes it. */
  on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void): () => void {
    const set = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, set);
    set.add(listener);
    return () => void set.delete(listener);
  }

  /** Calls the listeners of `name` in the order they were added. Their exceptions propagate. */
  emit<Name extends keyof Events>(name: Name, payload: Events[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) (listener as (payload: Events[Name]) => void)(payload);
  }

  /** The function that emits `name`, for callers that take a callback. */
  forward<Name extends keyof Events>(name: Name): (payload: Events[Name]) => void {
    return (payload) => {
      this.emit(name, payload);
    };
  }

  /** True if there are listeners. Lets a hot path skip building the payload. */
  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }
}
