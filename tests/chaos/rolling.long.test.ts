// A rolling restart, as in an upgrade: each program gets SIGTERM and is restarted under continuous load. Nothing is lost, nothing is refused.
import { setTimeout } from 'node:timers/promises';
import { MdpClient } from '@proj/client';
import { ownEndpoint } from '@proj/testkit';
import type { PeerProcess } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { transport } from '../transport.js';
import { stage as brokerStage } from './mdp/stage.js';
import { Load } from './pzq/load.js';
import { contentsOf, stage as queueStage, stop } from './pzq/stage.js';

/** How often everything is restarted. */
const ROUNDS = 2;
/** Time between two brokers: a worker whose conversation has lasted 10 s (`minUptimeMs`) goes to the next broker at once. */
const UP_MS = 10_500;
/** Time between two requests of a client: the pace of the load. */
const PACE_MS = 5;
/** On a busy machine a broker may take longer to come back than the usual three sends of a request. */
const TRIES = 30;
/** Messages stored and handled between two restarts of the queue. */
const MESSAGES = 500;

/** Asks continuously, one request per pace, until told to stop; resolves with the numbers of correct replies, and what went wrong. */
class Asking {
  readonly #client: MdpClient;
  readonly #asked: Promise<string | undefined>[] = [];
  #isOver = false;
  readonly #loop: Promise<void>;

  constructor(client: MdpClient) {
    this.#client = client;
    this.#loop = this.#run();
  }

  async outcomes(): Promise<{ readonly asked: number; readonly wrong: readonly string[] }> {
    this.#isOver = true;
    await this.#loop;
    const wrong = (await Promise.all(this.#asked)).filter((one) => one !== undefined);
    return { asked: this.#asked.length, wrong };
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      this.#asked.push(this.#ask(`request ${this.#asked.length}`));
      await setTimeout(PACE_MS);
    }
  }

  /** What is wrong with the reply, if anything. */
  async #ask(text: string): Promise<string | undefined> {
    try {
      const reply = String(await this.#client.request('echo', text));
      return reply === text ? undefined : `${text}: ${reply}`;
    } catch (error) {
      return `${text}: ${String(error)}`;
    }
  }
}

describe('a rolling restart under load', () => {
  const theater = brokerStage();

  /** Ends a broker by SIGTERM, and starts the next one at its endpoint. */
  async function replaced(broker: PeerProcess, endpoint: string): Promise<PeerProcess> {
    broker.kill('SIGTERM');
    expect((await broker.exit).code).toBe(0);
    return (await theater.broker({ mdp: endpoint })).broker;
  }

  /** Resolves when this many workers are at a broker: to be awaited before the next broker is restarted. */
  async function populated(endpoint: string, workers: number): Promise<void> {
    const client = theater.keep(new MdpClient({ transport, endpoints: [endpoint] }));
    await expect.poll(() => client.workers('echo')).toHaveLength(workers);
  }

  it('of two brokers, one after the other: every request gets its reply', async () => {
    const endpoints = [await ownEndpoint(), await ownEndpoint()];
    const [one = '', other = ''] = endpoints;
    let [first, second] = (await Promise.all(endpoints.map(async (mdp) => (await theater.broker({ mdp })).broker))) as [
      PeerProcess,
      PeerProcess,
    ];
    for (const order of [`${one},${other}`, `${other},${one}`])
      await Promise.all([theater.worker(order), theater.worker(order)]);
    const clients = [endpoints, [other, one]].map((order) =>
      theater.keep(new MdpClient({ transport, endpoints: order, tries: TRIES })),
    );
    const loads = clients.map((client) => new Asking(client));
    for (let round = 0; round < ROUNDS; round++) {
      first = await replaced(first, one);
      await populated(other, 4);
      await setTimeout(UP_MS);
      second = await replaced(second, other);
      await populated(one, 4);
      await setTimeout(UP_MS);
    }
    const outcomes = await Promise.all(loads.map((load) => load.outcomes()));
    console.log(outcomes.map(({ asked, wrong }) => `${asked} requests, ${wrong.length} lost`).join('; '));
    expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([]);
    for (const { asked } of outcomes) expect(asked).toBeGreaterThan(100 * ROUNDS);
    expect(clients.map((client) => client.stats().finals)).toEqual(outcomes.map(({ asked }) => asked));
  });

  it('of a single broker: clients and workers return to it, and every request gets its reply', async () => {
    const endpoint = await ownEndpoint();
    let { broker } = await theater.broker({ mdp: endpoint });
    await Promise.all([theater.worker(endpoint), theater.worker(endpoint)]);
    const load = new Asking(theater.keep(new MdpClient({ transport, endpoints: [endpoint], tries: TRIES })));
    for (let round = 0; round < ROUNDS; round++) {
      broker = await replaced(broker, endpoint);
      await populated(endpoint, 2);
    }
    const { asked, wrong } = await load.outcomes();
    console.log(`${asked} requests, ${wrong.length} lost`);
    expect(wrong).toEqual([]);
  });

  const queues = queueStage();

  it('of a queue: no acknowledged message is lost, no settled one comes again', async () => {
    const folder = await queues.folder();
    const endpoints = await queues.endpoints();
    let queue = await queues.queue(endpoints, `lmdb:${folder}`);
    const load = queues.keep(new Load(endpoints));
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.race([load.progress(MESSAGES), queue.lost()]);
      expect(await stop(queue)).toBe(0);
      expect(load.settle(await contentsOf(folder))).toEqual([]);
      queue = await queues.queue(endpoints, `lmdb:${folder}`);
    }
    await Promise.race([load.finish(), queue.lost()]);
    const { stored, acked, repeated, resurrected } = load;
    expect(await stop(queue)).toBe(0);
    console.log(
      `${stored.size} messages stored, ${acked.size} acknowledged, ${load.lost().length} lost, ${repeated} repeated`,
    );
    expect([load.lost(), resurrected]).toEqual([[], []]);
  });
});
