/** Metrics of the process itself, under the names that Prometheus clients use. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Family, Sample } from './families.js';
import type { Model } from './model.js';

/** A metric of the process. */
export interface ProcessFamily extends Family {
  readonly samples: (model: Model) => Sample[];
}

/** What Node measures: the intervals of a timer, in nanoseconds. */
type LoopDelay = Pick<
  ReturnType<typeof monitorEventLoopDelay>,
  'mean' | 'max' | 'percentile' | 'enable' | 'disable' | 'reset'
>;

const NANOSECONDS = 1e9;
/** This timer also wakes an idle process: with 10 ms it costs 0.3 % of a core. */
const DELAY_TIMER_MS = 50;

/** All metrics of the process, and a function that ends the measurement behind them. */
export function processFamilies(delay: LoopDelay = monitorEventLoopDelay({ resolution: DELAY_TIMER_MS })): {
  readonly families: readonly ProcessFamily[];
  readonly close: () => void;
} {
  delay.enable();
  const families: ProcessFamily[] = [
    {
      name: 'proj_build_info',
      type: 'gauge',
      labels: ['program', 'version'],
      help: 'Name and version of the program; the value is 1.',
      samples: ({ process: { name, version } }) => [{ labels: { program: name, version }, value: 1 }],
    },
    one('proj_draining', 'gauge', '1 while the process is draining, otherwise 0.', (model) =>
      Number(model.process.isDraining),
    ),
    one(
      'proj_memory_max_bytes',
      'gauge',
      'Memory limit for all peers together.',
      (model) => model.process.memoryMaxBytes,
    ),
    one(
      'proj_memory_held_bytes',
      'gauge',
      'Estimated memory in use for peers.',
      (model) => model.process.memoryHeldBytes,
    ),
    {
      name: 'proj_faults',
      type: 'gauge',
      labels: ['fault'],
      help: 'Faults that the program detects in its own figures, by kind.',
      samples: ({ faults }) =>
        ['slow-worker', 'stuck-worker', 'flooding-client', 'service-without-workers', 'disk-full'].map((fault) => ({
          labels: { fault },
          value: Object.values(faults).filter(({ code }) => code === fault).length,
        })),
    },
    one('process_cpu_seconds_total', 'counter', 'User and system CPU time.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
    one('process_resident_memory_bytes', 'gauge', 'Resident memory.', () => process.memoryUsage.rss()),
    one(
      'process_start_time_seconds',
      'gauge',
      'Start of the process since 1970.',
      (model) => model.process.startedAt / 1000,
    ),
    one('nodejs_heap_size_used_bytes', 'gauge', 'Heap in use.', () => process.memoryUsage().heapUsed),
    one('nodejs_external_memory_bytes', 'gauge', 'Memory outside the heap.', () => process.memoryUsage().external),
    one(
      'nodejs_eventloop_utilization_ratio',
      'gauge',
      'Share of the time since the start in which the event loop was busy.',
      () => performance.eventLoopUtilization().utilization,
    ),
    one('nodejs_eventloop_lag_mean_seconds', 'gauge', 'Mean delay of the event loop since the last scrape.', () =>
      lateSeconds(delay.mean),
    ),
    one('nodejs_eventloop_lag_p99_seconds', 'gauge', '99th percentile of the delay since the last scrape.', () =>
      lateSeconds(delay.percentile(99)),
    ),
    one('nodejs_eventloop_lag_max_seconds', 'gauge', 'Longest delay since the last scrape.', () => {
      const max = lateSeconds(delay.max);
      delay.reset();
      return max;
    }),
  ];
  return { families, close: () => void delay.disable() };
}

function one(name: string, type: 'counter' | 'gauge', help: string, value: (model: Model) => number): ProcessFamily {
  return { name, type, labels: [], help, samples: (model) => [{ labels: {}, value: value(model) }] };
}

/** How much longer than planned the interval took. Before the first measurement the value is NaN or the largest number. */
function lateSeconds(nanoseconds: number): number {
  if (!Number.isFinite(nanoseconds) || nanoseconds >= Number.MAX_SAFE_INTEGER) return 0;
  return Math.max(0, nanoseconds / NANOSECONDS - DELAY_TIMER_MS / 1000);
}
