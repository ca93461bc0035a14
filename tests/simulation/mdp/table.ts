/** Checker of rules 7 to 13 together: when all is calm, the broker's table lists each live worker once. */
import { latin1 } from '@proj/frames';
import type { MmiWorkerEntry } from '@proj/frames/mdp';
import { peerOf } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** A worker that should be registered: one per connection of a host, or per handler that may run inside a broker. */
export interface ExpectedWorker {
  readonly host: string;
  readonly service: string;
  readonly version: string;
  readonly count: number;
}

/** Knows which host is behind which routing id. */
export class TableChecker implements Checker {
  readonly #hosts = new Map<string, string>();

  onSight(sight: Sight): void {
    if (sight.kind === 'connected') this.#hosts.set(peerOf(sight), sight.client);
    else if (sight.kind === 'disconnected') this.#hosts.delete(peerOf(sight));
  }

  /** What is wrong with the listings (`mmi.workers`) of the brokers, one line each; empty if they are right. */
  differences(listings: ReadonlyMap<string, readonly MmiWorkerEntry[]>, expected: readonly ExpectedWorker[]): string[] {
    const found = new Map<string, number>();
    const faults: string[] = [];
    for (const [broker, entries] of listings) {
      for (const { id, service, version } of entries) {
        if (id === '') {
          const line = describe(broker, service, version);
          found.set(line, (found.get(line) ?? 0) + 1);
          continue;
        }
        const key = latin1(Buffer.from(id, 'hex'));
        const host = this.#hosts.get(`${broker}/${key}`);
        if (host === undefined) faults.push(`${broker} lists 0x${id}, whose connection is gone`);
        const line = describe(host ?? '?', service, version);
        found.set(line, (found.get(line) ?? 0) + 1);
      }
    }
    for (const { host, service, version, count } of expected) {
      const line = describe(host, service, version);
      const actual = found.get(line) ?? 0;
      if (actual !== count) faults.push(`${line}: ${actual} registered, ${count} alive`);
      found.delete(line);
    }
    for (const line of found.keys()) faults.push(`${line}: registered, but nobody lives there`);
    return faults;
  }
}

function describe(host: string, service: string, version: string): string {
  return `${host} for ${service} (${version})`;
}
