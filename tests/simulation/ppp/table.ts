/** Checker of rules 1, 6, 11 and 12 together: when all is calm, each broker knows each connection of the live workers once. */
import { forgetBroker, peerOf } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** A worker that should be registered: one per connection of a host. */
export interface ExpectedWorker {
  readonly host: string;
  readonly count: number;
}

/** Knows which host is behind which routing id, and who is registered. */
export class TableChecker implements Checker {
  readonly #hosts = new Map<string, string>();
  readonly #registered = new Map<string, true>();

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'connected':
        this.#hosts.set(peerOf(sight), sight.client);
        break;
      case 'disconnected':
        if (this.#hosts.get(peerOf(sight)) === sight.client) this.#hosts.delete(peerOf(sight));
        break;
      case 'worker-ready':
        this.#registered.set(peerOf(sight), true);
        break;
      case 'worker-lost':
        this.#registered.delete(peerOf(sight));
        break;
      case 'crashed':
        forgetBroker(sight.broker, this.#registered, this.#hosts);
        break;
      default:
        break;
    }
  }

  /** What is wrong, one line each; empty if all is right. `counts` are the brokers' own counters. */
  differences(expected: readonly ExpectedWorker[], counts: ReadonlyMap<string, number>): string[] {
    const found = new Map<string, number>();
    const faults: string[] = [];
    for (const peer of this.#registered.keys()) {
      const host = this.#hosts.get(peer);
      if (host === undefined) faults.push(`${peer} is registered, but its connection is gone`);
      else found.set(host, (found.get(host) ?? 0) + 1);
    }
    for (const { host, count } of expected) {
      const actual = found.get(host) ?? 0;
      if (actual !== count) faults.push(`${host}: ${actual} registered, ${count} alive`);
      found.delete(host);
    }
    for (const host of found.keys()) faults.push(`${host}: registered, but no worker lives there`);
    for (const [broker, count] of counts) {
      const announced = [...this.#registered.keys()].filter((peer) => peer.startsWith(`${broker}/`)).length;
      if (announced !== count) faults.push(`${broker}: ${announced} announced, ${count} in its table`);
    }
    return faults;
  }
}
