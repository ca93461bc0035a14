/** The event loop's turn, for tests whose clock stands still. */

/** Resolves after every promise continuation that is ready has run. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
