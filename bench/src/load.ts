/**
 * Load from a process of its own: many echo workers and pipelining clients on raw zeromq.js sockets, so that only the
 * process in the middle differs between runs. `{ requests, inFlight }` comes in on the IPC channel, `done` goes out.
 */
import { Context, Dealer } from 'zeromq';
import type { Endpoints } from './process-under-test.js';

/** Protocols there is load for. */
export type Protocol = 'mdp' | 'ppp';

/** What a load process is told on its command line, as JSON. */
export interface LoadPlan {
  readonly protocol: Protocol;
  readonly endpoints: Endpoints;
  readonly workers: number;
  readonly bodyBytes: number;
}

/** What peers of a protocol say. */
interface Dialect {
  readonly ready: Buffer[];
  readonly heartbeat: Buffer[];
  readonly heartbeatMs: number;
  request(body: Buffer): Buffer[];
  /** The reply to a request, `undefined` for anything else. */
  reply(frames: Buffer[]): Buffer[] | undefined;
}

const plan = JSON.parse(process.argv[2] ?? '{}') as LoadPlan;
const context = new Context({ maxSockets: plan.workers + 64, blocky: false });
const sockets: Dealer[] = [];

const mdp = { client: Buffer.from('MDPC02'), worker: Buffer.from('MDPW02'), service: Buffer.from('echo') };
const dialects: Record<Protocol, Dialect> = {
  mdp: {
    ready: [mdp.worker, Buffer.from([1]), mdp.service],
    heartbeat: [mdp.worker, Buffer.from([5])],
    heartbeatMs: 2500,
    request: (body) => [mdp.client, Buffer.from([1]), mdp.service, body],
    reply: (frames) => (frames.length < 5 ? undefined : [mdp.worker, Buffer.from([4]), ...frames.slice(2)]),
  },
  ppp: {
    ready: [Buffer.from([1])],
    heartbeat: [Buffer.from([2])],
    heartbeatMs: 1000,
    request: (body) => [Buffer.alloc(0), body],
    reply: (frames) => (frames.length < 3 ? undefined : frames),
  },
};
const dialect = dialects[plan.protocol];

function dealer(endpoint: string): Dealer {
  const socket = new Dealer({ context, linger: 0, sendHighWaterMark: 100_000, receiveHighWaterMark: 100_000 });
  socket.connect(endpoint);
  sockets.push(socket);
  return socket;
}

/** Answers every request, and heartbeats in between as a real worker does. One send at a time, so they queue up. */
async function work(): Promise<void> {
  const socket = dealer(plan.endpoints.workers);
  let sending = socket.send(dialect.ready);
  const send = (frames: Buffer[]): Promise<void> => (sending = sending.then(() => socket.send(frames)));
  const heartbeat = setInterval(() => void send(dialect.heartbeat), dialect.heartbeatMs);
  for await (const frames of socket as AsyncIterable<Buffer[]>) {
    const reply = dialect.reply(frames);
    if (reply !== undefined) await send(reply);
  }
  clearInterval(heartbeat);
}

class Client {
  readonly #socket = dealer(plan.endpoints.clients);

  /** Sends `requests`, at most `inFlight` unanswered at a time; resolves when all are answered. */
  async run(requests: number, inFlight: number): Promise<void> {
    const request = dialect.request(Buffer.alloc(plan.bodyBytes, 7));
    let sent = 0;
    while (sent < Math.min(inFlight, requests)) {
      await this.#socket.send(request);
      sent++;
    }
    for (let answered = 0; answered < requests; answered++) {
      await this.#socket.receive();
      if (sent < requests) {
        await this.#socket.send(request);
        sent++;
      }
    }
  }
}

const working = Array.from({ length: plan.workers }, work);
const clients = Array.from({ length: 4 }, () => new Client());
process.on('message', (message: { requests: number; inFlight: number } | 'exit') => {
  if (message === 'exit') {
    for (const socket of sockets) socket.close();
    void Promise.all(working).then(() => {
      process.disconnect();
    });
    return;
  }
  const { requests, inFlight } = message;
  const runs = clients.map((client) => client.run(requests / clients.length, inFlight / clients.length));
  void Promise.all(runs).then(() => process.send?.('done'));
});
process.send?.('connected');
