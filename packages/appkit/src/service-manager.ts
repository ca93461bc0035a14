/** Reports the state of a service to systemd: sd_notify(3), for units with `Type=notify`. Does nothing elsewhere. */
import { execFile } from 'node:child_process';
import { every } from './periodic.js';

/** What a service reports to its manager. */
export interface ServiceManager {
  /** It is ready. From now on it also sends watchdog signals, if the unit has `WatchdogSec=`. */
  ready(): void;
  /** It is finishing its work and stopping. */
  stopping(): void;
}

/** What it needs from its process. */
interface Surroundings {
  /** Runs a program without waiting for it. */
  run(file: string, args: readonly string[]): void;
  /** Calls `action` every `intervalMs`, until the returned function is called. */
  every(intervalMs: number, action: () => void): () => void;
}

const here: Surroundings = {
  // If the manager cannot be reached, it restarts the service; we can do no better here.
  run: (file, args) => void execFile(file, args, () => undefined),
  every,
};

/**
 * The manager that started this process, according to its environment variables. Node has no Unix datagram sockets, so `systemd-notify` carries
 * each message: the unit needs `NotifyAccess=all`. A running event loop counts as alive; the watchdog gets two signals per period.
 */
export function serviceManager(
  env: Readonly<Record<string, string | undefined>>,
  surroundings: Surroundings = here,
): ServiceManager {
  if (env['NOTIFY_SOCKET'] === undefined) return { ready: () => undefined, stopping: () => undefined };
  const tell = (...states: string[]) => {
    surroundings.run('systemd-notify', [`--pid=${process.pid}`, ...states]);
  };
  const watchdogMs = Number(env['WATCHDOG_USEC'] ?? 0) / 1000;
  let end = (): void => undefined;
  return {
    ready: () => {
      tell('--ready');
      if (watchdogMs > 0)
        end = surroundings.every(watchdogMs / 2, () => {
          tell('WATCHDOG=1');
        });
    },
    stopping: () => {
      end();
      tell('STOPPING=1');
    },
  };
}
