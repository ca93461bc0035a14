/** The cost of observing a broker: CPU time with `--http`, and a scrape with many services. */
import { setTimeout } from 'node:timers/promises';
import { brokerCpu } from './middle.js';
import { ProcessUnderTest } from './process-under-test.js';
import { BenchRig } from './rig.js';
import { ratio, reportTable, sideBySide } from './samples.js';
import type { Sample } from './samples.js';
import { median } from './statistics.js';
import type { Report } from './statistics.js';

const WORKERS = 64;
const IN_FLIGHT = 200;
/** Rounds of several seconds, so that each includes its share of scrapes. */
const REQUESTS = 60_000;
const ROUNDS = 7;
const SETS = 3;
const SCRAPE_EVERY_MS = 1000;
const WATCHED = 'MDP broker with --http';
const ALONE = 'MDP broker without';
const SCRAPES = 15;
/** A scrape that comes sooner gets the figures of the one before. */
const SCRAPE_APART_MS = 400;
const MANY = 10_000;
const BOUND = 1000;

/** All measurements. */
export async function measureObserve(report: Report): Promise<void> {
  await measureCost(report);
  await measureScrapes(report);
}

/** Rounds with and without alternate in the same process: the same broker, started twice, can differ by a tenth in memory layout and compiled code. */
async function measureCost(report: Report): Promise<void> {
  const all = new Map<string, Sample[]>([
    [ALONE, []],
    [WATCHED, []],
  ]);
  for (let set = 0; set < SETS; set++) {
    const broker = await ProcessUnderTest.start('mdp-broker-shown');
    const rig = await BenchRig.start('mdp', () => Promise.resolve(broker), WORKERS);
    const run = () => rig.run(REQUESTS, IN_FLIGHT);
    const samples = await sideBySide(ROUNDS, [
      [ALONE, run],
      [WATCHED, () => whileWatched(broker, run)],
    ]);
    for (const [name, some] of samples) all.get(name)?.push(...some);
    await rig.stop();
  }
  reportTable(`MDP broker on zmtp, ${WORKERS} workers, ${IN_FLIGHT} in flight`, all, report);
  const measured = ratio(all, WATCHED, ALONE, brokerCpu) ?? Number.NaN;
  const what = 'with --http, a scrape each second and an event stream, over without: CPU per request';
  report({ what, measured, unit: 'x', limit: { atMost: 1.03 } });
}

/** Runs it while the broker has a Prometheus and a dashboard, both in this process. */
async function whileWatched<Result>(broker: ProcessUnderTest, run: () => Promise<Result>): Promise<Result> {
  const url = await show(broker);
  const left = new AbortController();
  const { signal } = left;
  const watchers = Promise.allSettled([scrapeForEver(url, signal), readStream(url, signal)]);
  const result = await run();
  left.abort();
  for (const outcome of await watchers)
    if (outcome.status === 'rejected' && (outcome.reason as Error).name !== 'AbortError') throw outcome.reason;
  await broker.command('hide');
  return result;
}

async function show(broker: ProcessUnderTest): Promise<string> {
  return (await broker.command('show')) as string;
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
  const url = await show(broker);
  const times: number[] = [];
  let series = 0;
  for (let index = 0; index < SCRAPES; index++) {
    const begun = performance.now();
    const text = await (await fetch(new URL('metrics', url))).text();
    times.push(performance.now() - begun);
    if (!text.startsWith('# HELP')) throw new Error(`no metrics: ${text.slice(0, 100)}`);
    series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
    await setTimeout(SCRAPE_APART_MS);
  }
  await broker.stop();
  return { ms: median(times), series };
}
