/** The only place of the virtual network that touches the machine's event loop. */

/** Resolves after every promise continuation that is ready has run, and those it made ready, and so on. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
