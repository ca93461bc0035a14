/** EventMQ's client and broker, both ours, on the in-memory network. The worker is raw frames. */
import { EmqpBroker } from '@proj/broker';
import { EmqpClient } from '@proj/client';
import { fromLatin1, latin1 } from '@proj/frames';
import { ROUTER_PEER } from '@proj/transport';
import type { SocketPort } from '@proj/transport';
import { settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const FRONTEND = 'tcp://sim:47291';
const BACKEND = 'tcp://sim:47290';
const ADMIN = 'tcp://sim:47293';
const ADD = { path: 'myjobs', callable: 'add', args: [2, 3] };

let network: VirtualNetwork;
const open: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  network = new VirtualNetwork({ seed: 1 });
  const endpoints = { frontend: FRONTEND, backend: BACKEND, admin: ADMIN };
  const broker = new EmqpBroker({ ...endpoints, transport: network.transport('broker'), lingerMs: 0 });
  open.push(broker);
  await settle(network.clock, broker.start());
});

afterEach(async () => {
  await settle(network.clock, Promise.all(open.splice(0).map((one) => one.close())));
  expect(network.clock.armed).toBe(0);
});

function client(): EmqpClient {
  const made = new EmqpClient({ endpoints: [FRONTEND], transport: network.transport('client'), lingerMs: 0 });
  open.push(made);
  return made;
}

/** A peer that sends INFORM and passes every later command to `on`, the frames after the opening as text. */
async function peer(
  endpoint: string,
  type: string,
  on: (command: string, frames: string[]) => void,
): Promise<SocketPort> {
  const port = network.transport(type).dealer({ lingerMs: 0 });
  open.push(port);
  port.connect(endpoint);
  const registered = new Promise<void>((resolve) => {
    port.start({
      onMessage: (_peer, frames) => {
        const [, , command = '', ...rest] = frames.map(latin1);
        if (command === 'ACK') resolve();
        else on(command, rest);
      },
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: () => {},
    });
  });
  say(port, 'INFORM', 'i', '', type);
  await settle(network.clock, registered);
  return port;
}

function say(port: SocketPort, ...frames: string[]): void {
  port.send(ROUTER_PEER, ['', 'eMQP/1.0', ...frames].map(fromLatin1));
}

/** A worker with one slot that adds. */
async function worker(): Promise<void> {
  const port = await peer(BACKEND, 'worker', (command, [id = '', , , body = '']) => {
    if (command !== 'REQUEST') return;
    const [, { args }] = JSON.parse(body) as [string, { args: number[] }];
    say(port, 'REPLY', 'p', `{"value": ${args.reduce((sum, n) => sum + n, 0)}}`, id);
    say(port, 'READY', 'r');
  });
  say(port, 'READY', 'r');
}

describe('EmqpClient with EmqpBroker', () => {
  it('a job is accepted although it has to wait, and its result comes back', async () => {
    const deferred = await settle(network.clock, client().defer('default', ADD, { replyRequested: true }));
    await worker();
    expect(await settle(network.clock, deferred.result)).toBe(5);
  });

  it('each of 100 jobs at once gets its own result', async () => {
    await worker();
    const own = client();
    const jobs = Array.from({ length: 100 }, (_, n) => ({ ...ADD, args: [n, 1] }));
    const all = jobs.map(async (job) => {
      const { result } = await own.defer('default', job, { replyRequested: true, guarantee: true });
      return result;
    });
    const results = await settle(network.clock, Promise.all(all));
    expect(results).toEqual(jobs.map((_, n) => n + 1));
  });

  it('schedule and unschedule reach the scheduler', async () => {
    const heard: string[] = [];
    let done = (): void => {};
    const both = new Promise<void>((resolve) => (done = resolve));
    await peer(FRONTEND, 'scheduler', (command, [, , , interval = '']) => {
      if (command === 'HEARTBEAT') return;
      if (heard.push(`${command} ${interval}`) === 2) done();
    });
    const own = client();
    await settle(network.clock, own.schedule('default', ADD, { intervalSeconds: 2 }));
    await settle(network.clock, own.unschedule('default', ADD));
    await settle(network.clock, both);
    expect(heard).toEqual(['SCHEDULE 2', 'UNSCHEDULE -1']);
  });
});
