/** Checker: after a program has closed everything, no sockets or timers are left. */
import type { Simulation } from './simulation.js';

/** Longer than anything that a closed connection still does. Virtual milliseconds. */
const REST_MS = 60_000;

/**
 * Closes every program at once, and fails the simulation for each socket or timer that survives. All hosts must be
 * running.
 */
export async function closeAndCheckLeaks(simulation: Simulation): Promise<void> {
  const open = new Set(simulation.hosts);
  for (const host of simulation.hosts) {
    host.close().then(
      () => open.delete(host),
      (error: unknown) => {
        simulation.fail(`${host.name} did not close: ${String(error)}`);
      },
    );
  }
  await simulation.runUntil(
    () => open.size === 0,
    REST_MS,
    () => `closed: ${[...open].map((host) => host.name).join(', ')}`,
  );
  await simulation.run(REST_MS);
  const { armed } = simulation.clock;
  if (armed > 0) simulation.fail(`${armed} timers are armed when everything is closed`);
  simulation.throwIfFailed();
}
