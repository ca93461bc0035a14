/**
 * Load on ZMTP from a process of its own: up to tens of thousands of echo workers, each with a connection of its own, and four clients.
 * For each {@link ScaleRun} that comes in on the IPC channel it says when all is answered.
 */
import { setTimeout } from 'node:timers/promises';
import { ROUTER_PEER } from '@proj/transport';
import type { SocketPort } from '@proj/transport';
import { ZmtpTransport } from '@proj/zmtp';

/** What a load process is told on its command line, as JSON. */
export interface ScalePlan {
  readonly endpoint: string;
  readonly workers: number;
  /** They take turns. */
  readonly services: number;
}

/** Work for it. */
export interface ScaleRun {
  readonly requests: number;
  readonly inFlight: number;
  readonly bodyBytes: number;
  /** Requests for a service that nobody serves, to be sent first and left waiting. */
  readonly absent: number;
}

const CLIENTS = 4;
/** Connections begun at a time: a listener's backlog is short. */
const CROWD = 200;
/** Requests sent before the middle is known to have read them. */
const BURST = 5000;
const WORKER = Buffer.from('MDPW02');
const FINAL = Buffer.of(4);
const REQUEST = [Buffer.from('MDPC02'), Buffer.of(1)];

const plan = JSON.parse(process.argv[2] ?? '{}') as ScalePlan;
const transport = new ZmtpTransport({ lanes: false });
const names = Array.from({ length: plan.services }, (_, index) => Buffer.from(`echo-${index}`));
const ports: SocketPort[] = [];
let turn = 0;
let left = 0;
let open = 0;
let body = Buffer.alloc(0);
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

/** One more request, if there is one left. */
function ask(client: SocketPort): void {
  if (left === 0) return;
  left--;
  open++;
  client.send(ROUTER_PEER, [...REQUEST, names[turn++ % names.length] as Buffer, body]);
}

const clients = Array.from({ length: CLIENTS }, () =>
  dealer((client) => {
    open--;
    ask(client);
    if (open === 0) done();
  }),
);

async function run(requests: number, inFlight: number): Promise<void> {
  left = requests;
  const finished = new Promise<void>((resolve) => (done = resolve));
  for (let index = 0; index < inFlight; index++) ask(clients[index % CLIENTS] as SocketPort);
  await finished;
}

/** Leaves requests waiting. The client's next answer says that they have been read. */
async function fill(count: number): Promise<void> {
  const waiting = [...REQUEST, Buffer.from('absent'), Buffer.alloc(64, 7)];
  for (let sent = 0; sent < count; sent++) {
    clients[0]?.send(ROUTER_PEER, waiting);
    if (sent % BURST === BURST - 1) await run(1, 1);
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
    if (body.length !== message.bodyBytes) body = Buffer.alloc(message.bodyBytes, 7);
    await run(message.requests, message.inFlight);
    process.send?.([]);
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
