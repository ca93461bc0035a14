/**
 * Load on ZMTP from a separate process: up to tens of thousands of echo workers, each with its own connection, and four clients. For
 * each {@link ScaleRun} that arrives on the IPC channel, it sends a {@link LoadRun} once everything is answered.
 */
import { setTimeout } from 'node:timers/promises';
import { ROUTER_PEER } from '@proj/transport';
import type { SocketPort } from '@proj/transport';
import { ZmtpTransport } from '@proj/zmtp';
import type { LoadRun } from '../load.js';

/** What a load process gets on its command line, as JSON. */
export interface ScalePlan {
  readonly endpoint: string;
  readonly workers: number;
  /** They take turns. */
  readonly services: number;
}

/** Work for the load process. */
export interface ScaleRun {
  readonly requests: number;
  /** At most `requests`. */
  readonly inFlight: number;
  readonly bodyBytes: number;
  /** Requests for a service without workers, to be sent first and left waiting. */
  readonly absent: number;
}

const CLIENTS = 4;
/** How many connections are opened at a time: a listener's backlog is short. */
const CROWD = 200;
/** Requests that are sent before the middle is known to have read them. */
const BURST = 5000;
const WORKER = Buffer.from('MDPW02');
const FINAL = Buffer.of(4);
const REQUEST = [Buffer.from('MDPC02'), Buffer.of(1)];

const plan = JSON.parse(process.argv[2] ?? '{}') as ScalePlan;
const transport = new ZmtpTransport({ lanes: false });
const names = Array.from({ length: plan.services }, (_, index) => Buffer.from(`echo-${index}`));
const ports: SocketPort[] = [];
let turn = 0;
/** One for each request in flight; it says which one, and when it was sent. */
let bodies: Buffer[] = [];
let sentAt: number[] = [];
let latencies = new Float64Array();
let sent = 0;
let answered = 0;
let done: () => void = () => undefined;

function dealer(onMessage: (port: SocketPort, frames: Uint8Array[]) => void): SocketPort {
  const port = transport.dealer({ connectionHeartbeatMs: 0 });
  port.connect(plan.endpoint);
  port.start({
    onMessage: (_peer, frames) => {
      onMessage(port, frames);
    },
    onPeerGone: () => undefined,
    onUndeliverable: () => undefined,
    onRejected: () => undefined,
    onBroken: (error) => {
      throw error;
    },
  });
  ports.push(port);
  return port;
}

function ask(client: SocketPort, slot: number): void {
  sent++;
  sentAt[slot] = performance.now();
  client.send(ROUTER_PEER, [...REQUEST, names[turn++ % names.length] as Buffer, bodies[slot] as Buffer]);
}

const clients = Array.from({ length: CLIENTS }, () =>
  dealer((client, frames) => {
    const body = frames.at(-1) as Uint8Array;
    const slot = Buffer.from(body.buffer, body.byteOffset, body.length).readUInt16LE();
    latencies[answered++] = 1000 * (performance.now() - (sentAt[slot] ?? Number.NaN));
    if (sent < latencies.length) ask(client, slot);
    if (answered === latencies.length) done();
  }),
);

/** Resolves when all are answered. */
async function run(requests: number, inFlight: number, bodyBytes: number): Promise<void> {
  if (bodies.length !== inFlight || bodies[0]?.length !== bodyBytes)
    bodies = Array.from({ length: inFlight }, (_, slot) => {
      const body = Buffer.alloc(bodyBytes, 7);
      body.writeUInt16LE(slot);
      return body;
    });
  sentAt = bodies.map(() => 0);
  latencies = new Float64Array(requests);
  sent = answered = 0;
  const finished = new Promise<void>((resolve) => (done = resolve));
  for (let slot = 0; slot < inFlight; slot++) ask(clients[slot % CLIENTS] as SocketPort, slot);
  await finished;
}

/** Leaves requests waiting. The client's next answer shows that they have been read. */
async function fill(count: number): Promise<void> {
  const waiting = [...REQUEST, Buffer.from('absent'), Buffer.alloc(64, 7)];
  for (let left = count; left > 0; left--) {
    clients[0]?.send(ROUTER_PEER, waiting);
    if (left % BURST === 0) await run(1, 1, 64);
  }
}

process.once('disconnect', () => process.exit());
process.on('message', (message: ScaleRun | 'exit') => {
  if (message === 'exit') {
    void Promise.all(ports.map((port) => port.close({ lingerMs: 0 }))).then(() => {
      process.disconnect();
    });
    return;
  }
  void (async () => {
    await fill(message.absent);
    const [before, startedAt] = [process.cpuUsage(), performance.now()];
    await run(message.requests, message.inFlight, message.bodyBytes);
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - startedAt) / 1000;
    process.send?.({ seconds, latencies, cpuMicros: user + system } satisfies LoadRun);
  })();
});
for (let index = 0; index < plan.workers; index++) {
  const worker = dealer((port, frames) => {
    if (frames.length > 4) port.send(ROUTER_PEER, [WORKER, FINAL, ...frames.slice(2)]);
  });
  worker.send(ROUTER_PEER, [WORKER, Buffer.of(1), names[index % names.length] as Buffer]);
  if (index % CROWD === CROWD - 1) await setTimeout(10);
}
process.send?.('connected');
