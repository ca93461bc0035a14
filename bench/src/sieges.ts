/** The effect of attacks over HTTP on the clients of a broker. */
import { ask, dismiss, startChild } from './children.js';
import { ProcessUnderTest } from './process-under-test.js';
import { BenchRig } from './rig.js';
import { ratio, reportTable, sideBySide } from './samples.js';
import type { Sample } from './samples.js';
import { median } from './statistics.js';
import type { Report } from './statistics.js';

const WORKERS = 64;
const IN_FLIGHT = 200;
/** Rounds of several seconds, so that each includes what happens once a second. */
const REQUESTS = 40_000;
const ROUNDS = 5;
const TABLE = `MDP broker with --http under attack, ${WORKERS} workers, ${IN_FLIGHT} in flight`;

/** A broker with `--http` and a token; quiet rounds and rounds under attack alternate. */
export async function measureSieges(report: Report): Promise<void> {
  const broker = await ProcessUnderTest.start('mdp-broker-shown');
  const rig = await BenchRig.start('mdp', () => Promise.resolve(broker), WORKERS);
  const siege = startChild('http-siege');
  const url = await broker.command('show');
  const run = () => rig.run(REQUESTS, IN_FLIGHT);
  await sideBySide(0, [['warm up', run]]);
  for (const attack of await ask<string[]>(siege, 'names')) {
    const answersPerSecond: number[] = [];
    const attacked = async (): Promise<Sample> => {
      await ask(siege, { attack, url });
      const sample = await run();
      answersPerSecond.push((await ask<number>(siege, 'stop')) / (REQUESTS / sample.perSecond));
      return sample;
    };
    const quiet = `quiet, between: ${attack}`;
    const samples = await sideBySide(ROUNDS, Object.entries({ [quiet]: run, [attack]: attacked }), 0);
    reportTable(TABLE, samples, report);
    const cell = { table: TABLE, row: attack, column: 'HTTP answers' };
    report({ what: `${TABLE}: ${attack}: HTTP answers`, measured: median(answersPerSecond), unit: '/s', cell });
    const measured = ratio(samples, attack, quiet, ({ latency }) => latency.p99) ?? Number.NaN;
    const what = `HTTP attacked, ${attack}: p99 of requests over that of quiet rounds`;
    report({ what, measured, unit: 'x', limit: { atMost: 1.2 } });
  }
  await dismiss(siege);
  await rig.stop();
}
