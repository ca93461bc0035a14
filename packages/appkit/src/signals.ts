/** Signals: once to finish the work and stop, twice to stop at once. SIGHUP reloads the settings. */
import { constants } from 'node:os';

/** The reason of an aborted stop signal. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  /** Exit code of a program interrupted before it had a result: 128 plus the signal's number. */
  readonly exitCode: number;

  constructor(cause: string, exitCode: number) {
    super(`stopped by ${cause}`);
    this.exitCode = exitCode;
  }
}

/** The signals of this process, as its program uses them. */
export interface Signals {
  /** Aborted by the first SIGTERM or SIGINT, or when the parent at the other end of an IPC channel has gone. */
  readonly stop: AbortSignal;
  /** Calls `listener` before a second SIGTERM or SIGINT ends the process at once, to report what is dropped. */
  onEndedAtOnce(listener: (signal: string) => void): void;
  /** Calls `listener` on each SIGHUP, which then no longer ends the process. */
  onHangup(listener: () => void): void;
}

/** Listens to the signals of this process. The second SIGTERM or SIGINT ends it at once with 128 plus the signal's number. */
export function processSignals(): Signals {
  const controller = new AbortController();
  const lastWords = new Set<(signal: string) => void>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const exitCode = 128 + constants.signals[signal];
    process.on(signal, () => {
      if (!controller.signal.aborted) {
        controller.abort(new Stopped(signal, exitCode));
        return;
      }
      for (const say of lastWords) say(signal);
      process.exit(exitCode);
    });
  }
  if (process.connected) process.once('disconnect', () => controller.abort(new Stopped('the exit of its parent', 1)));
  return {
    stop: controller.signal,
    onEndedAtOnce: (listener) => void lastWords.add(listener),
    onHangup: (listener) => void process.on('SIGHUP', listener),
  };
}

/** Resolves once `stop` is aborted. */
export async function untilStopped(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
}
