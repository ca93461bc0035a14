/** Waiting for an event of a facade. */

/** The `on` of every facade. */
export interface EventSource<Events> {
  on<Name extends keyof Events>(event: Name, listener: (payload: Events[Name]) => void): () => void;
}

/**
 * The next payload of an event, or the next one that `accept` returns true for. Call it before triggering the event and await it afterwards.
 * Never rejects: a missing event becomes the test's timeout.
 */
export function nextEvent<Events, Name extends keyof Events>(
  source: EventSource<Events>,
  name: Name,
  accept: (payload: Events[Name]) => boolean = () => true,
): Promise<Events[Name]> {
  return new Promise((resolve) => {
    const forget = source.on(name, (payload) => {
      if (!accept(payload)) return;
      forget();
      resolve(payload);
    });
  });
}
