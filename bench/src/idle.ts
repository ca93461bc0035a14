/** The CPU time of a broker while its workers only send heartbeats. */
import { BenchRig } from './rig.js';
import type { Middle } from './rig.js';
import type { Report } from './statistics.js';

const WORKERS = 1000;
const IDLE_MS = 10_000;
/** V8 compacts its heap several times, once, about 10 s after a process has become idle: up to 1 % of a core in that time. */
const SETTLING_MS = 25_000;

/**
 * CPU time of the broker, user and system, with workers that have a connection each: on the default transport, and on libzmq for
 * comparison.
 */
export async function measureIdle(report: Report): Promise<void> {
  const measured = await idleShare('mdp-broker-zmtp');
  const what = 'MDP broker, 1,000 idle workers with heartbeats: CPU';
  report({ what, measured: 100 * measured, unit: '% of a core', limit: { atMost: 2 } });
  report({ what: `${what}, on libzmq`, measured: 100 * (await idleShare('mdp-broker')), unit: '% of a core' });
}

/** Share of a core. Before the measurement the code is compiled, and the heap has settled. */
async function idleShare(middle: Middle): Promise<number> {
  const rig = await BenchRig.start('mdp', middle, WORKERS);
  await rig.run(2000, 200);
  await rig.idle(SETTLING_MS);
  const share = await rig.idle(IDLE_MS);
  await rig.stop();
  return share;
}
