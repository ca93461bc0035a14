/**
 * CURVE through the facades, on the in-memory network: which peers get through, and who is told about those that do
 * not.
 */
import { EmqpBroker, NfpBroker, PppQueue } from '@proj/broker';
import { EmqpClient, LazyPirateClient, NfpClient, PzqConsumer, PzqProducer } from '@proj/client';
import { PzqServer } from '@proj/pzq';
import { EmqpScheduler } from '@proj/scheduler';
import { memoryRecords } from '@proj/transport';
import type { HandshakeRefusal, RefusalCounts, Transport } from '@proj/transport';
import { generateCurveKeys } from '@proj/transport/curve';
import type { ClientCurve, ServerCurve } from '@proj/transport/curve';
import { settle, VirtualNetwork } from '@proj/transport/virtual';
import { EmqpJobManager, PppWorker } from '@proj/worker';
import type { EmqpStartJobHost } from '@proj/worker/emqp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ONE = 'tcp://sim:1';
const TWO = 'tcp://sim:2';
const THREE = 'tcp://sim:3';

interface Party {
  on(event: 'refused', listener: (refusal: HandshakeRefusal) => void): unknown;
  close(): Promise<void>;
}

interface Server extends Party {
  start(): Promise<unknown>;
  stats(): RefusalCounts;
}

/** A facade that connects, and a way to check that it got through. */
interface Caller {
  readonly party: Party;
  readonly through: () => Promise<unknown>;
}

interface Pair {
  readonly name: string;
  readonly serve: (transport: Transport, curve: ServerCurve) => Server;
  readonly call: (transport: Transport, curve: ClientCurve) => Caller;
}

const pzq = (transport: Transport, curve: ServerCurve): Server =>
  new PzqServer({ receive: ONE, send: TWO, monitor: THREE, store: 'memory:', transport, curve });
const emqp = (transport: Transport, curve: ServerCurve): Server =>
  new EmqpBroker({ frontend: ONE, backend: TWO, admin: THREE, lingerMs: 0, transport, curve });

/** Runs no job. */
const idleHost: EmqpStartJobHost = (listener) => {
  const exit = (): void => {
    queueMicrotask(() => {
      listener.onExit('told to');
    });
  };
  return {
    id: undefined,
    post: (message) => {
      if ('start' in message)
        queueMicrotask(() => {
          listener.onMessage({ ready: true });
        });
      if ('stop' in message) exit();
    },
    kill: exit,
  };
};

const PAIRS: readonly Pair[] = [
  {
    name: 'PzqServer and PzqProducer',
    serve: pzq,
    call: (transport, curve) => {
      const party = new PzqProducer({ endpoints: [ONE], transport, curve });
      return { party, through: () => party.send('body') };
    },
  },
  {
    name: 'PzqServer and PzqConsumer',
    serve: pzq,
    call: (transport, curve) => {
      const party = new PzqConsumer({ endpoints: [TWO], transport, curve });
      const producer = keep(new PzqProducer({ endpoints: [ONE], transport, curve }));
      const through = async () => {
        const [message] = await Promise.all([party.receive(), producer.send('body')]);
        expect(String(message?.body)).toBe('body');
      };
      return { party, through };
    },
  },
  {
    name: 'PppQueue, PppWorker and LazyPirateClient',
    serve: (transport, curve) => new PppQueue({ frontend: ONE, backend: TWO, lingerMs: 0, transport, curve }),
    call: (transport, curve) => {
      const party = new LazyPirateClient({ endpoints: [ONE], transport, curve });
      const through = async () => {
        const worker = keep(new PppWorker({ endpoints: [TWO], handler: ({ body }) => body, transport, curve }));
        await worker.start();
        expect(String(await party.request('hello'))).toBe('hello');
      };
      return { party, through };
    },
  },
  {
    name: 'EmqpBroker and EmqpClient',
    serve: emqp,
    call: (transport, curve) => {
      const party = new EmqpClient({ endpoints: [ONE], lingerMs: 0, transport, curve });
      return { party, through: () => party.defer('default', { path: 'm', callable: 'f' }) };
    },
  },
  {
    name: 'EmqpBroker and EmqpJobManager',
    serve: emqp,
    call: (transport, curve) => {
      const party = new EmqpJobManager({ endpoints: [TWO], handlers: '/jobs.mjs', pool: idleHost, transport, curve });
      const registered = new Promise((resolve) => party.on('registered', resolve));
      return { party, through: () => Promise.all([party.start(), registered]) };
    },
  },
  {
    name: 'EmqpBroker and EmqpScheduler',
    serve: emqp,
    call: (transport, curve) => {
      const party = new EmqpScheduler({ endpoints: [ONE], store: memoryRecords(), lingerMs: 0, transport, curve });
      const through = async () => {
        const registered = new Promise<void>((resolve) => {
          party.on('note', ({ code }) => {
            if (code === 'registered') resolve();
          });
        });
        await Promise.all([party.start(), registered]);
      };
      return { party, through };
    },
  },
  {
    name: 'the management endpoint of NfpBroker, with keys of its own, and NfpClient',
    serve: (transport, managementCurve) => {
      const curve = { keys: generateCurveKeys() };
      const ends = { endpoint: ONE, managementEndpoint: TWO };
      return new NfpBroker({ ...ends, curve, managementCurve, lingerMs: 0, transport });
    },
    call: (transport, curve) => {
      const party = new NfpClient({ endpoints: [TWO], transport, curve });
      return { party, through: () => party.showBroker() };
    },
  },
];

let network: VirtualNetwork;
const open: { close(): Promise<void> }[] = [];

function keep<One extends { close(): Promise<void> }>(one: One): One {
  open.push(one);
  return one;
}

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
});

afterEach(async () => {
  await settle(network.clock, Promise.all(open.splice(0).map((one) => one.close())));
  expect(network.clock.armed).toBe(0);
});

/** The next refusal that a party reports. */
const refusal = (party: Party): Promise<HandshakeRefusal> =>
  new Promise((resolve) => {
    party.on('refused', resolve);
  });

describe.each(PAIRS)('$name', ({ serve, call }) => {
  const keys = { server: generateCurveKeys(), client: generateCurveKeys(), stranger: generateCurveKeys() };

  async function serving(): Promise<Server> {
    const authorize = (key: Uint8Array): boolean => Buffer.compare(key, keys.client.publicKey) === 0;
    const server = keep(serve(network.transport('server'), { keys: keys.server, authorize }));
    await settle(network.clock, server.start());
    return server;
  }

  /** Calls in vain; returns what server and caller report. */
  async function knock(server: Server, curve: ClientCurve): Promise<HandshakeRefusal[]> {
    const { party, through } = call(network.transport('caller'), curve);
    keep(party);
    const told = Promise.all([refusal(server), refusal(party)]);
    through().catch(() => undefined);
    return settle(network.clock, told);
  }

  it('rule 52: the right keys get through, and no peer is refused', async () => {
    const server = await serving();
    const { party, through } = call(network.transport('caller'), {
      keys: keys.client,
      serverKey: keys.server.publicKey,
    });
    keep(party);
    await settle(network.clock, through());
    expect(server.stats().refused).toEqual({ key: 0, handshake: 0 });
  });

  it('rule 53: a key that is not authorized is refused and counted; both sides are told', async () => {
    const server = await serving();
    const told = await knock(server, { keys: keys.stranger, serverKey: keys.server.publicKey });
    const refused = { reason: 'key', publicKey: keys.stranger.publicKey };
    expect(told).toMatchObject([refused, refused]);
    expect(server.stats().refused.key).toBeGreaterThan(0);
    expect(server.stats().refused.handshake).toBe(0);
  });

  it('rule 54: a client that expects another server is refused and counted; both sides are told', async () => {
    const server = await serving();
    const told = await knock(server, { keys: keys.client, serverKey: keys.stranger.publicKey });
    const refused = { reason: 'handshake', cause: 'server-key' };
    expect(told).toMatchObject([refused, refused]);
    expect(server.stats().refused.handshake).toBeGreaterThan(0);
    expect(server.stats().refused.key).toBe(0);
  });
});
