/** What ZMTP in TypeScript costs by itself: large bodies through two hops beside a bare pipe, and connections that do nothing. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { ROUTER_PEER } from '@proj/transport';
import type { Peer, PortListener, SocketPort } from '@proj/transport';
import { ZmtpTransport } from '@proj/zmtp';
import { ProcessUnderTest } from './process-under-test.js';
import { median } from './statistics.js';
import type { Finding } from './statistics.js';

const MIB = 2 ** 20;
const ROUNDS = 7;
const BODIES = 300;
/** Bodies on their way at a time: enough to keep both hops busy. */
const IN_FLIGHT = 16;
const IDLE_WORKERS = 10_000;

/** A listener that does nothing but count. */
function listener(onMessage: (peer: Peer) => void): PortListener {
  return {
    onMessage,
    onPeerGone: () => undefined,
    onUndeliverable: () => undefined,
    onRejected: () => undefined,
    onBroken: (error) => {
      throw error;
    },
  };
}

/** Bodies of 1 MiB, from this process through another one and back. */
export async function measureZmtpBodies(report: (finding: Finding) => void): Promise<void> {
  const middle = await ProcessUnderTest.start('zmtp-middle');
  const rates = { zmtp: [] as number[], bare: [] as number[] };
  const lane = await zmtpLane(middle.endpoints.clients);
  const pipe = await bareLane(Number(middle.endpoints.workers.split(':')[2]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, run] of [
      ['bare', pipe.run],
      ['zmtp', lane.run],
    ] as const) {
      const startedAt = performance.now();
      await run();
      // The first round warms both up.
      if (round > 0) rates[name].push((1000 * BODIES) / (performance.now() - startedAt));
    }
  }
  await lane.close();
  pipe.close();
  await middle.stop();
  const ratios = rates.zmtp.map((rate, round) => rate / (rates.bare[round] ?? Number.NaN));
  report({ what: 'bare TCP pipe, 1 MiB bodies through two hops', measured: median(rates.bare), unit: 'MiB/s' });
  report({ what: 'ZMTP in TypeScript, the same', measured: median(rates.zmtp), unit: 'MiB/s' });
  const what = 'ZMTP in TypeScript over bare TCP pipe, 1 MiB bodies';
  report({ what, measured: median(ratios), unit: 'x', limit: { atLeast: 0.7 } });
}

async function zmtpLane(endpoint: string) {
  const transport = new ZmtpTransport();
  const [source, sink] = [transport.dealer(), transport.dealer({ routingId: Buffer.from('sink') })];
  let arrived = 0;
  let sent = 0;
  let finish: () => void = () => undefined;
  const body = Buffer.alloc(MIB, 7);
  const send = () => {
    sent++;
    source.send(ROUTER_PEER, [body]);
  };
  sink.connect(endpoint);
  sink.start(
    listener(() => {
      arrived++;
      if (sent < BODIES) send();
      if (arrived >= BODIES) finish();
    }),
  );
  source.connect(endpoint);
  source.start(listener(() => undefined));
  // What comes before the sink is known to the router is lost.
  const ready = new Promise<void>((resolve) => (finish = resolve));
  sent = arrived = BODIES - 1;
  const knock = setInterval(() => {
    source.send(ROUTER_PEER, [Buffer.from('?')]);
  }, 20);
  await ready;
  clearInterval(knock);
  await new Promise((resolve) => setTimeout(resolve, 200));
  return {
    run: () =>
      new Promise<void>((resolve) => {
        finish = resolve;
        sent = arrived = 0;
        for (let index = 0; index < IN_FLIGHT; index++) send();
      }),
    close: () => Promise.all([source.close(), sink.close()]),
  };
}

async function bareLane(port: number) {
  const open = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
        resolve(socket);
      });
    });
  const sink = await open();
  const source = await open();
  let bytes = 0;
  let sent = 0;
  let finish: () => void = () => undefined;
  const body = Buffer.alloc(MIB, 7);
  const send = () => {
    sent++;
    source.write(body);
  };
  sink.on('data', (chunk) => {
    const before = Math.floor(bytes / MIB);
    bytes += chunk.length;
    for (let count = Math.floor(bytes / MIB) - before; count > 0; count--) if (sent < BODIES) send();
    if (bytes >= BODIES * MIB) finish();
  });
  return {
    run: () =>
      new Promise<void>((resolve) => {
        finish = resolve;
        sent = bytes = 0;
        for (let index = 0; index < IN_FLIGHT; index++) send();
      }),
    close: () => {
      source.destroy();
      sink.destroy();
    },
  };
}

/** Memory of a broker whose workers have said READY and nothing more. */
export async function measureZmtpIdle(report: (finding: Finding) => void): Promise<void> {
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
  // Workers that do nothing must not expire while they are counted.
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

/** Resolves once the broker has so many workers. */
async function registered(broker: ProcessUnderTest, count: number): Promise<void> {
  while ((await broker.measure()).workers < count) await new Promise((resolve) => setTimeout(resolve, 20));
}
