/** The cost of ZMTP in TypeScript alone: large bodies through two hops, compared with a bare TCP pipe. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { ROUTER_PEER } from '@proj/transport';
import type { Peer, PortListener } from '@proj/transport';
import { ZmtpTransport } from '@proj/zmtp';
import { ProcessUnderTest } from './process-under-test.js';
import { ratio, reportTable, sideBySide } from './samples.js';
import type { Sample } from './samples.js';
import { latencyOf } from './statistics.js';
import type { Finding, Report } from './statistics.js';

const MIB = 2 ** 20;
const ROUNDS = 7;
const BODIES = 300;
/** Bodies in flight at a time: enough to keep both hops busy. */
const IN_FLIGHT = 16;
const OURS = 'ZMTP in TypeScript';
const KEPT = 'ZMTP in TypeScript, bodies kept';
const BARE = 'bare TCP pipe';

/** A listener that only counts. */
export function listener(onMessage: (peer: Peer, frames: readonly Uint8Array[]) => void): PortListener {
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

/** Keeps bodies in flight, and measures how long each took. They arrive in the order in which they were sent. */
class Stream {
  readonly #body = Buffer.alloc(MIB, 7);
  readonly #send: (body: Buffer) => void;
  #times = new Float64Array();
  #sent = 0;
  #arrived = 0;
  #finish: (micros: Float64Array) => void = () => undefined;

  constructor(send: (body: Buffer) => void) {
    this.#send = send;
  }

  /** Resolves to the microseconds that each body took. */
  run(): Promise<Float64Array> {
    this.#times = new Float64Array(BODIES);
    this.#sent = this.#arrived = 0;
    const finished = new Promise<Float64Array>((resolve) => (this.#finish = resolve));
    for (let index = 0; index < IN_FLIGHT; index++) this.#next();
    return finished;
  }

  arrived(): void {
    const sentAt = this.#times[this.#arrived] ?? Number.NaN;
    this.#times[this.#arrived++] = 1000 * (performance.now() - sentAt);
    if (this.#sent < BODIES) this.#next();
    if (this.#arrived === BODIES) this.#finish(this.#times);
  }

  #next(): void {
    this.#times[this.#sent++] = performance.now();
    this.#send(this.#body);
  }
}

/** A path from this process through another one and back. */
interface Lane {
  run(): Promise<Float64Array>;
  close(): Promise<unknown>;
}

export interface ZmtpLane extends Lane {
  /** The same, but the receiver does not return the bodies: each needs new memory. */
  runAndKeep(): Promise<Float64Array>;
}

/** Bodies of 1 MiB. */
export async function measureZmtpBodies(report: Report): Promise<void> {
  const middle = await ProcessUnderTest.start('zmtp-middle');
  const ours = await zmtpLane(middle.endpoints.clients);
  const bare = await bareLane(Number(middle.endpoints.workers.split(':')[2]));
  const samples = await sideBySide(ROUNDS, [
    [BARE, () => sample(() => bare.run(), middle)],
    [OURS, () => sample(() => ours.run(), middle)],
    [KEPT, () => sample(() => ours.runAndKeep(), middle)],
  ]);
  await ours.close();
  await bare.close();
  await middle.stop();
  reportTable(`1 MiB bodies through two hops, ${IN_FLIGHT} on their way`, samples, report);
  const over = (one: string, limit?: Finding['limit']): void => {
    const measured = ratio(samples, one, BARE, ({ perSecond }) => perSecond) ?? Number.NaN;
    report({ what: `${one} over ${BARE}, 1 MiB bodies: throughput`, measured, unit: 'x', ...(limit && { limit }) });
  };
  // The pipe keeps nothing either.
  over(OURS, { atLeast: 0.7 });
  over(KEPT);
}

/** Measures one round of bodies. */
export async function sample(run: Lane['run'], middle: ProcessUnderTest): Promise<Sample> {
  const before = await middle.measure();
  const [usage, startedAt] = [process.cpuUsage(), performance.now()];
  const times = await run();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(usage);
  const after = await middle.measure();
  return {
    perSecond: BODIES / seconds,
    latency: latencyOf(times),
    cpuMicros: { middle: (after.cpuMicros - before.cpuMicros) / BODIES, ends: (user + system) / BODIES },
  };
}

/** A path through the router at this endpoint. */
export async function zmtpLane(endpoint: string): Promise<ZmtpLane> {
  const transport = new ZmtpTransport();
  const [source, sink] = [transport.dealer(), transport.dealer({ routingId: Buffer.from('sink') })];
  const stream = new Stream((body) => source.send(ROUTER_PEER, [body]));
  let onMessage: () => void = () => undefined;
  let keeps = false;
  const run = (keep: boolean): Promise<Float64Array> => {
    keeps = keep;
    return stream.run();
  };
  sink.connect(endpoint);
  sink.start(
    listener((_peer, frames) => {
      if (!keeps) sink.release?.(frames);
      onMessage();
    }),
  );
  source.connect(endpoint);
  source.start(listener(() => undefined));
  // Messages sent before the router knows the sink are lost.
  const ready = new Promise<void>((resolve) => (onMessage = resolve));
  const knock = setInterval(() => {
    source.send(ROUTER_PEER, [Buffer.from('?')]);
  }, 20);
  await ready;
  clearInterval(knock);
  await setTimeout(200);
  onMessage = () => {
    stream.arrived();
  };
  return {
    run: () => run(false),
    runAndKeep: () => run(true),
    close: () => Promise.all([source.close(), sink.close()]),
  };
}

async function bareLane(port: number): Promise<Lane> {
  const open = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
        resolve(socket);
      });
    });
  const sink = await open();
  const source = await open();
  const stream = new Stream((body) => source.write(body));
  let bytes = 0;
  sink.on('data', (chunk) => {
    for (bytes += chunk.length; bytes >= MIB; bytes -= MIB) stream.arrived();
  });
  return {
    run: () => stream.run(),
    close: () => {
      source.destroy();
      sink.destroy();
      return Promise.resolve();
    },
  };
}
