/**
 * Load from a separate process: many echo workers and pipelining clients on raw zeromq.js sockets, so that only the process
 * in the middle differs between runs. `{ requests, inFlight }` arrives on the IPC channel, and the result is sent back.
 */
import { Context, Dealer } from 'zeromq';
import { CONTESTS } from './contests/index.js';
import type { Protocol } from './contests/index.js';
import type { Endpoints } from './process-under-test.js';

/** The result of one request to the load process. */
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
    // Each body holds its number among those in flight.
    const bodies = Array.from({ length: Math.min(inFlight, requests) }, (_, slot) => {
      const body = Buffer.alloc(plan.bodyBytes, 7);
      body.writeUInt32LE(slot);
      return body;
    });
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
}

const working = Array.from({ length: plan.workers }, work);
const clients = Array.from({ length: 4 }, () => new Client());

async function run(requests: number, inFlight: number): Promise<LoadRun> {
  const [before, startedAt] = [process.cpuUsage(), performance.now()];
  const busy = clients.slice(0, inFlight);
  const [share, window] = [requests / busy.length, inFlight / busy.length];
  const latencies = await Promise.all(busy.map((client) => client.run(share, window)));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { seconds, latencies: Float64Array.from(latencies.flatMap((one) => [...one])), cpuMicros: user + system };
}

process.once('disconnect', () => process.exit());
process.on('message', (message: { requests: number; inFlight: number } | 'exit') => {
  if (message === 'exit') {
    for (const socket of sockets) socket.close();
    void Promise.all(working).then(() => {
      process.disconnect();
    });
    return;
  }
  void run(message.requests, message.inFlight).then((done) => process.send?.(done));
});
process.send?.('connected');
