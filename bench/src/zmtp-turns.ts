/**
 * How long one message within the limits keeps all other peers waiting, by kind: the most expensive turn of the event loop while it passes.
 */
import { setTimeout } from 'node:timers/promises';
import { ROUTER_PEER } from '@proj/transport';
import type { CurveOptions } from '@proj/transport';
import { generateCurveKeys } from '@proj/transport/curve';
import { ZmtpTransport } from '@proj/zmtp';
import type { Report } from './statistics.js';
import { listener } from './zmtp-bodies.js';

const MIB = 2 ** 20;
const ROUNDS = 7;

/** What is sent in one turn. */
const KINDS: Readonly<Record<string, () => Buffer[][]>> = {
  'one body of 64 MiB': () => [[Buffer.alloc(64 * MIB, 7)]],
  '1,000 frames of 64 KiB': () => [Array.from({ length: 1000 }, () => Buffer.alloc(64 * 1024, 7))],
  '5,000 messages of 200 bytes': () => Array.from({ length: 5000 }, () => [Buffer.alloc(200, 7)]),
};

/**
 * Both ends and the router between them share the process, so a turn includes the work of all three. Measured in CPU
 * time of all threads, in the best round: the code's own time is in every round, and the rest is the machine's.
 */
export async function measureZmtpTurns(report: Report): Promise<void> {
  for (const security of ['NULL', 'CURVE'] as const) {
    for (const [kind, make] of Object.entries(KINDS)) {
      const measured = Math.min(...(await longestTurns(security, make)));
      report({ what: `costliest turn, ${kind}, ${security}: CPU`, measured, unit: 'ms', limit: { atMost: 20 } });
    }
  }
}

async function longestTurns(security: 'NULL' | 'CURVE', make: () => Buffer[][]): Promise<number[]> {
  const [server, client] = [generateCurveKeys(), generateCurveKeys()];
  const curve = (options: CurveOptions) => (security === 'CURVE' ? { curve: options } : {});
  const transport = new ZmtpTransport();
  await transport.load();
  const limits = { peerQueueMax: 10_000, maxMessageFrames: 1000, maxMessageBytes: 64 * MIB };
  const router = transport.router({ ...limits, ...curve({ role: 'server', keys: server }) });
  const endpoint = await router.bind('tcp://127.0.0.1:*');
  const asClient = { ...limits, ...curve({ role: 'client', keys: client, serverKey: server.publicKey }) };
  const [source, sink] = [
    transport.dealer(asClient),
    transport.dealer({ ...asClient, routingId: Buffer.from('sink') }),
  ];
  let [left, done] = [0, (): void => undefined];
  const arrived = (count: number): Promise<void> => {
    left = count;
    return new Promise((resolve) => (done = resolve));
  };
  const to = { key: 'sink', id: Buffer.from('sink') };
  router.start(
    listener((_peer, frames) => {
      router.send(to, frames);
    }),
  );
  sink.connect(endpoint);
  source.connect(endpoint);
  sink.start(
    listener(() => {
      if (--left === 0) done();
    }),
  );
  source.start(listener(() => undefined));
  // Messages sent before the router knows the sink are lost.
  await setTimeout(500);
  const turns: number[] = [];
  for (let round = -2; round < ROUNDS; round++) {
    const messages = make();
    await setTimeout(50);
    const watch = new TurnWatch();
    const all = arrived(messages.length);
    for (const message of messages) source.send(ROUTER_PEER, message);
    await all;
    const longest = watch.end();
    if (round >= 0) turns.push(longest);
  }
  await Promise.all([source.close(), sink.close()]);
  await router.close();
  return turns;
}

/** Reads the CPU time of the process once in each turn. */
class TurnWatch {
  #before = process.cpuUsage();
  #longestMicros = 0;
  #going = true;

  constructor() {
    this.#look();
  }

  /** The milliseconds of the most expensive turn. */
  end(): number {
    this.#look();
    this.#going = false;
    return this.#longestMicros / 1000;
  }

  readonly #look = (): void => {
    if (!this.#going) return;
    const { user, system } = process.cpuUsage(this.#before);
    this.#longestMicros = Math.max(this.#longestMicros, user + system);
    this.#before = process.cpuUsage();
    setImmediate(this.#look);
  };
}
