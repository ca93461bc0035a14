/** Waiting for an event of a facade. */

/** The `on` that all facades have. */
export interface EventSource<Events> {
  on<Name extends keyof Events>(event: Name, listener: (payload: Events[Name]) => void): () => void;
}

/**
 * The next payload of an event, or the next that `accept` takes. Call it before what causes the event, await it afterwards.
 * Never rejects: an event that does not come is the test's timeout.
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
