/** Listens to a caller's AbortSignal as long as the call is open. */

/** Calls `listener` when the signal aborts; returns a function that stops listening. The signal must not be aborted yet. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  signal.addEventListener('abort', listener, { once: true });
  return () => {
    signal.removeEventListener('abort', listener);
  };
}
