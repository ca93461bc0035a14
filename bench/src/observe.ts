/** The cost of observing a broker: CPU time with `--http`, and a scrape with many services. */
import { setTimeout } from 'node:timers/promises';
import { brokerCpu, measureMiddles } from './middle.js';
import { ProcessUnderTest } from './process-under-test.js';
import type { UnderTest } from './process-under-test.js';
import type { Middle } from './rig.js';
import { ratio, reportTable } from './samples.js';
import { median } from './statistics.js';
import type { Report } from './statistics.js';

/** Rounds of several seconds, so that each includes its share of scrapes. */
const LOAD = { protocol: 'mdp', workers: 64, requests: 100_000, inFlight: 200, sets: 3 } as const;
const SCRAPE_EVERY_MS = 1000;
const WATCHED = 'MDP broker with --http';
const ALONE = 'MDP broker without';
const SCRAPES = 15;
/** A scrape that comes sooner gets the figures of the one before. */
const SCRAPE_APART_MS = 400;
const MANY = 10_000;
const BOUND = 1000;

/** Both measurements. */
export async function measureObserve(report: Report): Promise<void> {
  const middles = new Map<string, Middle>([
    [ALONE, 'mdp-broker-zmtp'],
    [WATCHED, () => Watched.start()],
  ]);
  const samples = await measureMiddles(middles, LOAD);
  reportTable(`MDP broker on zmtp, ${LOAD.workers} workers, ${LOAD.inFlight} in flight`, samples, report);
  const measured = ratio(samples, WATCHED, ALONE, brokerCpu) ?? Number.NaN;
  const what = 'with --http, a scrape each second and an event stream, over without: CPU per request';
  report({ what, measured, unit: 'x', limit: { atMost: 1.03 } });
  await measureScrapes(report);
}

/** A broker with a Prometheus and a dashboard, both in this process. */
class Watched implements UnderTest {
  readonly #broker: ProcessUnderTest;
  readonly #left = new AbortController();
  readonly #watchers: Promise<PromiseSettledResult<void>[]>;

  private constructor(broker: ProcessUnderTest, url: string) {
    this.#broker = broker;
    const { signal } = this.#left;
    this.#watchers = Promise.allSettled([scrapeForEver(url, signal), readStream(url, signal)]);
  }

  static async start(): Promise<Watched> {
    const broker = await ProcessUnderTest.start('mdp-broker-shown');
    return new Watched(broker, broker.endpoints.http ?? '');
  }

  get endpoints() {
    return this.#broker.endpoints;
  }

  measure() {
    return this.#broker.measure();
  }

  async stop(): Promise<void> {
    this.#left.abort();
    for (const outcome of await this.#watchers)
      if (outcome.status === 'rejected' && (outcome.reason as Error).name !== 'AbortError') throw outcome.reason;
    await this.#broker.stop();
  }
}

async function scrapeForEver(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const answer = await fetch(new URL('metrics', url), { signal });
    await answer.text();
    if (!answer.ok) throw new Error(`/metrics: ${answer.status}`);
    await setTimeout(SCRAPE_EVERY_MS, undefined, { signal });
  }
}

async function readStream(url: string, signal: AbortSignal): Promise<void> {
  const answer = await fetch(new URL('api/events', url), { signal });
  if (!answer.ok) throw new Error(`/api/events: ${answer.status}`);
  const reader = answer.body?.getReader();
  while ((await reader?.read())?.done === false);
}

async function measureScrapes(report: Report): Promise<void> {
  const many = await scrapes(MANY);
  const bound = await scrapes(BOUND);
  const title = `scrape of an MDP broker with ${MANY.toLocaleString('en')} services`;
  report({ what: `${title}: time`, measured: many.ms, unit: 'ms', limit: { atMost: 150 } });
  report({ what: `${title}: series`, measured: many.series, unit: '' });
  const over = `${title}: series over those of ${BOUND.toLocaleString('en')} services`;
  report({ what: over, measured: many.series / bound.series, unit: 'x', limit: { atMost: 1.01 } });
}

/** The median time of a scrape, and how many series it has. */
async function scrapes(services: number): Promise<{ readonly ms: number; readonly series: number }> {
  const environment = { PROJ_BENCH_SERVICES: String(services) };
  const broker = await ProcessUnderTest.start('mdp-broker-shown', { environment });
  const times: number[] = [];
  let series = 0;
  for (let index = 0; index < SCRAPES; index++) {
    const begun = performance.now();
    const text = await (await fetch(new URL('metrics', broker.endpoints.http))).text();
    times.push(performance.now() - begun);
    if (!text.startsWith('# HELP')) throw new Error(`no metrics: ${text.slice(0, 100)}`);
    series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
    await setTimeout(SCRAPE_APART_MS);
  }
  await broker.stop();
  return { ms: median(times), series };
}
