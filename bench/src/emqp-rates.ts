/** EventMQ end to end: client, broker, job manager and one process per slot, over real sockets. */
import { setTimeout } from 'node:timers/promises';
import { EmqpClient } from '@proj/client';
import { zmqTransport } from '@proj/transport/zmq';
import { ProcessUnderTest } from './process-under-test.js';
import { median } from './statistics.js';
import type { Finding } from './statistics.js';

const SLOTS = 8;
const LONE_JOBS = 500;
const JOBS = 10_000;
const IN_FLIGHT = 64;
const ROUNDS = 3;
const POLL_MS = 20;

const JOB = { path: 'bench', callable: 'noop' } as const;

/** Measures how long a single job takes and how many jobs a second eight slots run. */
export async function measureEmqpRates(report: (finding: Finding) => void): Promise<void> {
  const broker = await ProcessUnderTest.start('emqp-broker');
  const { clients, workers } = broker.endpoints;
  const manager = await ProcessUnderTest.start('emqp-manager', { environment: { PROJ_BENCH_BACKEND: workers } });
  const client = new EmqpClient({ transport: zmqTransport(), endpoints: [clients] });
  try {
    while ((await manager.measure()).workers < SLOTS) await setTimeout(POLL_MS);
    await many(client, JOBS);
    const latencies: number[] = [];
    for (let job = 0; job < LONE_JOBS; job++) latencies.push(await lone(client));
    const what = 'EMQP job manager, a lone no-op job from call to result, p50';
    report({ what, measured: median(latencies), unit: 'ms', limit: { atMost: 20 } });
    const rates: number[] = [];
    const before = await manager.measure();
    for (let round = 0; round < ROUNDS; round++) rates.push(await many(client, JOBS));
    const after = await manager.measure();
    const load = `EMQP job manager, ${SLOTS} processes, no-op jobs with results`;
    report({ what: load, measured: median(rates), unit: '/s', limit: { atLeast: 2000 } });
    const cpuMicros = (after.cpuMicros - before.cpuMicros) / (ROUNDS * JOBS);
    report({ what: `${load}: CPU without the processes`, measured: cpuMicros, unit: 'us/job' });
  } finally {
    await client.close();
    await manager.stop();
    await broker.stop();
  }
}

/** Milliseconds. */
async function lone(client: EmqpClient): Promise<number> {
  const startedAt = performance.now();
  const { result } = await client.defer('default', JOB, { replyRequested: true });
  await result;
  return performance.now() - startedAt;
}

/** Jobs per second. */
async function many(client: EmqpClient, jobs: number): Promise<number> {
  let left = jobs;
  const startedAt = performance.now();
  const one = async (): Promise<void> => {
    while (left-- > 0) await lone(client);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  return jobs / ((performance.now() - startedAt) / 1000);
}
