/**
 * Checker of rule 22 and of the first promise to a client: at most one final reply per request, of that request, and nothing after
 * it.
 */
import { peerOf, requestId } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Knows which requests are open at which connection; brokers must not answer any other. */
export class RepliesChecker implements Checker {
  readonly #open = new Map<string, Set<string>>();

  onSight(sight: Sight): void {
    if (sight.kind === 'received' && sight.command.kind === 'client-request') {
      const open = this.#open.get(peerOf(sight)) ?? new Set();
      this.#open.set(peerOf(sight), open.add(requestId(sight.command.body)));
    } else if (
      sight.kind === 'sent' &&
      (sight.command.kind === 'client-partial' || sight.command.kind === 'client-final')
    ) {
      const { kind, service, body } = sight.command;
      if (service.startsWith('mmi.')) return;
      const id = requestId(body);
      const open = this.#open.get(peerOf(sight));
      if (open?.has(id) !== true) throw new Error(`${kind} for ${id}, which is not open at that client`);
      if (kind === 'client-final') open.delete(id);
    }
  }
}
