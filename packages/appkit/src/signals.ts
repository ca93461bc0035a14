/** How a program is told to stop: once to finish its work, twice to leave at once. */
import { constants } from 'node:os';

/** The reason of an aborted stop signal. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  /** Exit code of a program that was interrupted before it had a result: 128 and the signal's number. */
  readonly exitCode: number;

  constructor(cause: string, exitCode: number) {
    super(`stopped by ${cause}`);
    this.exitCode = exitCode;
  }
}

/**
 * Aborts on the first SIGTERM or SIGINT, or when the parent at the other end of an IPC channel is gone. The second signal
 * ends the process at once with 128 and the signal's number.
 */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const exitCode = 128 + constants.signals[signal];
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(exitCode);
      controller.abort(new Stopped(signal, exitCode));
    });
  }
  if (process.connected) process.once('disconnect', () => controller.abort(new Stopped('the end of its parent', 1)));
  return controller.signal;
}

/** Resolves once `stop` is aborted. */
export async function untilStopped(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
}
