// Our worker for a client in Python, with a broker in Python and with ours, in both dialects and both forms of
// commands.
import { NfpBroker } from '@proj/broker';
import type { PeerLine, PeerProcess } from '@proj/testkit';
import { NfpWorker } from '@proj/worker';
import type { NfpTaskHandler } from '@proj/worker';
import { describe, expect, it } from 'vitest';
import { testPeers, Registrations } from '../test-peers.js';
import type { Maker } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

const { launch, keep } = testPeers();
const registrations = new Registrations();

/** Keepalives: frequent enough to see some, and patient enough that a busy machine does not look dead. */
const KEEPALIVES = { keepaliveIntervalMs: 500, keepaliveMultiplier: 20 } as const;

interface Make {
  readonly broker: Maker;
  readonly dialect: 'current' | 'legacy';
  readonly form: 'ascii' | 'byte';
}

const MAKES: readonly Make[] = [
  { broker: 'python', dialect: 'current', form: 'ascii' },
  { broker: 'python', dialect: 'current', form: 'byte' },
  { broker: 'python', dialect: 'legacy', form: 'ascii' },
  { broker: 'ours', dialect: 'current', form: 'ascii' },
  { broker: 'ours', dialect: 'current', form: 'byte' },
  { broker: 'ours', dialect: 'legacy', form: 'ascii' },
];

const tasks: Record<string, NfpTaskHandler> = {
  add: ({ args: [a, b] }) => (a as number) + (b as number),
  // Ends when its job is deleted.
  hold: (_call, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    }),
  chunks: async (_call, { stream, puts, progress }) => {
    progress('sending');
    await stream('first');
    for await (const { value } of puts) {
      const { offset } = value as { offset: number };
      await stream(`from ${offset}`);
      if (offset > 9) return 'sent';
    }
    return 'never';
  },
  ask: (_call, { requestInput }) => requestInput('go on?', { default: false, timeoutMs: 600_000 }),
};

async function startBroker({ broker, dialect }: Make): Promise<string> {
  if (broker === 'python') {
    const peer = launch(pythonPeer('nfp', 'service_broker', { dialect }));
    const endpoint = String((await peer.line('listening'))['endpoint']);
    registrations.openPeer(endpoint, peer);
    return endpoint;
  }
  const own = keep(new NfpBroker({ transport, endpoint: 'tcp://127.0.0.1:*', dialect, settleMs: 0, ...KEEPALIVES }));
  const [endpoint = ''] = await own.start();
  own.on('worker-ready', registrations.open(endpoint));
  return endpoint;
}

/** A broker, our worker, registered, and a function that creates clients. */
async function stage(make: Make) {
  const { dialect, form: commandForm } = make;
  const endpoint = await startBroker(make);
  const registered = registrations.at(endpoint);
  const names = { endpoints: [endpoint], service: 'sample', name: 'w1' };
  const worker = keep(new NfpWorker({ transport, ...names, tasks, dialect, commandForm, ...KEEPALIVES }));
  await worker.start();
  await registered;
  return {
    worker,
    client: (name: string) => new Asker(launch(pythonPeer('nfp', 'client', clientFlags(endpoint, name, make)))),
  };
}

function clientFlags(connect: string, name: string, { dialect, form }: Make) {
  return { connect, name, dialect, form };
}

/** A client in Python. */
class Asker {
  readonly #peer: PeerProcess;

  constructor(peer: PeerProcess) {
    this.#peer = peer;
  }

  tell(command: string, uuid: string, body: object = {}): void {
    this.#peer.tell({ do: command, service: 'sample', target: 'all', uuid, body: JSON.stringify(body) });
  }

  /** The body of the `nth` answer of the worker with that status. The broker's own answers with that status also count. */
  async answer(uuid: string, status: string, nth = 1): Promise<unknown> {
    return bodyOf(await this.#peer.line('answer', { command: 'RESPONSE', uuid, status }, nth));
  }

  /** The first events of a job, this many. */
  async events(uuid: string, count: number): Promise<unknown[]> {
    await this.#peer.line('answer', { command: 'EVENT', uuid }, count);
    return this.#peer.lines('answer', { command: 'EVENT', uuid }).map(bodyOf);
  }

  async chunk(uuid: string, body: string): Promise<void> {
    await this.#peer.line('answer', { command: 'STREAM', uuid, body, status: '200' });
  }
}

function bodyOf(line: PeerLine): unknown {
  return JSON.parse(String(line['body']));
}

describe.each(MAKES)('broker $broker, $dialect, $form', (make) => {
  const isCurrent = make.dialect === 'current';
  /** Our broker answers clients in one-byte form in the words of the text, and GET and DELETE once (rule 24). */
  const isText = make.broker === 'ours' && make.form === 'byte';
  const has201 = isCurrent && !isText;
  /**
   * Status of an acceptance. In dialect legacy, and in the text, the broker's own answer, which comes first, has the same
   * status.
   */
  const accepted = (asker: Asker, uuid: string) => asker.answer(uuid, has201 ? '201' : '202', has201 ? 1 : 2);

  it('a job is accepted, reported, fetched by another client, and deleted', async () => {
    const { client } = await stage(make);
    const poster = client('c1');
    poster.tell('POST', 'u1', { task: 'add', kwargs: {}, args: [2, 3] });
    expect(await accepted(poster, 'u1')).toEqual({ worker: 'w1', uuid: 'u1', status: 'ACCEPTED', service: 'sample' });
    expect(await poster.events('u1', 2)).toMatchObject([
      {
        worker: 'w1',
        service: 'sample',
        uuid: 'u1',
        task: 'add',
        message: 'starting',
        status: 'running',
        severity: 'INFO',
      },
      { worker: 'w1', message: 'completed', status: 'completed', resource: [] },
    ]);
    const other = client('c2');
    other.tell('GET', 'u1');
    expect(await other.answer('u1', '200')).toMatchObject({
      w1: { result: 5, failed: false, errors: [], task: 'w1:add', juuid: 'u1', status: 'completed', service: 'sample' },
    });
    other.tell('DELETE', 'u1');
    expect(await other.answer('u1', '200', 2)).toMatchObject({ status: 'DELETED' });
    other.tell('GET', 'u1');
    expect(await other.answer('u1', isText ? '400' : '404')).toMatchObject({ status: 'JOB NOT FOUND' });
  });

  it('DELETE cancels a running job, and a uuid stands for one job', async () => {
    const { client } = await stage(make);
    const asker = client('c1');
    asker.tell('POST', 'u1', { task: 'hold' });
    await asker.events('u1', 1);
    asker.tell('GET', 'u1');
    expect(await asker.answer('u1', '300')).toMatchObject({ worker: 'w1', status: 'STARTED' });
    asker.tell('POST', 'u1', { task: 'hold' });
    const again = has201 ? asker.answer('u1', '201', 2) : asker.answer('u1', '202', isText ? 4 : 5);
    expect(await again).toMatchObject({ status: 'ACCEPTED', state: 'STARTED', duplicate: true });
    asker.tell('POST', 'u1', { task: 'add' });
    expect(await asker.answer('u1', '400')).toMatchObject({ errors: ['uuid is in use for another call'] });
    asker.tell('DELETE', 'u1');
    expect(await asker.answer('u1', '200')).toMatchObject({ status: 'CANCELLING' });
    await asker.events('u1', 2);
    asker.tell('GET', 'u1');
    expect(await asker.answer('u1', '200', 2)).toMatchObject({ w1: { failed: true, status: 'cancelled' } });
  });

  it('a task streams, reads what is PUT, and asks for input', async () => {
    const { client } = await stage(make);
    const asker = client('c1');
    asker.tell('POST', 'u1', { task: 'chunks' });
    await asker.chunk('u1', 'first');
    for (const offset of [5, 10]) {
      asker.tell('PUT', 'u1', { offset });
      await asker.chunk('u1', `from ${offset}`);
    }
    expect((await asker.events('u1', 3))[1]).toMatchObject({ event_type: 'progress', message: 'sending' });
    asker.tell('POST', 'u2', { task: 'ask' });
    const [, asked] = (await asker.events('u2', 2)) as {
      event_type: string;
      extras: { input_request: { id: string } };
    }[];
    expect(asked).toMatchObject({ event_type: 'input_request', extras: { input_request: { question: 'go on?' } } });
    asker.tell('GET', 'u2');
    const { id } = asked!.extras.input_request;
    expect(await asker.answer('u2', isText ? '300' : '102')).toMatchObject({
      status: 'WAITING_CLIENT_INPUT',
      input_request: { id },
    });
    asker.tell('PUT', 'u2', { input_id: id, value: 'yes', cancel: false, metadata: {} });
    await asker.events('u2', 4);
    asker.tell('GET', 'u2');
    expect(await asker.answer('u2', '200')).toMatchObject({ w1: { result: 'yes' } });
  });

  it('each of 100 jobs in flight gets its own result', async () => {
    const { worker, client } = await stage(make);
    const asker = client('c1');
    const uuids = Array.from({ length: 100 }, (_, n) => `job-${n}`);
    for (const [n, uuid] of uuids.entries()) asker.tell('POST', uuid, { task: 'add', args: [n, 1] });
    for (const uuid of uuids) await asker.events(uuid, 2);
    for (const uuid of uuids) asker.tell('GET', uuid);
    for (const [n, uuid] of uuids.entries())
      expect(await asker.answer(uuid, '200')).toMatchObject({ w1: { result: n + 1 } });
    expect(worker.stats()).toMatchObject({ accepted: 100, started: 100, finished: { COMPLETED: 100 }, dropped: {} });
  });
});
