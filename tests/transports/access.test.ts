/** Access rules over real connections: two clients with different keys at one broker. */
import { EmqpBroker, EmqpPubSub, MdpBroker, NfpBroker, PppQueue } from '@proj/broker';
import { EmqpClient, LazyPirateClient, MdpClient } from '@proj/client';
import { HAS_LIBZMQ } from '@proj/testkit/libzmq';
import { encodeZ85, generateCurveKeys } from '@proj/transport/curve';
import { zmqTransport } from '@proj/transport/zmq';
import { MdpWorker, PppWorker } from '@proj/worker';
import { expect, it } from 'vitest';
import { zmtpTransport } from '@proj/zmtp';

const [server, bob, ada, eve] = [generateCurveKeys(), generateCurveKeys(), generateCurveKeys(), generateCurveKeys()];
const textOf = ({ publicKey }: typeof ada) => encodeZ85(publicKey);
const rules = (client: typeof ada) => [
  { keys: [textOf(bob)], serve: ['echo'] },
  { keys: [textOf(client)], request: ['echo'] },
];

it('a broker answers allowed clients, and others when the rules change', async () => {
  const transport = zmtpTransport();
  await using broker = new MdpBroker({
    endpoint: 'tcp://127.0.0.1:*',
    curve: { keys: server },
    access: rules(ada),
    transport,
  });
  const endpoints = await broker.start();
  const curveOf = (keys: typeof ada) => ({ keys, serverKey: server.publicKey });
  const worker = new MdpWorker({
    endpoints,
    service: 'echo',
    handler: ({ body }) => body,
    transport,
    curve: curveOf(bob),
  });
  await worker.start();
  await using first = new MdpClient({ endpoints, timeoutMs: 60_000, transport, curve: curveOf(ada) });
  await using second = new MdpClient({ endpoints, timeoutMs: 60_000, transport, curve: curveOf(eve) });
  const refusal = () => new Promise<unknown>((resolve) => void broker.on('note', resolve));

  expect(String(await first.request('echo', 'ada'))).toBe('ada');
  let refused = refusal();
  let over = new AbortController();
  let vain = second.request('echo', 'eve', { signal: over.signal });
  expect(await refused).toMatchObject({ code: 'request-dropped', reason: 'not-allowed', service: 'echo' });
  over.abort();
  await expect(vain).rejects.toThrow();

  broker.setAccess(rules(eve));
  expect(String(await second.request('echo', 'eve'))).toBe('eve');
  refused = refusal();
  over = new AbortController();
  vain = first.request('echo', 'ada', { signal: over.signal });
  expect(await refused).toMatchObject({ code: 'request-dropped', reason: 'not-allowed', service: 'echo' });
  over.abort();
  await expect(vain).rejects.toThrow();
  expect(broker.stats().counters).toMatchObject({ replies: 2, dropped: { 'not-allowed': 2 } });
  await worker.close();
});

it('a Paranoid Pirate queue accepts work from allowed clients and gives it to allowed workers, also after the rules have changed', async () => {
  const transport = zmtpTransport();
  const [worker1, worker2] = [generateCurveKeys(), generateCurveKeys()];
  const pppRules = (worker: typeof ada, client: typeof ada) => [
    { keys: [textOf(worker)], serve: ['ppp'] },
    { keys: [textOf(client)], request: ['ppp'] },
  ];
  await using queue = new PppQueue({
    frontend: 'tcp://127.0.0.1:*',
    backend: 'tcp://127.0.0.1:*',
    heartbeatIntervalMs: 60_000,
    curve: { keys: server },
    access: pppRules(worker1, ada),
    transport,
  });
  const { frontend, backend } = await queue.start();
  const curveOf = (keys: typeof ada) => ({ keys, serverKey: server.publicKey });
  const heard = (event: 'note' | 'worker-ready' | 'worker-lost') =>
    new Promise<unknown>((resolve) => void queue.on(event, resolve));
  const workerOf = (keys: typeof ada, name: string) =>
    new PppWorker({
      endpoints: backend,
      heartbeatIntervalMs: 60_000,
      handler: () => name,
      transport,
      curve: curveOf(keys),
    });
  await using first = workerOf(worker1, 'first');
  const early = workerOf(worker2, 'early');
  await using second = workerOf(worker2, 'second');
  let told = heard('worker-ready');
  await first.start();
  await told;
  told = heard('note');
  await early.start();
  expect(await told).toMatchObject({ code: 'message-dropped', reason: 'not-allowed', socket: 'backend' });
  await early.close();

  const settings = { endpoints: frontend, timeoutMs: 60_000, tries: 1, transport };
  await using asks = new LazyPirateClient({ ...settings, curve: curveOf(ada) });
  await using other = new LazyPirateClient({ ...settings, curve: curveOf(eve) });
  expect(String(await asks.request('1'))).toBe('first');
  const vain = async (client: LazyPirateClient) => {
    const refused = heard('note');
    const over = new AbortController();
    const request = client.request('2', { signal: over.signal });
    expect(await refused).toMatchObject({ code: 'request-dropped', reason: 'not-allowed' });
    over.abort();
    await expect(request).rejects.toThrow();
  };
  await vain(other);

  told = heard('worker-lost');
  queue.setAccess(pppRules(worker2, eve));
  expect(await told).toMatchObject({ reason: 'not-allowed' });
  await second.start();
  expect(String(await other.request('3'))).toBe('second');
  await vain(asks);
});

it('an EventMQ broker accepts jobs from clients that may request the queue, also after the rules have changed', async () => {
  const transport = zmtpTransport();
  const queueRules = (client: typeof ada) => [{ keys: [textOf(client)], request: ['mail'] }];
  await using broker = new EmqpBroker({
    frontend: 'tcp://127.0.0.1:*',
    backend: 'tcp://127.0.0.1:*',
    admin: 'tcp://127.0.0.1:*',
    curve: { keys: server },
    access: queueRules(ada),
    transport,
  });
  const { frontend } = await broker.start();
  const clientOf = (keys: typeof ada) =>
    new EmqpClient({
      endpoints: frontend,
      timeoutMs: 60_000,
      transport,
      curve: { keys, serverKey: server.publicKey },
    });
  await using first = clientOf(ada);
  await using second = clientOf(eve);
  const job = { path: 'mail', callable: 'send' };
  const vain = async (client: EmqpClient) => {
    const refused = new Promise<unknown>((resolve) => void broker.on('note', resolve));
    const over = new AbortController();
    const deferred = client.defer('mail', job, { signal: over.signal });
    expect(await refused).toMatchObject({ code: 'request-dropped', reason: 'not-allowed', queue: 'mail' });
    over.abort();
    await expect(deferred).rejects.toThrow();
  };
  await first.defer('mail', job);
  await vain(second);
  broker.setAccess(queueRules(eve));
  await second.defer('mail', job);
  await vain(first);
  expect(broker.stats().counters).toMatchObject({ requests: 2 });
});

it('an EventMQ pub-sub device accepts and delivers what publisher and subscriber may, also after the rules have changed', async () => {
  const transport = zmtpTransport();
  const topics = (one: typeof ada, other: typeof ada) => [
    { keys: [textOf(one)], request: ['news'], serve: ['one'] },
    { keys: [textOf(other)], serve: ['other'] },
    { keys: '*' as const, serve: ['known', 'end'] },
  ];
  await using device = new EmqpPubSub({
    publish: 'tcp://127.0.0.1:*',
    subscribe: 'tcp://127.0.0.1:*',
    curve: { keys: server },
    access: topics(ada, eve),
    transport,
  });
  const { publish, subscribe } = await device.start();
  const say = (topic: string) => {
    device.publish(Buffer.from(topic), Buffer.from('x'));
  };
  const subscribers = [ada, eve].map((keys) => {
    const port = transport.subscriber({ curve: { role: 'client', keys, serverKey: server.publicKey } });
    const heard: string[] = [];
    let wake: () => void = () => undefined;
    port.connect(subscribe[0] as string);
    port.subscribe(new Uint8Array(0));
    port.start({
      onMessage: ([topic]) => {
        heard.push(String(topic));
        wake();
      },
      onRejected: () => undefined,
      onBroken: () => undefined,
    });
    const until = async (topic: string) => {
      while (!heard.includes(topic)) await new Promise<void>((resolve) => (wake = resolve));
      return heard.splice(0).filter((each) => each !== 'known' && each !== 'end');
    };
    return { heard, until, close: () => port.close() };
  });
  while (subscribers.some(({ heard }) => !heard.includes('known'))) {
    say('known');
    await new Promise(setImmediate);
  }
  const round = () => {
    for (const topic of ['one', 'other', 'end']) say(topic);
    return Promise.all(subscribers.map(({ until }) => until('end')));
  };
  expect(await round()).toEqual([['one'], ['other']]);
  device.setAccess(topics(eve, ada));
  expect(await round()).toEqual([['other'], ['one']]);

  await using publisher = new EmqpClient({
    publishEndpoint: publish[0] as string,
    transport,
    curve: { keys: ada, serverKey: server.publicKey },
  });
  const refused = new Promise<unknown>((resolve) => void device.on('note', resolve));
  await publisher.publish('news', 'x');
  expect(await refused).toMatchObject({ code: 'message-dropped', reason: 'not-allowed' });
  await Promise.all(subscribers.map(({ close }) => close()));
});

it.runIf(HAS_LIBZMQ)('a broker over libzmq refuses rules for single keys, and says what to do', async () => {
  const options = { endpoint: 'tcp://127.0.0.1:*', curve: { keys: server }, transport: zmqTransport() };
  await using broker = new MdpBroker({ ...options, access: rules(ada) });
  await expect(broker.start()).rejects.toThrow('zmtpTransport()');
});

it.runIf(HAS_LIBZMQ)(
  'so does the NORFAB broker over libzmq, which needs no keys for rules about everyone',
  async () => {
    const options = { endpoint: 'tcp://127.0.0.1:*', curve: { keys: server }, transport: zmqTransport() };
    await using broker = new NfpBroker({ ...options, access: rules(ada) });
    await expect(broker.start()).rejects.toThrow('zmtpTransport()');
    await using other = new NfpBroker({ ...options, access: [{ keys: '*', request: ['sample'] }] });
    await other.start();
    expect(() => {
      other.setAccess(rules(ada));
    }).toThrow('NfpBroker: option access: has rules for single keys');
    expect(() => {
      other.setAccess([{ keys: [], serve: ['x'.repeat(256)] }]);
    }).toThrow('must be names of at most 255 characters');
  },
);

it('invalid rules are refused, and the old ones stay', () => {
  const broker = new MdpBroker({ access: rules(ada) });
  expect(() => {
    broker.setAccess([{ keys: ['no key'], request: ['echo'] }]);
  }).toThrow('must be a public key, 40 characters of Z85');
});
