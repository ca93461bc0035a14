/** A large result through the NFP broker, on both transports, compared with a relay in Python that only forwards. */
import { measureMiddles } from './middle.js';
import { NativeLoop, python } from './native-process.js';
import type { Middle } from './rig.js';
import { ratio, reportTable } from './samples.js';
import type { Report, Skip } from './statistics.js';

const RELAY = 'relay on python3-zmq';
const ABOUT = 'result of 50 MB';
const LOAD = { protocol: 'nfp', workers: 1, requests: 4, inFlight: 1, sets: 3, resultBytes: 50_000_000 } as const;

/** From POST to the end of the RESPONSE. `skip` is called if Python is missing. */
export async function measureNfpResults(report: Report, skip: Skip): Promise<void> {
  const ours = new Map<string, Middle>([
    ['NFP broker on zmtp', 'nfp-broker-zmtp'],
    ['NFP broker on zeromq.js', 'nfp-broker'],
  ]);
  const middles = new Map(ours);
  const relay = await python('bare-nfp');
  if ('missing' in relay) skip(RELAY, relay.missing);
  else middles.set(RELAY, () => NativeLoop.start(relay.program, relay.parameters));
  const samples = await measureMiddles(middles, LOAD);
  reportTable(`NFP, ${ABOUT}`, samples, report);
  for (const name of ours.keys()) {
    const measured = ratio(samples, name, RELAY, ({ latency }) => latency.p50);
    const what = `${name} over ${RELAY}, ${ABOUT}: p50`;
    if (measured !== undefined) report({ what, measured, unit: 'x', limit: { atMost: 1 } });
  }
}
