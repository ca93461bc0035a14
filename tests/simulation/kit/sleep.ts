/** Waiting in virtual time, inside a simulated process. */
import type { VirtualTransport } from '@proj/transport/virtual';

/** Resolves after this much time of the process; rejects if aborted. */
export function sleep(transport: VirtualTransport, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = transport.clock.at(transport.clock.now() + ms, resolve);
    signal?.addEventListener('abort', () => {
      timer.cancel();
      reject(signal.reason as Error);
    });
  });
}
