/** The Majordomo engine alone, with encoding and decoding but without sockets: the cost of the protocol itself. */
import { MdpBrokerEngine, mdpBrokerOptions } from '@proj/broker/mdp';
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import type { Peer } from '@proj/transport';
import { median } from './statistics.js';
import type { Report } from './statistics.js';

const MESSAGES_MAX = 2_000_000;
const WORKER = Buffer.from('MDPW02');
const REQUEST = [Buffer.from('MDPC02'), Buffer.of(1)];
const FINAL = Buffer.of(4);

/** How much an engine has to handle. */
export interface EngineSize {
  /** Default 10. Their services take turns. */
  readonly workers?: number;
  /** Default 1. Requests go to one after the other. */
  readonly services?: number;
  /**
   * Requests that always wait ahead of a new one while all workers are busy. Default none, with one worker at work at a time.
   */
  readonly queued?: number;
  /** Requests that wait for a service without workers. Default none. */
  readonly absent?: number;
  /** Default 64. */
  readonly bodyBytes?: number;
  /**
   * Workers at work at a time, which answer in no order. Default one, so they answer in the order in which they were asked.
   */
  readonly atWork?: number;
}

/** A peer with a routing id of the automatic form: a zero byte and four more. */
function peer(number: number): Peer {
  const id = Buffer.from([0, 1 + (number >>> 24), number >>> 16, number >>> 8, number]);
  return { key: id.toString('latin1'), id };
}

/** An engine with its workers and waiting requests. */
export class MdpEngineLoad {
  readonly #engine = new MdpBrokerEngine(
    mdpBrokerOptions.parse({
      requestQueueMax: MESSAGES_MAX,
      clientRequestsMax: MESSAGES_MAX,
      requestQueueMaxBytes: 2 ** 40,
      servicesMax: 100_000,
      requestTtlMs: 86_400_000,
    }),
  );
  readonly #client = peer(0);
  readonly #requests: readonly Buffer[][];
  /** How many workers must be at work before one of them answers. */
  readonly #busy: number;
  readonly #anyOrder: boolean;
  /** The requests that they have, oldest first. */
  readonly #working: { readonly worker: Peer; readonly frames: Uint8Array[] }[] = [];
  #turn = 0;
  #now = 0;
  #random = 1;

  constructor({ workers = 10, services = 1, queued = 0, absent = 0, bodyBytes = 64, atWork = 1 }: EngineSize = {}) {
    const body = Buffer.alloc(bodyBytes, 7);
    const names = Array.from({ length: services }, (_, index) => `echo-${index}`);
    this.#requests = names.map((name) => [...REQUEST, Buffer.from(name), body]);
    for (let index = 0; index < workers; index++)
      this.#take(peer(index + 1), [WORKER, Buffer.of(1), Buffer.from(names[index % services] ?? '')]);
    const waiting = [...REQUEST, Buffer.from('absent'), body];
    for (let index = 0; index < absent; index++) this.#take(this.#client, waiting);
    this.#busy = queued === 0 ? atWork : workers;
    this.#anyOrder = atWork > 1;
    if (queued > 0) for (let index = 0; index < workers + queued; index++) this.#request();
  }

  /**
   * Round trips: client frames decoded, stepped, worker frames encoded, worker's answer decoded, stepped, client frames encoded.
   * Returns the cost of each in microseconds of CPU time, including garbage collection.
   */
  run(requests: number): number {
    const before = process.cpuUsage();
    for (let done = 0; done < requests; done++) {
      this.#request();
      if (this.#working.length < this.#busy) continue;
      if (this.#anyOrder) this.#shuffle();
      const { worker, frames } = this.#working.shift() as { worker: Peer; frames: Uint8Array[] };
      this.#take(worker, [WORKER, FINAL, ...frames.slice(2)]);
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / requests;
  }

  /** Chooses another worker to answer next; the same ones in every run. */
  #shuffle(): void {
    this.#random = (this.#random * 48_271) % 2_147_483_647;
    const working = this.#working;
    const at = this.#random % working.length;
    const [first, other] = [working[0], working[at]];
    if (first === undefined || other === undefined) return;
    working[0] = other;
    working[at] = first;
  }

  #request(): void {
    this.#take(this.#client, this.#requests[this.#turn] as Buffer[]);
    this.#turn = (this.#turn + 1) % this.#requests.length;
  }

  #take(from: Peer, frames: Uint8Array[]): void {
    this.#now += 0.0005;
    const command = decodeMdpAtBroker(frames);
    for (const effect of this.#engine.step({ kind: 'message', peer: from, command }, this.#now)) {
      if (effect.kind !== 'send') continue;
      const sent = encodeMdp(effect.command);
      if (effect.peer !== this.#client) this.#working.push({ worker: effect.peer, frames: sent });
    }
  }
}

/** The rate of the engine on one core. */
export function measureMdpEngine(report: Report): void {
  const load = new MdpEngineLoad({ workers: 64 });
  load.run(200_000);
  const measured = median(Array.from({ length: 5 }, () => 1e6 / load.run(200_000)));
  const what = 'MDP engine with codec, 64 workers: request-replies';
  report({ what, measured, unit: '/s of CPU', limit: { atLeast: 500_000 } });
}
