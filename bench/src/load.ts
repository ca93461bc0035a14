/**
 * Load from a separate process: many echo workers and pipelining clients on raw zeromq.js sockets, so that only the process
 * in the middle differs between runs. A {@link LoadOrder} arrives on the IPC channel, and the result is sent back.
 */
import { setTimeout } from 'node:timers/promises';
import { Context, Dealer } from 'zeromq';
import { CONTESTS } from './contests/index.js';
import type { Protocol } from './contests/index.js';
import type { Endpoints } from './process-under-test.js';

/**
 * `inFlight` unanswered requests at a time, or `perSecond` of them whether or not others are answered: then the process in the middle may be
 * idle in between.
 */
export type LoadOrder =
  | { readonly requests: number; readonly inFlight: number }
  | { readonly requests: number; readonly perSecond: number };

/** The result of one order to the load process. */
export interface LoadRun {
  readonly seconds: number;
  /** Time of each request, in microseconds. */
  readonly latencies: Float64Array;
  /** CPU time of the load process for all of it. */
  readonly cpuMicros: number;
}

/** What a load process gets on its command line, as JSON. */
export interface LoadPlan {
  readonly protocol: Protocol;
  readonly endpoints: Endpoints;
  readonly workers: number;
  readonly bodyBytes: number;
  /** Size of the answers of NFP workers; `undefined`: they return the body that they were sent. */
  readonly resultBytes: number | undefined;
}

const plan = JSON.parse(process.argv[2] ?? '{}') as LoadPlan;
const context = new Context({ maxSockets: plan.workers + 64, blocky: false });
const sockets: Dealer[] = [];

const { dialect } = CONTESTS[plan.protocol];
/** By number of those in flight: they may be on their way out when the next answer is made. */
const results = new Map<number, Buffer>();

/** An answer has the same number as its request. */
function resultOf(body: Buffer): Buffer {
  if (plan.resultBytes === undefined) return body;
  const slot = body.readUInt32LE();
  let result = results.get(slot);
  if (result === undefined) {
    result = Buffer.alloc(plan.resultBytes, 7);
    result.writeUInt32LE(slot);
    results.set(slot, result);
  }
  return result;
}

function dealer(endpoint: string): Dealer {
  const socket = new Dealer({ context, linger: 0, sendHighWaterMark: 100_000, receiveHighWaterMark: 100_000 });
  socket.connect(endpoint);
  sockets.push(socket);
  return socket;
}

/**
 * Answers every request, and sends heartbeats in between as a real worker does. Sends one message at a time, so they
 * queue up.
 */
async function work(): Promise<void> {
  const socket = dealer(plan.endpoints.workers);
  let sending = socket.send(dialect.ready);
  const send = (frames: Buffer[]): Promise<void> => (sending = sending.then(() => socket.send(frames)));
  const heartbeat = setInterval(() => void send(dialect.heartbeat), dialect.heartbeatMs);
  for await (const frames of socket as AsyncIterable<Buffer[]>) {
    for (const reply of dialect.replies(frames, resultOf)) await send(reply);
  }
  clearInterval(heartbeat);
}

class Client {
  readonly #socket = dealer(plan.endpoints.clients);

  /**
   * Sends `requests` requests, at most `inFlight` unanswered at a time; resolves to how long each took, in
   * microseconds.
   */
  async run(requests: number, inFlight: number): Promise<Float64Array> {
    const latencies = new Float64Array(requests);
    const bodies = Array.from({ length: Math.min(inFlight, requests) }, (_, slot) => numberedBody(slot));
    const sentAt = bodies.map(() => 0);
    let sent = 0;
    const send = (slot: number): Promise<void> => {
      sent++;
      sentAt[slot] = performance.now();
      return this.#socket.send(dialect.request(bodies[slot] as Buffer));
    };
    for (const slot of bodies.keys()) await send(slot);
    for (let answered = 0; answered < requests;) {
      const body = dialect.answer(await this.#socket.receive());
      if (body === undefined) continue;
      const slot = body.readUInt32LE();
      const since = sentAt[slot];
      if (since === undefined) throw new Error(`${plan.protocol}: an answer to nothing that was asked`);
      latencies[answered++] = 1000 * (performance.now() - since);
      if (sent < requests) await send(slot);
    }
    return latencies;
  }

  /** Sends `requests` requests, `perSecond` of them, and resolves to how long each took from when it was sent. */
  async pace(requests: number, perSecond: number): Promise<Float64Array> {
    const latencies = new Float64Array(requests);
    const sentAt = new Float64Array(requests);
    const receiving = this.#receive(requests, (slot) => {
      latencies[slot] = 1000 * (performance.now() - (sentAt[slot] ?? 0));
    });
    const begun = performance.now();
    for (let slot = 0; slot < requests; slot++) {
      const ahead = begun + (1000 * slot) / perSecond - performance.now();
      if (ahead > 0) await setTimeout(ahead);
      sentAt[slot] = performance.now();
      await this.#socket.send(dialect.request(numberedBody(slot)));
    }
    await receiving;
    return latencies;
  }

  async #receive(answers: number, take: (slot: number) => void): Promise<void> {
    for (let answered = 0; answered < answers;) {
      const body = dialect.answer(await this.#socket.receive());
      if (body === undefined) continue;
      take(body.readUInt32LE());
      answered++;
    }
  }
}

/** A body that holds its number. */
function numberedBody(slot: number): Buffer {
  const body = Buffer.alloc(plan.bodyBytes, 7);
  body.writeUInt32LE(slot);
  return body;
}

const working = Array.from({ length: plan.workers }, work);
const clients = Array.from({ length: 4 }, () => new Client());

async function run(order: LoadOrder): Promise<LoadRun> {
  // No round pays for the garbage of those before it: to collect it stops this process for 30 ms, and decides the p99 of a short round.
  globalThis.gc?.();
  const [before, startedAt] = [process.cpuUsage(), performance.now()];
  const busy = 'inFlight' in order ? clients.slice(0, order.inFlight) : clients;
  const share = order.requests / busy.length;
  const latencies = await Promise.all(
    busy.map((client) =>
      'inFlight' in order
        ? client.run(share, order.inFlight / busy.length)
        : client.pace(share, order.perSecond / busy.length),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { seconds, latencies: Float64Array.from(latencies.flatMap((one) => [...one])), cpuMicros: user + system };
}

process.once('disconnect', () => process.exit());
process.on('message', (message: LoadOrder | 'exit') => {
  if (message === 'exit') {
    for (const socket of sockets) socket.close();
    void Promise.all(working).then(() => {
      process.disconnect();
    });
    return;
  }
  void run(message).then((done) => process.send?.(done));
});
process.send?.('connected');
