/** Registers the metrics of servers in the user's own prom-client registry. */
import { register } from 'prom-client';
import type { Metric, Registry } from 'prom-client';
import type { ServerSnapshot } from '@proj/transport/engine';
import { SERVER_FAMILIES, SERVICES_MAX, ServiceNames } from './families.js';
import type { ServerFamily } from './families.js';
import { snapshotOf } from './server.js';
import type { Detailed } from './server.js';

/** Options of {@link collectMetrics}. */
export interface CollectOptions {
  /** Default: the global one of prom-client. */
  readonly registry?: Registry;
  /** Number of services with their own label; the rest count as `other`. Default: 1000. */
  readonly maxServices?: number;
}

/**
 * Registers the metrics of servers, by protocol. Each scrape takes one snapshot of each server.
 *
 * ```ts
 * const stop = collectMetrics({ mdp: broker }, { registry });
 * ```
 *
 * Returns a function that removes them from the registry. Throws prom-client's error if a name is taken.
 */
export function collectMetrics(servers: Readonly<Record<string, Detailed>>, options: CollectOptions = {}): () => void {
  const { registry = register, maxServices = SERVICES_MAX } = options;
  const names = new ServiceNames(maxServices);
  let scrape: ServerSnapshot[] | undefined;
  const snapshots = () => {
    if (scrape !== undefined) return scrape;
    // A registry reads all its metrics in one turn of the event loop.
    void Promise.resolve().then(() => (scrape = undefined));
    return (scrape = names.bound(Object.entries(servers).map(([protocol, facade]) => snapshotOf(protocol, facade))));
  };
  for (const family of SERVER_FAMILIES) registry.registerMetric(metricOf(family, snapshots));
  return () => {
    for (const { name } of SERVER_FAMILIES) registry.removeSingleMetric(name);
  };
}

/** The part of a metric that a registry reads: `get`. The classes of prom-client cannot be given the buckets of a histogram. */
function metricOf(family: ServerFamily, snapshots: () => readonly ServerSnapshot[]): Metric {
  const { name, help, type } = family;
  const get = () => {
    const values = family.samples(snapshots()).map(({ suffix, labels, value }) => ({
      labels,
      value,
      ...(suffix === undefined ? {} : { metricName: `${name}${suffix}` }),
    }));
    return Promise.resolve({ name, help, type, values, aggregator: 'sum' as const });
  };
  const metric = { name, help, aggregator: 'sum' as const, get, reset: () => undefined };
  return metric as unknown as Metric;
}
