/** Checker of the first promise to a client: at most one reply per request, of that request, to the connection that asked. */
import { forgetBroker, peerOf, requestId } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Knows which requests are open at which connection; queues must not answer any other. */
export class RepliesChecker implements Checker {
  readonly #open = new Map<string, Set<string>>();

  onSight(sight: Sight): void {
    if (sight.kind === 'crashed') {
      forgetBroker(sight.broker, this.#open);
    } else if (sight.kind === 'received' && sight.command.kind === 'client-request') {
      const open = this.#open.get(peerOf(sight)) ?? new Set();
      this.#open.set(peerOf(sight), open.add(requestId(sight.command.content)));
    } else if (sight.kind === 'sent' && sight.command.kind === 'client-reply') {
      const id = requestId(sight.command.content);
      if (this.#open.get(peerOf(sight))?.delete(id) !== true)
        throw new Error(`reply for ${id}, which is not open at that client`);
    }
  }
}
