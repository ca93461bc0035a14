/** Rule 39 of docs/protocols/pzq.md on the in-memory network, which reports keys. */
import { encodeZ85, generateCurveKeys } from '@proj/transport/curve';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import type { VirtualTransport } from '@proj/transport/virtual';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultyStore } from '../test/faulty-store.js';
import { RawConsumer, RawDealer } from '../test/raw-peers.js';
import { PzqServer } from './queue.js';

const [server, ada, bob] = [generateCurveKeys(), generateCurveKeys(), generateCurveKeys()];
const textOf = ({ publicKey }: typeof ada) => encodeZ85(publicKey);
const MAY = [
  { keys: [textOf(ada)], request: ['orders', 'orders.monitor'] },
  { keys: [textOf(bob)], serve: ['orders'] },
];

let network: VirtualNetwork;
let queue: PzqServer;
const peers: { close(): Promise<void> }[] = [];
const until = <Value>(promise: Promise<Value>) => settle(network.clock, promise);

/** All sockets of this transport act as the client with these keys. */
function as(keys: typeof ada): VirtualTransport {
  const transport = network.transport();
  const curve = { role: 'client', keys, serverKey: server.publicKey } as const;
  return Object.assign(Object.create(transport) as VirtualTransport, {
    dealer: (options = {}) => transport.dealer({ curve, ...options }),
    router: (options = {}) => transport.router({ curve, ...options }),
  });
}

function keep<Kept extends { close(): Promise<void> }>(peer: Kept): Kept {
  peers.push(peer);
  return peer;
}
const producer = (keys: typeof ada) => keep(new RawDealer(as(keys), 'tcp://sim:1'));
const consumer = (keys: typeof ada) => keep(new RawConsumer(as(keys), 'tcp://sim:2'));

beforeEach(async () => {
  network = new VirtualNetwork({ seed: 1 });
  queue = new PzqServer({
    receive: 'tcp://sim:1',
    send: 'tcp://sim:2',
    monitor: 'tcp://sim:3',
    store: new FaultyStore(),
    transport: network.transport('queue'),
    curve: { keys: server },
    name: 'orders',
    access: MAY,
  });
  await until(queue.start());
});

afterEach(async () => {
  await until(Promise.all([queue.close(), ...peers.splice(0).map((peer) => peer.close())]));
});

it('rule 39: a producer that may not push is refused, message by message, and nothing is kept', async () => {
  const [may, mayNot] = [producer(ada), producer(bob)];
  expect(await until(may.ask('1', '', 'a'))).toEqual(['1', '1', '']);
  expect(await until(mayNot.ask('2', '', 'b'))).toEqual(['2', '0', '', 'Not allowed']);
  expect(queue.stats()).toMatchObject({ messages: 1, counters: { stored: 1, dropped: { 'not-allowed': 1 } } });
  queue.setAccess([{ keys: [textOf(bob)], request: ['orders'] }]);
  expect(await until(may.ask('3', '', 'c'))).toEqual(['3', '0', '', 'Not allowed']);
  expect(await until(mayNot.ask('4', '', 'd'))).toEqual(['4', '1', '']);
});

it('rule 39: a consumer that may not serve gets nothing, also after the rules have changed', async () => {
  const pusher = producer(ada);
  const [mayNot, may] = [consumer(ada), consumer(bob)];
  for (const id of ['1', '2', '3']) await until(pusher.ask(id, '', id));
  await advance(network.clock, 1000);
  expect(mayNot.waiting).toBe(0);
  expect(may.waiting).toBeGreaterThan(0);
  expect(queue.stats().refused.key).toBeGreaterThan(0);
  const had = may.waiting;
  queue.setAccess([{ keys: [textOf(ada)], request: ['orders'], serve: ['orders'] }]);
  await advance(network.clock, 20_000);
  expect(may.waiting).toBe(had);
  expect(mayNot.waiting).toBeGreaterThan(0);
});

it('rule 39: the monitor answers only peers that may query it', async () => {
  const ask = (keys: typeof ada) => keep(new RawDealer(as(keys), 'tcp://sim:3'));
  expect((await until(ask(ada).ask('', 'MONITOR')))[1]).toContain('messages: 0');
  const vain = ask(bob);
  void vain.ask('', 'MONITOR');
  await advance(network.clock, 1000);
  expect(queue.stats().counters.dropped['not-allowed']).toBe(1);
  expect(queue.stats().counters.monitorReplies).toBe(1);
});

it('rule 39: rules that keep consumers out need curve', async () => {
  const open = new PzqServer({
    send: 'tcp://sim:9',
    store: new FaultyStore(),
    transport: network.transport('other'),
    access: [{ keys: '*', request: ['pzq'] }],
  });
  await expect(until(open.start())).rejects.toThrow('cannot be enforced without the option curve; set curve');
});
