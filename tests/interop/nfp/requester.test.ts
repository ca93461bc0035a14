// A client with a REQ socket, as the text recommends, at our broker: one request, one answer, whatever workers do.
import { NfpWorker } from '@proj/worker';
import type { PeerLine, PeerProcess } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { transport } from '../../transport.js';
import { testPeers } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { stage } from './stage.js';

const theater = stage();
const { launch, keep } = testPeers();

/** A REQ client: each call resolves with its one answer. */
class Requester {
  readonly #peer: PeerProcess;
  #asked = 0;

  constructor(endpoint: string) {
    this.#peer = launch(pythonPeer('nfp', 'requester', { connect: endpoint }));
  }

  async ask(
    verb: string,
    uuid: string,
    call: Partial<Record<'service' | 'target' | 'body', string>> = {},
  ): Promise<PeerLine> {
    this.#peer.tell({ do: verb, uuid, service: 'sample', target: 'all', body: '{}', ...call });
    return this.#peer.line('answer', {}, ++this.#asked);
  }

  /** Asks for the result until there is one. */
  async result(uuid: string, target: string): Promise<PeerLine> {
    for (;;) {
      const answer = await this.ask('GET', uuid, { target });
      if (answer['status'] !== '300') return answer;
    }
  }
}

const bodyOf = ({ body }: PeerLine): unknown => JSON.parse(String(body));

/** Two of our workers, which report events of each job, and their broker. */
async function ours(): Promise<string> {
  const { broker, endpoint } = await theater.broker();
  const tasks = {
    add: ({ args: [a, b] }: { args: readonly unknown[] }) => (a as number) + (b as number),
    chatter: async (_call: unknown, { progress }: { progress: (message: string) => void }) => {
      for (let turn = 0; turn < 50; turn++) {
        progress(`turn ${turn}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return 'done';
    },
    hold: (_call: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      }),
  };
  for (const name of ['w1', 'w2']) {
    const worker = keep(new NfpWorker({ transport, endpoints: [endpoint], service: 'sample', name, tasks }));
    const ready = new Promise<void>((resolve) => {
      broker.on('worker-ready', () => {
        resolve();
      });
    });
    await worker.start();
    await ready;
  }
  return endpoint;
}

describe('rule 24: a client with a REQ socket', () => {
  it.each([
    ['all', 2],
    ['any', 1],
  ] as const)('gets 50 jobs for %s done by our workers, which send events meanwhile', async (target, count) => {
    const client = new Requester(await ours());
    for (let job = 0; job < 50; job++) {
      const uuid = `job-${target}-${job}`;
      const body = JSON.stringify(job % 5 === 0 ? { task: 'chatter' } : { task: 'add', args: [job, 1], kwargs: {} });
      const dispatched = await client.ask('POST', uuid, { target, body });
      expect(dispatched).toMatchObject({ to: 'POST', status: '202' });
      expect(bodyOf(dispatched)).toMatchObject({ status: 'DISPATCHED' });
      const answer = await client.result(uuid, target);
      expect(answer).toMatchObject({ to: 'GET', status: '200' });
      const results = Object.values(bodyOf(answer) as Record<string, { result: unknown }>);
      expect(results.map(({ result }) => result)).toEqual(Array(count).fill(job % 5 === 0 ? 'done' : job + 1));
    }
  });

  it('learns in the words of the text that a job runs, was cancelled, or is unknown', async () => {
    const client = new Requester(await ours());
    await client.ask('POST', 'h1', { body: '{"task":"hold"}' });
    expect(await client.ask('GET', 'h1')).toMatchObject({ status: '300' });
    expect(bodyOf(await client.ask('DELETE', 'h1'))).toMatchObject({ w1: { worker: 'w1' }, w2: { worker: 'w2' } });
    expect(await client.result('h1', 'all')).toMatchObject({ status: '200' });
    expect(await client.ask('GET', 'nobody-knows')).toMatchObject({ status: '400' });
    expect(await client.ask('GET', 'h1', { service: 'nobody' })).toMatchObject({ status: '400', service: 'nobody' });
  });

  it.each(['EVENT', 'RESPONSE'])('gets an answer in its own form, with its target, if it sends %s', async (verb) => {
    const { endpoint } = await theater.broker();
    const client = new Requester(endpoint);
    const answer = await client.ask(verb, 'u1', { target: 'w1,w2' });
    expect(answer).toMatchObject({ status: '400', service: 'sample' });
    expect(bodyOf(answer)).toMatchObject({ target: 'w1,w2', uuid: 'u1', status: 'FAILED' });
  });

  it('gets the answers of workers of both forms, one of them dead', async () => {
    const { broker, endpoint } = await theater.broker({ keepaliveMultiplier: 2, returnMs: 500 });
    const players = [
      await theater.worker({ connect: endpoint, name: 'w1', form: 'ascii' }),
      await theater.worker({ connect: endpoint, name: 'w2', form: 'byte' }),
    ];
    const client = new Requester(endpoint);
    await client.ask('POST', 'u1', { body: 'work' });
    const both = await client.result('u1', 'all');
    expect([both['status'], bodyOf(both)]).toEqual(['200', { w1: 'work', w2: 'work' }]);
    expect(await client.ask('GET', 'u1', { target: 'w2' })).toMatchObject({ status: '200', body: 'work' });
    const lost = new Promise((resolve) => broker.on('worker-lost', resolve));
    players[1]?.kill('SIGKILL');
    await lost;
    // Until its time to return is over, it may still answer.
    expect(await client.result('u1', 'all')).toMatchObject({ status: '200', body: 'work' });
  });
});
