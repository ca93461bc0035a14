/** Repeated actions. */
import { systemClock } from '@proj/heartbeat';
import type { Timer } from '@proj/heartbeat';

/** Calls `action` every `intervalMs` until the returned function is called. */
export function every(intervalMs: number, action: () => void): () => void {
  let timer: Timer;
  const arm = () => {
    timer = systemClock.at(systemClock.now() + intervalMs, () => {
      arm();
      action();
    });
  };
  arm();
  return () => {
    timer.cancel();
  };
}
