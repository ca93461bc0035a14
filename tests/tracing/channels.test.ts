/** Traces without OpenTelemetry: events on node:diagnostics_channel, and no work without subscribers. docs/TRACING.md. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import * as api from '@opentelemetry/api';
import { MdpBroker } from '@proj/broker';
import { MdpClient, PzqConsumer, PzqProducer } from '@proj/client';
import { MemoryStore, PzqServer } from '@proj/pzq';
import { Tracing } from '@proj/transport/tracing';
import type { TracedMessage, TracingChannelName } from '@proj/transport/tracing';
import { MdpWorker } from '@proj/worker';
import { expect, it, onTestFinished, vi } from 'vitest';
import { kept, on } from './telemetry.js';

const FIRST = 'tcp://sim:1';
const SECOND = 'tcp://sim:2';

/** What a channel publishes from now on: the event, the protocol, the name, and the error, if any. */
function listen(name: TracingChannelName): string[] {
  const heard: string[] = [];
  const channel = tracingChannel<string, TracedMessage>(name);
  const on = (event: string) => (message: unknown) => {
    const { protocol, name: called, error } = message as TracedMessage;
    heard.push([event, protocol, called, ...(error === undefined ? [] : [(error as Error).message])].join(' '));
  };
  const subscribers = {
    start: on('start'),
    end: on('end'),
    asyncStart: on('asyncStart'),
    asyncEnd: on('asyncEnd'),
    error: on('error'),
  };
  channel.subscribe(subscribers);
  onTestFinished(() => {
    channel.unsubscribe(subscribers);
  });
  return heard;
}

async function mdp(handler: () => string): Promise<MdpClient> {
  await kept(new MdpBroker({ ...on(), endpoint: FIRST })).start();
  const worker = kept(new MdpWorker({ ...on(), endpoints: [FIRST], service: 'echo', handler, onError: () => 'sorry' }));
  worker.on('error', () => undefined);
  await worker.start();
  return kept(new MdpClient({ ...on(), endpoints: [FIRST] }));
}

it('a request and its job are published by the conventions of TracingChannel', async () => {
  const [asked, served] = [listen('proj:client.request'), listen('proj:worker.job')];
  const client = await mdp(() => 'x');
  await client.request('echo', 'x');
  const events = ['start', 'end', 'asyncStart', 'asyncEnd'].map((event) => `${event} mdp echo`);
  expect([asked, served]).toEqual([events, events]);
});

it('an error is published before the end', async () => {
  const served = listen('proj:worker.job');
  const client = await mdp(() => {
    throw new Error('broken');
  });
  await client.request('echo', 'x');
  expect(served).toEqual([
    'start mdp echo',
    'end mdp echo',
    'error mdp echo broken',
    'asyncStart mdp echo broken',
    'asyncEnd mdp echo broken',
  ]);
});

it('puts and messages of a queue are published', async () => {
  const [put, processed] = [listen('proj:pzq.put'), listen('proj:pzq.process')];
  const ports = { receive: FIRST, send: SECOND, monitor: 'tcp://sim:3' };
  await kept(new PzqServer({ ...on(), ...ports, store: new MemoryStore() })).start();
  await kept(new PzqProducer({ ...on(), endpoints: [FIRST] })).send('x');
  const message = await kept(new PzqConsumer({ ...on(), endpoints: [SECOND] })).receive();
  expect(processed).toEqual(['start pzq process sim:2', 'end pzq process sim:2']);
  message?.ack();
  expect(put.at(-1)).toBe('asyncEnd pzq send sim:1');
  expect(processed.at(-1)).toBe('asyncEnd pzq process sim:2');
});

it('a store bound to the start of a job is visible in its handler', async () => {
  const storage = new AsyncLocalStorage<string>();
  const { start } = tracingChannel<string, TracedMessage>('proj:worker.job');
  start.bindStore(storage, ({ name }) => `in ${name}`);
  onTestFinished(() => {
    start.unbindStore(storage);
  });
  const client = await mdp(() => storage.getStore() ?? 'outside');
  expect(String(await client.request('echo', 'x'))).toBe('in echo');
});

it('without subscribers, nothing is started', async () => {
  const begin = vi.spyOn(Tracing.prototype, 'begin');
  onTestFinished(() => {
    begin.mockRestore();
  });
  const client = await mdp(() => 'x');
  await client.request('echo', 'x');
  for await (const _ of client.stream('echo', 'x'));
  expect(begin).not.toHaveBeenCalled();
  const heard = listen('proj:client.request');
  await client.request('echo', 'x');
  expect([begin.mock.calls.length, heard.length]).toEqual([1, 4]);
});

it('without an SDK, the API alone changes nothing', async () => {
  await kept(new MdpBroker({ ...on(), endpoint: FIRST })).start();
  const tracing = { api, carry: true };
  const handler = ({ body }: { body: Buffer[] }) => [String(body.length), ...body];
  await kept(new MdpWorker({ ...on(), endpoints: [FIRST], service: 'echo', handler, tracing })).start();
  const client = kept(new MdpClient({ ...on(), endpoints: [FIRST], tracing }));
  expect((await client.request('echo', 'x')).map(String)).toEqual(['1', 'x']);
});

it.each([{}, { api: {} }, { api: { trace: {}, context: {}, propagation: {} } }, { api, carry: 1 }, { api, more: 1 }])(
  'option tracing must be the API module: %o is refused',
  (tracing) => {
    expect(() => new MdpClient({ tracing: tracing as never })).toThrow(/^MdpClient: .*tracing/);
  },
);
