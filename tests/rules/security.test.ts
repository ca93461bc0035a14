// Every socket of every facade has the security options that its user gave; this test fails first for a new facade or socket.
import * as brokers from '@proj/broker';
import * as clients from '@proj/client';
import * as queues from '@proj/pzq';
import * as schedulers from '@proj/scheduler';
import { memoryRecords } from '@proj/transport';
import type { CurveOptions, PortOptions, Transport } from '@proj/transport';
import { generateCurveKeys } from '@proj/transport/curve';
import { AutoClock, VirtualNetwork } from '@proj/transport/virtual';
import * as workers from '@proj/worker';
import { describe, expect, it } from 'vitest';
import { FACADES } from './facades.js';

const ours = generateCurveKeys();
const theirs = generateCurveKeys();
const asServer = { keys: ours };
const asClient = { keys: ours, serverKey: theirs.publicKey };
const ANY = 'tcp://sim:*';
const NOBODY = 'tcp://sim:1';
const KINDS = ['router', 'dealer', 'publisher', 'subscriber'] as const;

type Kind = (typeof KINDS)[number];

/** A transport in memory that records which sockets are created, and how they are secured. */
class Notes {
  readonly made: { readonly kind: Kind; readonly curve: CurveOptions | undefined }[] = [];
  readonly transport: Transport;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor() {
    const transport = new VirtualNetwork({ clock: new AutoClock() }).transport();
    for (const kind of KINDS) {
      const make = transport[kind].bind(transport) as (options?: PortOptions) => never;
      transport[kind] = (options?: PortOptions): never => {
        this.made.push({ kind, curve: options?.curve });
        for (const { count, resolve } of this.#waiting) if (this.made.length >= count) resolve();
        return make(options);
      };
    }
    this.transport = transport;
  }

  /** Resolves once this many sockets were created. */
  count(count: number): Promise<void> {
    if (this.made.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }
}

interface Closeable {
  close(): Promise<unknown>;
}

/** How to make a facade open all its sockets, and which sockets these are. */
interface Recipe {
  readonly sockets: readonly Kind[];
  readonly open: (transport: Transport) => Closeable;
}

/** Starts it in the background. */
function started<Facade extends Closeable & { start(): Promise<unknown> }>(facade: Facade): Facade {
  facade.start().catch(() => undefined);
  return facade;
}

/** Promises that are not awaited, since no peer answers. */
function ignored(answer: Promise<unknown>): void {
  answer.catch(() => undefined);
}

const handler = (): Uint8Array[] => [];
const [server, client] = [{ curve: asServer }, { curve: asClient }];
const nobody = { endpoints: [NOBODY] };

const RECIPES: Readonly<Record<string, Recipe>> = {
  MdpBroker: {
    sockets: ['router'],
    open: (transport) => started(new brokers.MdpBroker({ transport, endpoint: ANY, ...server })),
  },
  MdpPool: {
    sockets: ['router'],
    open: (transport) => started(new brokers.MdpPool({ transport, endpoint: ANY, ...server })),
  },
  NfpBroker: {
    sockets: ['router', 'router', 'publisher'],
    open: (transport) =>
      started(new brokers.NfpBroker({ transport, endpoint: ANY, publish: ANY, managementEndpoint: ANY, ...server })),
  },
  PppQueue: {
    sockets: ['router', 'router'],
    open: (transport) => started(new brokers.PppQueue({ transport, frontend: ANY, backend: ANY, ...server })),
  },
  PppPool: {
    sockets: ['router'],
    open: (transport) => started(new brokers.PppPool({ transport, endpoint: ANY, ...server })),
  },
  EmqpBroker: {
    sockets: ['router', 'router', 'router'],
    open: (transport) =>
      started(new brokers.EmqpBroker({ transport, frontend: ANY, backend: ANY, admin: ANY, ...server })),
  },
  EmqpPubSub: {
    sockets: ['router', 'publisher'],
    open: (transport) => started(new brokers.EmqpPubSub({ transport, publish: ANY, subscribe: ANY, ...server })),
  },
  MdpClient: {
    sockets: ['dealer'],
    open(transport) {
      const facade = new clients.MdpClient({ transport, ...nobody, ...client });
      ignored(facade.request('echo', 'x'));
      return facade;
    },
  },
  LazyPirateClient: {
    sockets: ['dealer'],
    open(transport) {
      const facade = new clients.LazyPirateClient({ transport, ...nobody, ...client });
      ignored(facade.request('x'));
      return facade;
    },
  },
  NfpClient: {
    sockets: ['dealer'],
    open(transport) {
      const facade = new clients.NfpClient({ transport, ...nobody, ...client });
      ignored(facade.showServices());
      return facade;
    },
  },
  NfpSubscriber: {
    sockets: ['subscriber'],
    open(transport) {
      const facade = new clients.NfpSubscriber({ transport, ...nobody, ...client });
      facade.subscribe();
      return facade;
    },
  },
  EmqpClient: {
    sockets: ['dealer', 'dealer', 'subscriber'],
    open(transport) {
      const endpoints = { publishEndpoint: NOBODY, subscribeEndpoint: NOBODY };
      const facade = new clients.EmqpClient({ transport, ...nobody, ...endpoints, ...client });
      ignored(facade.defer('queue', 'x', { replyRequested: true }));
      ignored(facade.publish('topic', 'x'));
      facade.subscribe('topic');
      return facade;
    },
  },
  PzqProducer: {
    sockets: ['dealer'],
    open(transport) {
      const facade = new clients.PzqProducer({ transport, ...nobody, ...client });
      ignored(facade.send(['x']));
      return facade;
    },
  },
  PzqConsumer: {
    sockets: ['router'],
    open(transport) {
      const facade = new clients.PzqConsumer({ transport, ...nobody, ...client });
      ignored(facade.run(() => undefined));
      return facade;
    },
  },
  MdpWorker: {
    sockets: ['dealer'],
    open: (transport) => started(new workers.MdpWorker({ transport, service: 'echo', handler, ...nobody, ...client })),
  },
  PppWorker: {
    sockets: ['dealer'],
    open: (transport) => started(new workers.PppWorker({ transport, handler, ...nobody, ...client })),
  },
  NfpWorker: {
    sockets: ['dealer'],
    open: (transport) =>
      started(
        new workers.NfpWorker({
          transport,
          service: 'echo',
          name: 'echo-1',
          tasks: { echo: () => null },
          ...nobody,
          ...client,
        }),
      ),
  },
  EmqpJobManager: {
    sockets: ['dealer'],
    open: (transport) =>
      started(
        new workers.EmqpJobManager({
          transport,
          directory: import.meta.dirname,
          concurrency: 1,
          pool: 'threads',
          ...nobody,
          ...client,
        }),
      ),
  },
  PzqServer: {
    sockets: ['router', 'router', 'dealer', 'dealer'],
    open: (transport) =>
      started(
        new queues.PzqServer({
          transport,
          store: new queues.MemoryStore(),
          receive: ANY,
          send: ANY,
          monitor: ANY,
          deadLetterSend: ANY,
          ...server,
        }),
      ),
  },
  EmqpScheduler: {
    sockets: ['dealer'],
    open: (transport) =>
      started(new schedulers.EmqpScheduler({ transport, store: memoryRecords(), ...nobody, ...client })),
  },
};

describe('security options', () => {
  it.each(FACADES)('of %s hold for each of its sockets', async (name) => {
    const recipe = RECIPES[name];
    if (recipe === undefined)
      throw new Error(`${name} is a facade without a recipe here: say how it opens its sockets`);
    const notes = new Notes();
    const facade = recipe.open(notes.transport);
    await notes.count(recipe.sockets.length);
    await facade.close();
    expect(notes.made.map(({ kind }) => kind).sort()).toEqual([...recipe.sockets].sort());
    for (const { kind, curve } of notes.made) {
      expect([kind, curve?.keys]).toEqual([kind, ours]);
      expect(curve?.role === 'client' ? curve.serverKey : theirs.publicKey).toEqual(theirs.publicKey);
    }
  });

  it('are checked for all facades', () => {
    expect([...FACADES].sort()).toEqual(Object.keys(RECIPES).sort());
  });
});
