/** NORFAB's worker and broker, both ours, on the in-memory network. The client is raw frames. */
import { NfpBroker } from '@proj/broker';
import { fromLatin1, latin1 } from '@proj/frames';
import { memoryRecords, ROUTER_PEER } from '@proj/transport';
import type { SocketPort } from '@proj/transport';
import { settle, VirtualNetwork } from '@proj/transport/virtual';
import { NfpWorker } from '@proj/worker';
import type { NfpWorkerEvents, NfpWorkerOptions } from '@proj/worker';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ENDPOINT = 'tcp://sim:5555';

/** What a client receives. */
interface Answer {
  readonly command: string;
  readonly uuid: string;
  readonly status: string;
  readonly body: Record<string, unknown>;
}

let network: VirtualNetwork;
let broker: NfpBroker;
const open: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  network = new VirtualNetwork({ seed: 1 });
  await startBroker();
});

afterEach(async () => {
  await settle(network.clock, Promise.all(open.splice(0).map((one) => one.close())));
  expect(network.clock.armed).toBe(0);
});

async function startBroker(): Promise<void> {
  broker = new NfpBroker({ endpoint: ENDPOINT, transport: network.transport('broker'), settleMs: 0, lingerMs: 0 });
  open.push(broker);
  await settle(network.clock, broker.start());
}

/** A worker that adds, registered at the broker. */
async function worker(options: Partial<NfpWorkerOptions> = {}): Promise<NfpWorker> {
  const made = new NfpWorker({
    endpoints: [ENDPOINT],
    service: 'math',
    name: 'math-1',
    tasks: { add: ({ args }) => (args as number[]).reduce((sum, n) => sum + n, 0) },
    transport: network.transport('worker'),
    ...options,
  });
  open.push(made);
  const registered = new Promise((resolve) => broker.on('worker-ready', resolve));
  await settle(network.clock, Promise.all([made.start(), registered]));
  return made;
}

/** A client that keeps every answer. */
class Client {
  readonly answers: Answer[] = [];
  readonly #port: SocketPort;
  readonly #waiting = new Set<() => void>();

  constructor(name: string) {
    this.#port = network.transport(name).dealer({ lingerMs: 0, routingId: fromLatin1(name) });
    open.push(this.#port);
    this.#port.connect(ENDPOINT);
    this.#port.start({
      onMessage: (_peer, frames) => {
        const [, , command = '', , uuid = '', status = '', body = ''] = frames.map(latin1);
        this.answers.push({ command, uuid, status, body: JSON.parse(body) as Answer['body'] });
        for (const wake of this.#waiting) wake();
      },
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: () => {},
    });
  }

  say(command: string, uuid: string, body: object = {}, service = 'math'): void {
    const frames = ['', 'NFPC01', command, service, 'all', uuid, JSON.stringify(body)];
    this.#port.send(ROUTER_PEER, frames.map(fromLatin1));
  }

  /** The first answer that matches. */
  answer(fits: Partial<Answer>): Promise<Answer> {
    return this.#first((one) => Object.entries(fits).every(([key, value]) => one[key as keyof Answer] === value));
  }

  /** The first event of a job with that message. */
  event(uuid: string, message: string): Promise<Answer> {
    return this.#first((one) => one.command === EVENT && one.uuid === uuid && one.body['message'] === message);
  }

  #first(fits: (answer: Answer) => boolean): Promise<Answer> {
    const found = new Promise<Answer>((resolve) => {
      const look = () => {
        const one = this.answers.find(fits);
        if (one === undefined) return;
        this.#waiting.delete(look);
        resolve(one);
      };
      this.#waiting.add(look);
      look();
    });
    return settle(network.clock, found);
  }
}

const POST = '0x04';
const GET = '0x06';
const MMI = '0x11';
const EVENT = '0x08';

describe('NfpWorker with NfpBroker', () => {
  it('a job is accepted, reported, done, and fetched by any client', async () => {
    await worker();
    const poster = new Client('c1');
    poster.say(POST, 'u1', { task: 'add', args: [2, 3] });
    expect((await poster.answer({ uuid: 'u1', status: '201' })).body).toEqual({
      worker: 'math-1',
      uuid: 'u1',
      status: 'ACCEPTED',
      service: 'math',
    });
    const events = () => poster.answers.filter(({ command }) => command === EVENT).map(({ body }) => body['message']);
    await poster.event('u1', 'completed');
    expect(events()).toEqual(['starting', 'completed']);
    const other = new Client('c2');
    other.say(GET, 'u1');
    const { body } = await other.answer({ uuid: 'u1', status: '200' });
    expect(body).toMatchObject({ 'math-1': { result: 5, failed: false, task: 'math-1:add', juuid: 'u1' } });
  });

  it('each of 100 jobs at once has its own result', async () => {
    await worker();
    const client = new Client('c1');
    const uuids = Array.from({ length: 100 }, (_, n) => `u${n}`);
    for (const [n, uuid] of uuids.entries()) client.say(POST, uuid, { task: 'add', args: [n, 1] });
    for (const uuid of uuids) await client.answer({ uuid, status: '201' });
    for (const [n, uuid] of uuids.entries()) {
      client.say(GET, uuid);
      const { body } = await client.answer({ uuid, status: '200', command: '0x05' });
      expect(body).toMatchObject({ 'math-1': { result: n + 1, juuid: uuid } });
    }
  });

  it('the worker answers for itself at mmi.service.worker', async () => {
    await worker();
    const client = new Client('c1');
    client.say(MMI, 'm1', { task: 'show_workers' }, 'mmi.service.worker');
    const { body } = await client.answer({ uuid: 'm1', command: MMI });
    expect(body).toMatchObject([{ name: 'math-1', service: 'math', concurrency: 5 }]);
    const [{ tasks } = { tasks: [] }] = body as unknown as { tasks: { name: string }[] }[];
    expect(tasks.map(({ name }) => name)).toContain('add');
  });

  it('jobs outlive the broker: a worker that lost its broker returns with its results', async () => {
    const store = memoryRecords();
    const math = await worker({ store });
    const client = new Client('c1');
    client.say(POST, 'u1', { task: 'add', args: [2, 3] });
    await client.answer({ uuid: 'u1', status: '201' });
    const lost = new Promise<NfpWorkerEvents['lost']>((resolve) => math.on('lost', resolve));
    await settle(network.clock, broker.close());
    expect(await settle(network.clock, lost)).toMatchObject({ reason: 'peer-gone' });
    await startBroker();
    await settle(network.clock, new Promise((resolve) => broker.on('worker-ready', resolve)));
    const later = new Client('c2');
    later.say(GET, 'u1');
    expect(await later.answer({ uuid: 'u1', status: '200' })).toMatchObject({ body: { 'math-1': { result: 5 } } });
  });
});
