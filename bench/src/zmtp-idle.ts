/** The cost of idle connections for a broker on ZMTP in TypeScript. */
import { ROUTER_PEER } from '@proj/transport';
import type { SocketPort } from '@proj/transport';
import { ZmtpTransport } from '@proj/zmtp';
import { ProcessUnderTest } from './process-under-test.js';
import type { Report } from './statistics.js';
import { listener } from './zmtp-bodies.js';

const IDLE_WORKERS = 10_000;

/** Memory of a broker whose workers have sent only READY. */
export async function measureZmtpIdle(report: Report): Promise<void> {
  for (const lanes of [false, true]) {
    const { before, after } = await idleMemory(lanes);
    const what = `MDP broker on zmtp with ${IDLE_WORKERS.toLocaleString('en')} idle workers`;
    const name = `${what}, ${lanes ? 'in lanes' : 'a connection each'}: resident memory`;
    if (!lanes)
      report({ what: 'MDP broker on zmtp before anybody connects: resident memory', measured: before, unit: 'MB' });
    report({ what: name, measured: after, unit: 'MB', limit: { atMost: 200 } });
  }
}

/** In megabytes. */
async function idleMemory(lanes: boolean): Promise<{ readonly before: number; readonly after: number }> {
  // Idle workers must not expire while they are counted.
  const options = JSON.stringify({ heartbeatIntervalMs: 600_000 });
  const broker = await ProcessUnderTest.start('mdp-broker-zmtp', { environment: { PROJ_BENCH_BROKER: options } });
  const before = await broker.measure();
  const transport = new ZmtpTransport({ lanes });
  const workers: SocketPort[] = [];
  const ready = [Buffer.from('MDPW02'), Buffer.of(1), Buffer.from('echo')];
  for (let index = 0; index < IDLE_WORKERS; index++) {
    const worker = transport.dealer({ connectionHeartbeatMs: 0 });
    worker.connect(broker.endpoints.workers);
    worker.start(listener(() => undefined));
    worker.send(ROUTER_PEER, ready);
    workers.push(worker);
    // Not all at once: a listener's backlog is short.
    if (index % 200 === 199) await registered(broker, index - 100);
  }
  await registered(broker, IDLE_WORKERS);
  const after = await broker.measure();
  await Promise.all(workers.map((worker) => worker.close({ lingerMs: 0 })));
  await broker.stop();
  return { before: before.rssBytes / 1e6, after: after.rssBytes / 1e6 };
}

/** Resolves once the broker has this many workers. */
async function registered(broker: ProcessUnderTest, count: number): Promise<void> {
  while ((await broker.measure()).workers < count) await new Promise((resolve) => setTimeout(resolve, 20));
}
