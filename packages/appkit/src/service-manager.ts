/** Tells systemd how a service is doing: sd_notify(3), for units with `Type=notify`. Elsewhere it does nothing. */
import { execFile } from 'node:child_process';
import { every } from './periodic.js';

/** What a service tells its manager. */
export interface ServiceManager {
  /** It serves. From now on the manager also hears that it is alive, if the unit has `WatchdogSec=`. */
  ready(): void;
  /** It finishes its work and leaves. */
  stopping(): void;
}

/** What it needs of the process it runs in. */
interface Surroundings {
  /** Runs a program and forgets it. */
  run(file: string, args: readonly string[]): void;
  /** Calls `action` every `intervalMs`, until the returned function is called. */
  every(intervalMs: number, action: () => void): () => void;
}

const here: Surroundings = {
  // A manager that cannot be told starts the service again; nothing better can be done from here.
  run: (file, args) => void execFile(file, args, () => undefined),
  every,
};

/**
 * The manager that started this process, by the variables it has set. Node has no datagram sockets of Unix, so `systemd-notify` carries each message: the
 * unit needs `NotifyAccess=all`. An event loop that turns is what counts as alive; the watchdog hears it twice in its time.
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
