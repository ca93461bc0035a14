// An error in a user's handler is always reported: each facade that runs handlers reports it, even without an error
// listener.
import * as brokers from '@proj/broker';
import * as clients from '@proj/client';
import * as queues from '@proj/pzq';
import { AutoClock, VirtualNetwork } from '@proj/transport/virtual';
import * as workers from '@proj/worker';
import { expect, it, onTestFinished, vi } from 'vitest';
import { FACADES } from './facades.js';

const FIRST = 'tcp://sim:1';
const SECOND = 'tcp://sim:2';
const FAILURES = 3;

const network = new VirtualNetwork({ clock: new AutoClock() });
const failed = () => ['failed'];
const on = () => ({ transport: network.transport() });
const at = { endpoints: [FIRST] };

/** Closed when the test is over. */
function kept<Facade extends { close(): Promise<unknown> }>(facade: Facade): Facade {
  onTestFinished(() => facade.close().then(() => undefined));
  return facade;
}

async function repeat(once: () => Promise<unknown>): Promise<void> {
  for (let count = 0; count < FAILURES; count++) await once();
}

/** A NORFAB broker with one worker, and a job with this task. */
async function jobs(task: workers.NfpTaskHandler, options: clients.NfpClientOptions = {}): Promise<void> {
  const broker = kept(new brokers.NfpBroker({ ...on(), endpoint: FIRST }));
  const registered = new Promise((resolve) => broker.on('worker-ready', resolve));
  await broker.start();
  await kept(new workers.NfpWorker({ ...on(), ...at, service: 'echo', name: 'echo-1', tasks: { task } })).start();
  await registered;
  const client = kept(new clients.NfpClient({ ...on(), ...at, ...options }));
  await repeat(() => client.run('echo', 'task'));
}

/** By facade name: makes it call a handler three times, and resolves when it has thrown each time. */
const STORIES: Readonly<Record<string, (fail: () => never) => Promise<void>>> = {
  async MdpBroker(fail) {
    const broker = kept(new brokers.MdpBroker({ ...on(), endpoint: FIRST }));
    broker.serve('echo', fail, { onError: failed });
    await broker.start();
    const client = kept(new clients.MdpClient({ ...on(), ...at }));
    await repeat(() => client.request('echo', 'x'));
  },
  async MdpWorker(fail) {
    const pool = kept(new brokers.MdpPool({ ...on(), endpoint: FIRST }));
    await pool.start();
    await kept(new workers.MdpWorker({ ...on(), ...at, service: 'echo', handler: fail, onError: failed })).start();
    await repeat(() => pool.request('echo', 'x'));
  },
  async PppWorker(fail) {
    const pool = kept(new brokers.PppPool({ ...on(), endpoint: FIRST }));
    await pool.start();
    await kept(new workers.PppWorker({ ...on(), ...at, handler: fail, onError: failed })).start();
    await repeat(() => pool.request('x'));
  },
  NfpWorker: (fail) => jobs(fail),
  NfpClient: (onInput) => jobs((_, { requestInput }) => requestInput('well?').catch(failed), { onInput }),
  async PzqConsumer(fail) {
    const ports = { receive: FIRST, send: SECOND, monitor: 'tcp://sim:3' };
    await kept(new queues.PzqServer({ ...on(), ...ports, store: new queues.MemoryStore() })).start();
    const producer = kept(new clients.PzqProducer({ ...on(), ...at }));
    await repeat(() => producer.send('x'));
    const consumer = kept(new clients.PzqConsumer({ ...on(), endpoints: [SECOND] }));
    let count = 0;
    await new Promise<void>((resolve, reject) => {
      const handler = () => {
        if (++count === FAILURES) setImmediate(resolve);
        fail();
      };
      consumer.run(handler).catch(reject);
    });
  },
};

/** These facades do not call user code, or call it in a separate process, whose failures are results of jobs. */
const WITHOUT_HANDLERS = [
  ...['MdpPool', 'NfpBroker', 'PppQueue', 'PppPool', 'EmqpBroker', 'EmqpPubSub', 'PzqServer', 'EmqpScheduler'],
  ...['MdpClient', 'LazyPirateClient', 'NfpSubscriber', 'EmqpClient', 'PzqProducer', 'EmqpJobManager'],
];

it('knows for every facade whether it runs handlers', () => {
  expect([...Object.keys(STORIES), ...WITHOUT_HANDLERS].sort()).toEqual([...FACADES].sort());
});

it.each(Object.entries(STORIES))('%s reports what a handler throws to standard error, once', async (name, story) => {
  const heard = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  onTestFinished(() => {
    heard.mockRestore();
  });
  let thrown = 0;
  await story(() => {
    thrown++;
    throw new Error('on purpose');
  });
  expect(thrown).toBe(FAILURES);
  expect(heard.mock.calls).toEqual([
    [expect.stringMatching(new RegExp(`^${name}\\b.*: error without a listener: Error: on purpose\n +at `))],
  ]);
});
