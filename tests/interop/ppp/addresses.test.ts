// Client addresses: REQ and DEALER sockets, routing ids that are not text, hops in between (docs/protocols/ppp.md,
// section 1).
import { describe, expect, it } from 'vitest';
import { nextEvent, ownEndpoint } from '@proj/testkit';
import { PppQueue } from '@proj/broker/ppp';
import type { PppQueueEvents } from '@proj/broker/ppp';
import { PppWorker } from '@proj/worker';
import { BEAT_FLAGS, BEATS, toHex } from '../test-peers.js';
import type { Maker } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';
import { stage } from './stage.js';

const theater = stage();

const MAKERS: readonly Maker[] = ['ours', 'python'];

/** Routing ids in hex. libzmq reserves ids that begin with a zero byte. */
const IDS = [
  ['that are not UTF-8 and contain a zero byte', 'c328000aff'],
  ['of one byte', '01'],
  ['of 255 bytes', 'fe'.repeat(255)],
] as const;

describe.each(MAKERS)('a %s worker behind our queue', (maker) => {
  it('serves a REQ socket, one request after the other', async () => {
    const { frontend, backend } = await theater.queue();
    await theater.workerBy(maker, backend);
    const client = theater.pythonClient({ connect: frontend });
    for (const text of ['first', 'second', ''])
      expect((await client.ask([Buffer.from(text)])).map(String)).toEqual([text]);
  });

  it('serves a DEALER that puts hops before the empty frame, and returns them', async () => {
    const { frontend, backend } = await theater.queue();
    await theater.workerBy(maker, backend);
    const hops = ['01', '02', 'ff00ff', 'fe'.repeat(255)].join(',');
    const client = theater.pythonClient({ connect: frontend, socket: 'dealer', hops });
    expect((await client.ask([Buffer.from('x')])).map(String)).toEqual(['x']);
  });

  it('serves REQ and DEALER sockets behind three routers', async () => {
    const { frontend, backend } = await theater.queue();
    await theater.workerBy(maker, backend);
    const connect = await theater.hop(await theater.hop(await theater.hop(frontend)));
    expect((await theater.pythonClient({ connect }).ask([Buffer.from('x')])).map(String)).toEqual(['x']);
    const dealer = theater.pythonClient({ connect, socket: 'dealer' });
    const bodies = Array.from({ length: 100 }, (_, number) => [Buffer.from(`request ${number}`)]);
    expect((await dealer.askAll(bodies)).map(String)).toEqual(bodies.map(String));
  });

  it.each(IDS)('serves a client of ids %s', async (_, identity) => {
    const { frontend, backend } = await theater.queue();
    await theater.workerBy(maker, backend);
    const client = theater.pythonClient({ connect: frontend, identity });
    expect((await client.ask([Buffer.from('x')])).map(String)).toEqual(['x']);
  });
});

describe.each(MAKERS)('a %s worker behind our queue, for clients without address stack', (maker) => {
  it('rule 4: serves a client that sends content alone, and answers it in that form', async () => {
    const { frontend, backend } = await theater.queue();
    await theater.workerBy(maker, backend);
    const bare = theater.pythonClient({ connect: frontend, socket: 'bare' });
    expect((await bare.ask([Buffer.from('one frame')])).map(String)).toEqual(['one frame']);
    expect((await bare.ask([Buffer.from('two'), Buffer.from('frames')])).map(String)).toEqual(['two', 'frames']);
    expect((await theater.pythonClient({ connect: frontend }).ask([Buffer.from('x')])).map(String)).toEqual(['x']);
  });
});

describe('our worker and an application that is the client itself', () => {
  it.each<[string, string[] | null]>([
    ['no stack', null],
    ['an empty stack', []],
    ['one address', ['6331']],
    ['several addresses', ['6331', 'ff00', 'fe'.repeat(255)]],
  ])('rule 3: %s: answers in the form of the request', async (_, addresses) => {
    const application = theater.launch(pythonPeer('ppp', 'application', BEAT_FLAGS));
    const { endpoint } = await application.line('listening');
    await theater
      .keep(new PppWorker({ transport, ...BEATS, endpoints: [endpoint as string], handler: ({ body }) => body }))
      .start();
    await application.line('worker');
    const content = toHex([Buffer.from('x'), Buffer.from('y')]);
    for (const frames of [content, content.slice(0, 1)]) {
      const replied = application.next('reply');
      application.tell({ do: 'request', addresses, content: frames });
      expect(await replied).toMatchObject({ addresses, content: frames });
    }
  });
});

describe('our client behind a Python queue and three routers', () => {
  it('gets its replies', async () => {
    const { frontend, backend } = await theater.pythonQueue();
    await theater.worker({ endpoints: [backend] });
    const connect = await theater.hop(await theater.hop(await theater.hop(frontend)));
    expect(String(await theater.client({ endpoints: [connect] }).request('x'))).toBe('x');
  });
});

describe('our queue connects', () => {
  it('rule 5: to clients that bind, and to workers that bind, one or several', async () => {
    const hop = theater.launch(pythonPeer('ppp', 'hop', {}));
    const { endpoint, behind } = await hop.line('listening');
    const binds = [await ownEndpoint(), await ownEndpoint()];
    const workers = binds.map((bind) => theater.launch(pythonPeer('ppp', 'worker', { bind, ...BEAT_FLAGS })));
    const options = { transport, ...BEATS, frontendConnect: behind as string, backendConnect: binds };
    const queue = theater.keep(new PppQueue(options));
    const known = new Promise<void>((resolve) => {
      queue.on('worker-ready', () => {
        if (queue.stats().workers === workers.length) resolve();
      });
    });
    expect(await queue.start()).toEqual({ frontend: [], backend: [] });
    await known;
    const client = theater.pythonClient({ connect: endpoint as string });
    for (const text of ['first', 'second', 'third'])
      expect((await client.ask([Buffer.from(text)])).map(String)).toEqual([text]);
    expect(queue.stats().counters).toMatchObject({ replies: 3, resends: 0, workersLost: 0 });
  });

  it('rule 6: a worker that binds and is killed at work returns with its next READY, and gets the job again', async () => {
    const bind = await ownEndpoint();
    const flags = { bind, ...BEAT_FLAGS };
    const first = theater.launch(pythonPeer('ppp', 'worker', { ...flags, job: 'hold' }));
    const queue = theater.keep(
      new PppQueue({ transport, ...BEATS, frontend: 'tcp://127.0.0.1:*', backendConnect: bind }),
    );
    const { frontend } = await queue.start();
    const reply = theater.pythonClient({ connect: frontend[0] }).ask([Buffer.from('x')]);
    await first.line('working');
    first.kill('SIGKILL');
    await first.exit;
    theater.launch(pythonPeer('ppp', 'worker', flags));
    expect((await reply).map(String)).toEqual(['x']);
    expect(queue.stats().counters).toMatchObject({ replies: 1, resends: 1 });
  });
});

describe('routing ids at our queue', () => {
  it('a worker sees those of the client and the hops, outermost first, and nothing else', async () => {
    const { frontend, backend } = await theater.queue();
    const worker = await theater.pythonWorker({ connect: backend, job: 'hold' });
    const flags = { connect: frontend, socket: 'dealer', identity: 'c328000aff', hops: '01,02' };
    const reply = theater.pythonClient(flags).ask([Buffer.from('x')]);
    expect(await worker.line('working')).toMatchObject({
      addresses: ['c328000aff', '01', '02'],
      content: toHex([Buffer.from('x')]),
    });
    worker.tell({ do: 'finish' });
    expect((await reply).map(String)).toEqual(['x']);
  });

  it('clients whose ids differ only in non-text bytes are served separately', async () => {
    const { queue, frontend, backend } = await theater.queue();
    await theater.pythonWorker({ connect: backend });
    const replies = ['ff01', 'ff02', 'fe01'].map((identity) =>
      theater.pythonClient({ connect: frontend, identity }).ask([Buffer.from(identity)]),
    );
    expect((await Promise.all(replies)).map(String)).toEqual(['ff01', 'ff02', 'fe01']);
    expect(queue.stats().counters.replies).toBe(3);
  });

  it.each(IDS)('workers may have ids %s', async (_, identity) => {
    const { frontend, backend } = await theater.queue();
    await theater.pythonWorker({ connect: backend, identity });
    expect(String(await theater.client({ endpoints: [frontend] }).request('x'))).toBe('x');
  });

  it('rule 17: a worker killed at work and restarted with its id takes over', async () => {
    const { queue, frontend, backend } = await theater.queue();
    const identity = 'c328000aff';
    const first = await theater.pythonWorker({ connect: backend, identity, job: 'hold' });
    const reply = theater.client({ endpoints: [frontend] }).request('x');
    await first.line('working');
    const lost = nextEvent<PppQueueEvents, 'worker-lost'>(queue, 'worker-lost');
    await first[Symbol.asyncDispose]();
    await lost;
    await theater.pythonWorker({ connect: backend, identity });
    expect(String(await reply)).toBe('x');
    expect(queue.stats()).toMatchObject({ workers: 1, counters: { workersReady: 2, workersLost: 1, resends: 1 } });
  });
});
