/** The only place in the virtual network that uses the machine's event loop. */

/** Resolves after all ready promise continuations have run, including those they made ready. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
