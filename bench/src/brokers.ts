/**
 * The MDP broker alone under a load generator, on both transports, compared with loops that only forward: in C, in Python and on
 * Node.
 */
import { brokerCpu, measureMiddles } from './middle.js';
import { compile, NativeLoop, python } from './native-process.js';
import type { Startable } from './native-process.js';
import type { Middle } from './rig.js';
import { ratio, reportTable } from './samples.js';
import type { Sample } from './samples.js';
import type { Finding, Report, Skip } from './statistics.js';

const ZMTP = 'MDP broker on zmtp';
const ZMQ = 'MDP broker on zeromq.js';
const C = 'bare loop in C on libzmq';
const LOADS = [
  { protocol: 'mdp', workers: 1, requests: 2000, inFlight: 1, sets: 3 },
  // The cost of a round can differ by a fifth from the next, depending on which processes share a core, so it takes many
  // rounds to compare brokers.
  { protocol: 'mdp', workers: 64, requests: 20_000, inFlight: 200, sets: 6 },
] as const;

/** Measures all of them in each round. `skip` receives those that are not installed. */
export async function measureBrokers(report: Report, skip: Skip): Promise<void> {
  // Programs that are compared run next to each other.
  const middles = new Map<string, Middle>([
    ['bare loop on zmtp', 'bare-mdp-zmtp'],
    [ZMTP, 'mdp-broker-zmtp'],
  ]);
  const native = (name: string, loop: Startable): void => {
    if ('missing' in loop) skip(name, loop.missing);
    else middles.set(name, () => NativeLoop.start(loop.program, loop.parameters));
  };
  native(C, await compile('bare-mdp'));
  middles.set('bare loop on zeromq.js', 'bare-mdp').set(ZMQ, 'mdp-broker');
  native('bare loop on python3-zmq', await python('bare-mdp'));
  for (const load of LOADS) {
    const samples = await measureMiddles(middles, load);
    const about = `${load.workers === 1 ? '1 worker' : `${load.workers} workers`}, ${load.inFlight} in flight`;
    reportTable(`broker alone, ${about}`, samples, report);
    const over = (one: string, other: string, of: (sample: Sample) => number, limit?: Finding['limit']): void => {
      const measured = ratio(samples, one, other, of);
      const what = `${one} over ${other}, ${about}: ${of === brokerCpu ? 'CPU per request' : 'p50'}`;
      if (measured !== undefined) report({ what, measured, unit: 'x', ...(limit && { limit }) });
    };
    if (load.inFlight === 1) {
      over(ZMTP, ZMQ, ({ latency }) => latency.p50, { atMost: 0.8 });
    } else {
      over(ZMTP, C, brokerCpu, { atMost: 1 });
      over(ZMTP, ZMQ, brokerCpu, { atMost: 0.5 });
      over(ZMTP, 'bare loop on zmtp', brokerCpu);
      over('bare loop on zeromq.js', C, brokerCpu);
    }
  }
}
