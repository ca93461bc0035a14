/** The effect of attacks over HTTP on the clients of a broker, and of the same attacks on a process beside it. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { ask, dismiss, startChild } from './children.js';
import type { SiegeName, SiegeReport } from './http-siege.js';
import { ProcessUnderTest } from './process-under-test.js';
import { BenchRig } from './rig.js';
import { reportTable, sideBySide } from './samples.js';
import type { Sample } from './samples.js';
import { median } from './statistics.js';
import type { Report } from './statistics.js';

const WORKERS = 64;
const IN_FLIGHT = 200;
const WARM_UP_REQUESTS = 150_000;
/** Of the rate that the broker reaches when it never waits. At a third of it, the load process is busy most of the time, and decides the p99. */
const LOAD_SHARE = 1 / 8;
const ROUNDS = 15;
/** So that each round includes what happens once a second. */
const ROUND_SECONDS = 2;
/** Their rounds are longer. */
const CROWD_ROUNDS = 9;
/** A crowd comes at once, waits for 8 seconds, is cut, and comes again a second later: all of that happens once in a round. */
const CROWD_ROUND_SECONDS = 10;
const WARM_UP_ROUNDS = 1;
/** By then, an attack has used the turns that were saved, and an HTTP side has done what it does once. A crowd still arrives. */
const SETTLE_MS = 300;

/** Quiet rounds, rounds with an attack on the broker, and rounds with the same attack on another process alternate. */
export async function measureSieges(report: Report): Promise<void> {
  const broker = await ProcessUnderTest.start('mdp-broker-shown');
  const bystander = await ProcessUnderTest.start('mdp-broker-shown');
  const rig = await BenchRig.start('mdp', () => Promise.resolve(broker), WORKERS);
  const siege = startChild('http-siege');
  await rig.run(WARM_UP_REQUESTS, IN_FLIGHT);
  const { perSecond: most } = await rig.run(WARM_UP_REQUESTS, IN_FLIGHT);
  const perSecond = 1000 * Math.round((most * LOAD_SHARE) / 1000);
  const table = `MDP broker with --http under attack, ${WORKERS} workers, ${perSecond.toLocaleString('en')} requests a second`;
  for (const { attack, isCrowd } of await ask<SiegeName[]>(siege, 'names')) {
    const seconds = isCrowd ? CROWD_ROUND_SECONDS : ROUND_SECONDS;
    const run = () => rig.pace(perSecond * seconds, perSecond);
    const attacked = (reports?: SiegeReport[]) => (url: string) => whileAttacked(siege, { attack, url }, run, reports);
    const control = `${attack}, on a process beside it`;
    const quiet = `quiet, between: ${attack}`;
    const reports = { [attack]: [] as SiegeReport[], [control]: [] as SiegeReport[] };
    const samples = await sideBySide(
      isCrowd ? CROWD_ROUNDS : ROUNDS,
      Object.entries({
        [quiet]: () => whileShown(broker, run),
        [attack]: () => whileShown(broker, attacked(reports[attack])),
        [control]: () => whileShown(broker, () => whileShown(bystander, attacked(reports[control]))),
      }),
      WARM_UP_ROUNDS,
    );
    reportTable(table, samples, report);
    for (const [row, some] of Object.entries(reports)) {
      const cell = (column: string, of: (one: SiegeReport) => number): void => {
        const what = `${table}: ${row}: ${column}`;
        report({ what, measured: median(some.map(of)), unit: '/s', cell: { table, row, column } });
      };
      cell('connections', ({ connections, seconds }) => connections / seconds);
      cell('HTTP answers', ({ answers, seconds }) => answers / seconds);
    }
    const p99 = (row: string): number => median((samples.get(row) ?? []).map(({ latency }) => latency.p99));
    const compare = (what: string, one: string, other: string, limit?: { readonly atMost: number }): void => {
      const measured = p99(one) / p99(other);
      report({
        what: `HTTP attacked, ${attack}: ${what}`,
        measured,
        unit: 'x',
        ...(limit === undefined ? {} : { limit }),
      });
    };
    compare('p99 of requests over that of quiet rounds', attack, quiet);
    compare('the same while a process beside it is attacked: what the machine costs', control, quiet);
    compare('the first over the second: what the broker costs', attack, control, { atMost: 1.2 });
  }
  await dismiss(siege);
  await rig.stop();
  await bystander.stop();
}

/** Runs it while the process has an HTTP side: a new one, which remembers no attack, and has begun. */
async function whileShown(shown: ProcessUnderTest, run: (url: string) => Promise<Sample>): Promise<Sample> {
  const url = String(await shown.command('show'));
  await setTimeout(SETTLE_MS);
  const sample = await run(url);
  await shown.command('hide');
  return sample;
}

/** Runs it in the middle of an attack. */
async function whileAttacked(
  siege: ChildProcess,
  order: { readonly attack: string; readonly url: string },
  run: () => Promise<Sample>,
  reports: SiegeReport[] = [],
): Promise<Sample> {
  await ask(siege, order);
  await setTimeout(SETTLE_MS);
  const sample = await run();
  reports.push(await ask<SiegeReport>(siege, 'stop'));
  return sample;
}
