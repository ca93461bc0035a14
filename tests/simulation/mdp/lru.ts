/**
 * Checker of rules 21 and 29: of the idle workers of a service, the one that has been idle longest gets the next request; a handler inside the broker gets it only
 * if there is none.
 */
import { peerOf, requestId } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Keeps idle workers in the order in which they became idle. */
export class LruChecker implements Checker {
  /** Service of each registered worker: broker, version and name. */
  readonly #services = new Map<string, string>();
  readonly #idle = new Map<string, string[]>();
  readonly #bridge: boolean;

  /** `bridge`: services with equal names are one service for both versions. */
  constructor(bridge = false) {
    this.#bridge = bridge;
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#services.set(
          peerOf(sight),
          JSON.stringify([sight.broker, this.#bridge ? 'both' : sight.version, sight.service]),
        );
        this.#rest(peerOf(sight));
        break;
      case 'worker-lost':
        this.#wake(peerOf(sight));
        this.#services.delete(peerOf(sight));
        break;
      case 'crashed':
        for (const peer of this.#services.keys()) {
          if (!peer.startsWith(`${sight.broker}/`)) continue;
          this.#wake(peer);
          this.#services.delete(peer);
        }
        break;
      case 'received':
        // Whatever it answers: if the broker considers it wrong, the worker is announced as lost.
        if (sight.command.kind === 'worker-final') this.#rest(peerOf(sight));
        break;
      case 'sent':
        if (sight.command.kind === 'worker-request') this.#chosen(peerOf(sight), requestId(sight.command.body));
        break;
      case 'inside':
        this.#choseItself(sight);
        break;
      default:
        break;
    }
  }

  /** Workers of a service have one version here, and so have its clients. */
  #choseItself({ broker, service, id }: Sight & { kind: 'inside' }): void {
    for (const version of ['0.1', '0.2', 'both']) {
      const idle = this.#idle.get(JSON.stringify([broker, version, service]))?.length ?? 0;
      if (idle > 0) throw new Error(`request ${id} went to the broker itself while ${idle} workers are idle`);
    }
  }

  #chosen(peer: string, id: string): void {
    const idle = this.#idleOf(peer);
    if (idle === undefined) throw new Error(`request ${id} went to a worker that is not registered`);
    const place = idle.indexOf(peer);
    if (place !== 0) throw new Error(`request ${id} went to idle worker number ${place} of ${idle.length}, not 0`);
    idle.shift();
  }

  #rest(peer: string): void {
    this.#wake(peer);
    this.#idleOf(peer)?.push(peer);
  }

  #wake(peer: string): void {
    const idle = this.#idleOf(peer);
    const place = idle?.indexOf(peer) ?? -1;
    if (place >= 0) idle?.splice(place, 1);
  }

  #idleOf(peer: string): string[] | undefined {
    const service = this.#services.get(peer);
    if (service === undefined) return undefined;
    const idle = this.#idle.get(service) ?? [];
    this.#idle.set(service, idle);
    return idle;
  }
}
