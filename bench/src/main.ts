/**
 * `npm run bench`: every comparison side by side in one run, or `npm run bench -- pzq-store` for those of one name. Prints a table, or
 * JSON with `--json`; `--plots FOLDER` also writes both there, with drawings. Exit code 1 when a limit is missed.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MdpEngineLoad } from './mdp-engine.js';
import { measureEmqpRates } from './emqp-rates.js';
import { measureChains } from './chain/measure.js';
import type { Protocol } from './load.js';
import { Rig } from './rig.js';
import type { Middle, RequestCost } from './rig.js';
import { nfpBroadcastMicros } from './nfp-engine.js';
import { measurePzqRates } from './pzq-rates.js';
import { measurePzqRivals } from './pzq-rivals.js';
import { measurePzqStores } from './pzq-store.js';
import { machine } from './machine.js';
import { plots } from './plots.js';
import { measureBrokerCrowds, measureBrokerLoads } from './scale/broker.js';
import { measureEngineScale } from './scale/engine.js';
import { compile, NativeLoop } from './native-process.js';
import { measureZmtpBodies, measureZmtpIdle } from './zmtp-rates.js';
import { describe, holds, median, type Finding } from './statistics.js';

const ROUNDS = 5;
const CPU_PLOT = 'in the middle: CPU per request, 64 workers, 200 in flight';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, plots: { type: 'string' } },
});
const { json } = values;
const findings: Finding[] = [];
/** What could not be measured here, and what it lacks. */
const leftOut: { readonly what: string; readonly missing: string }[] = [];

function report(finding: Finding): void {
  findings.push(finding);
  if (!json) console.log(describe(finding));
}

/** A comparison that cannot be made here. */
function skip(what: string, missing: string): void {
  leftOut.push({ what, missing });
  console.error(`bench: left out: ${what}; missing: ${missing}`);
}

function engine(): void {
  const load = new MdpEngineLoad({ workers: 64 });
  load.run(200_000);
  const measured = median(Array.from({ length: ROUNDS }, () => 1e6 / load.run(200_000)));
  const what = 'MDP engine with codec, 64 workers: request-replies';
  report({ what, measured, unit: '/s of CPU', limit: { atLeast: 500_000 } });
}

/**
 * Jobs for all workers: each costs what it costs, however many there are. A hundred workers alone fit into the caches of a core, so
 * what is held to a limit is one broker of 10,000 over a hundred brokers of 100, which take up as much memory.
 */
function broadcasts(): void {
  const rounds = Array.from({ length: 2 * ROUNDS + 1 }, () => ({
    alone: nfpBroadcastMicros(100, 1, 1000),
    few: nfpBroadcastMicros(100, 100, 10),
    many: nfpBroadcastMicros(10_000, 1, 10),
  }));
  const measured = median(rounds.map(({ many }) => many));
  report({ what: 'NFP engine with codec, job for 10,000 workers of 100 services', measured, unit: 'us/worker' });
  const growth = median(rounds.map(({ few, many }) => many / few));
  report({ what: 'the same over 100 workers, caches as cold', measured: growth, unit: 'x', limit: { atMost: 1.3 } });
  const cached = median(rounds.map(({ alone, many }) => many / alone));
  report({ what: 'the same over 100 workers that fit into the caches', measured: cached, unit: 'x' });
}

/** Our process in the middle and the bare loop it is held against. */
interface Contest {
  readonly protocol: Protocol;
  readonly name: string;
  readonly ours: Middle;
  readonly bare: Middle;
}

const MDP: Contest = { protocol: 'mdp', name: 'MDP broker', ours: 'mdp-broker', bare: 'bare-mdp' };
const EMQP: Contest = { protocol: 'emqp', name: 'EMQP broker', ours: 'emqp-broker', bare: 'bare-emqp' };
const NFP: Contest = { protocol: 'nfp', name: 'NFP broker', ours: 'nfp-broker', bare: 'bare-nfp' };
const PPP: Contest = { protocol: 'ppp', name: 'PPP queue', ours: 'ppp-queue', bare: 'bare-ppp' };

interface Outcome {
  readonly ours: RequestCost;
  readonly bare: RequestCost;
  readonly ratio: number;
}

/** Medians of ours and of the bare loop, measured in turn so that both see the same machine. */
async function compare(
  { protocol, ours, bare }: Contest,
  workers: number,
  requests: number,
  inFlight = 200,
): Promise<Outcome> {
  const rigs = { ours: await Rig.start(protocol, ours, workers), bare: await Rig.start(protocol, bare, workers) };
  const costs = { ours: [] as RequestCost[], bare: [] as RequestCost[] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const side of ['bare', 'ours'] as const) {
      const cost = await rigs[side].run(requests, inFlight);
      // The first round warms both up.
      if (round > 0) costs[side].push(cost);
    }
  }
  await rigs.ours.stop();
  await rigs.bare.stop();
  const middle = (side: 'ours' | 'bare'): RequestCost => ({
    cpuMicros: median(costs[side].map(({ cpuMicros }) => cpuMicros)),
    perSecond: median(costs[side].map(({ perSecond }) => perSecond)),
    p50Micros: median(costs[side].flatMap(({ p50Micros }) => p50Micros ?? [])),
  });
  const ratios = costs.ours.map(({ cpuMicros }, round) => cpuMicros / (costs.bare[round]?.cpuMicros ?? Number.NaN));
  return { ours: middle('ours'), bare: middle('bare'), ratio: median(ratios) };
}

async function inTheMiddle(contest: Contest, limit?: Finding['limit']): Promise<void> {
  const { name } = contest;
  const load = '64 workers, 200 in flight';
  const { ours, bare, ratio } = await compare(contest, 64, 20_000);
  report({ what: `bare zeromq.js loop for the ${name}, ${load}: CPU`, measured: bare.cpuMicros, unit: 'us/request' });
  report({ what: `${name}, ${load}: CPU`, measured: ours.cpuMicros, unit: 'us/request' });
  report({ what: `${name} over bare loop: CPU per request`, measured: ratio, unit: 'x', ...(limit && { limit }) });
  report({ what: `${name}: throughput`, measured: ours.perSecond, unit: '/s' });
}

/** The same broker on both transports: what the sockets cost. */
async function transports(): Promise<void> {
  const both = { ...MDP, ours: 'mdp-broker-zmtp', bare: 'mdp-broker' };
  const { ours, bare: zmq, ratio } = await compare(both, 64, 20_000);
  report({
    what: 'MDP broker on zmtp, 64 workers, 200 in flight: CPU',
    measured: ours.cpuMicros,
    unit: 'us/request',
    place: { plot: CPU_PLOT, series: 'MDP broker on zmtp' },
  });
  report({
    what: 'MDP broker on libzmq, the same',
    measured: zmq.cpuMicros,
    unit: 'us/request',
    place: { plot: CPU_PLOT, series: 'MDP broker on zeromq.js' },
  });
  const what = 'MDP broker on zmtp over the same on libzmq: CPU per request';
  report({ what, measured: ratio, unit: 'x', limit: { atMost: 0.5 } });
  const lone = await compare(both, 1, 2000, 1);
  const [p50, other] = [lone.ours.p50Micros ?? Number.NaN, lone.bare.p50Micros ?? Number.NaN];
  report({ what: 'MDP broker on zmtp, 1 request in flight: round trip p50', measured: p50, unit: 'us' });
  report({ what: 'the same over libzmq: round trip p50', measured: p50 / other, unit: 'x', limit: { atMost: 0.8 } });
  await againstC();
}

/** Ours, with everything it does, over a loop in C that only forwards. */
async function againstC(): Promise<void> {
  const compiled = await compile('bare-mdp');
  if ('missing' in compiled) {
    skip('MDP broker over a bare loop in C', compiled.missing);
    return;
  }
  const c = () => NativeLoop.start(compiled.program);
  const { bare, ratio } = await compare({ ...MDP, ours: 'mdp-broker-zmtp', bare: c }, 64, 20_000);
  const load = '64 workers, 200 in flight';
  report({
    what: `bare libzmq loop in C for the MDP broker, ${load}: CPU`,
    measured: bare.cpuMicros,
    unit: 'us/request',
    place: { plot: CPU_PLOT, series: 'bare loop in C on libzmq' },
  });
  const what = 'MDP broker on zmtp over bare loop in C: CPU per request';
  report({ what, measured: ratio, unit: 'x', limit: { atMost: 1 } });
  const { ours: loop, ratio: add } = await compare({ ...MDP, ours: 'bare-mdp', bare: c }, 64, 20_000);
  report({
    what: 'bare zeromq.js loop, the same',
    measured: loop.cpuMicros,
    unit: 'us/request',
    place: { plot: CPU_PLOT, series: 'bare loop on zeromq.js' },
  });
  report({ what: 'bare zeromq.js loop over bare loop in C: CPU per request', measured: add, unit: 'x' });
}

async function growth(contest: Contest): Promise<void> {
  const few = await compare(contest, 10, 20_000);
  const many = await compare(contest, 1000, 20_000);
  report({ what: `${contest.name} over bare loop, 10 workers`, measured: few.ratio, unit: 'x' });
  report({ what: `${contest.name} over bare loop, 1,000 workers`, measured: many.ratio, unit: 'x' });
  const measured = many.ratio / few.ratio;
  report({ what: 'growth of that ratio from 10 to 1,000 workers', measured, unit: 'x', limit: { atMost: 1.2 } });
}

async function idle({ protocol, name, ours }: Contest): Promise<void> {
  const rig = await Rig.start(protocol, ours, 1000);
  await rig.run(2000, 200);
  const measured = 100 * (await rig.idle(10_000));
  report({
    what: `${name}, 1,000 idle workers with heartbeats: CPU`,
    measured,
    unit: '% of a core',
    limit: { atMost: 3 },
  });
  await rig.stop();
}

/** What can be asked for by name; all of it where nothing is. */
const SECTIONS: Readonly<Record<string, () => Promise<void>>> = {
  mdp: async () => {
    engine();
    await inTheMiddle(MDP, { atMost: 1.25 });
    await growth(MDP);
    await idle(MDP);
  },
  emqp: async () => {
    await measureEmqpRates(report);
    await inTheMiddle(EMQP, { atMost: 1.5 });
  },
  nfp: async () => {
    broadcasts();
    await inTheMiddle(NFP, { atMost: 1.5 });
  },
  zmtp: async () => {
    await transports();
    await measureZmtpBodies(report);
    await measureZmtpIdle(report);
  },
  chain: () => measureChains(report, skip),
  'scale-engine': () => measureEngineScale(report),
  'scale-crowds': () => measureBrokerCrowds(report),
  'scale-loads': () => measureBrokerLoads(report),
  ppp: () => inTheMiddle(PPP, { atMost: 1.25 }),
  pzq: () => measurePzqRates(report),
  'pzq-rivals': () => measurePzqRivals(report, skip),
  'pzq-store': () => measurePzqStores(report),
};

/** What `scale` stands for. */
const SCALE = ['scale-engine', 'scale-crowds', 'scale-loads'];

const names = positionals.flatMap((name) => (name === 'scale' ? SCALE : [name]));
const unknown = names.find((name) => !(name in SECTIONS));
if (unknown === undefined) {
  const sections = names.length > 0 ? names : Object.keys(SECTIONS);
  const about = await machine();
  const measured: string[] = [];
  const results = (): string => `${JSON.stringify({ machine: about, measured, leftOut, findings }, undefined, 2)}\n`;
  for (const name of sections) {
    await SECTIONS[name]?.();
    measured.push(name);
    // Runs are long: what is measured is kept, whatever becomes of the rest.
    if (values.plots !== undefined) await save(values.plots, results());
  }
  if (json) process.stdout.write(results());
  process.exitCode = findings.every(holds) ? 0 : 1;
} else {
  console.error(`bench: ${unknown} is none of ${Object.keys(SECTIONS).join(', ')}`);
  process.exitCode = 2;
}

async function save(folder: string, results: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'results.json'), results);
  for (const [name, svg] of plots(findings)) await writeFile(join(folder, `${name}.svg`), svg);
}
