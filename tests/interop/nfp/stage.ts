/** NORFAB with our broker and peers in Python. */
import { NfpBroker } from '@proj/broker/nfp';
import type { NfpBrokerOptions, NfpBrokerEvents } from '@proj/broker/nfp';
import { nextEvent } from '@proj/testkit';
import type { PeerLine, PeerProcess } from '@proj/testkit';
import { testPeers, Registrations } from '../test-peers.js';
import type { Flags } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

/** Keepalives in all tests: frequent enough to see some, and patient enough that a busy machine does not look dead. */
const KEEPALIVES = { keepaliveIntervalMs: 500, keepaliveMultiplier: 20 } as const;

const KEEPALIVE_FLAGS = {
  'keepalive-ms': KEEPALIVES.keepaliveIntervalMs,
  multiplier: KEEPALIVES.keepaliveMultiplier,
};

/** What a client sends about a job. */
interface Call {
  readonly do: 'POST' | 'GET' | 'DELETE' | 'PUT' | 'MMI';
  readonly uuid: string;
  readonly target?: string;
  readonly service?: string;
  readonly body?: string;
}

/** A Python client. */
interface Asker {
  readonly peer: PeerProcess;
  tell(call: Call): void;
  /** The first or `nth` answer about that job with that status. */
  answer(uuid: string, status: string, nth?: number): Promise<PeerLine>;
}

/** Starts processes that end with their test. */
interface Stage {
  /** `ready` resolves when the first worker has registered, even if that happens while the broker starts. */
  broker(
    options?: NfpBrokerOptions,
  ): Promise<{ readonly broker: NfpBroker; readonly endpoint: string; readonly ready: Promise<unknown> }>;
  /** A Python worker, registered. */
  worker(flags: Flags & { readonly connect: string; readonly name: string }): Promise<PeerProcess>;
  client(flags: Flags & { readonly connect: string }): Asker;
}

/** The next such event of a broker. Call it before causing the event. */
export function brokerEvent<Name extends keyof NfpBrokerEvents>(
  broker: NfpBroker,
  name: Name,
): Promise<NfpBrokerEvents[Name]> {
  return nextEvent<NfpBrokerEvents, Name>(broker, name);
}

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const { launch, keep } = testPeers();
  const registrations = new Registrations();
  return {
    async broker(options = {}) {
      const broker = keep(
        new NfpBroker({ transport, endpoint: 'tcp://127.0.0.1:*', settleMs: 0, ...KEEPALIVES, ...options }),
      );
      const ready = brokerEvent(broker, 'worker-ready');
      const [endpoint = ''] = await broker.start();
      broker.on('worker-ready', registrations.open(endpoint));
      return { broker, endpoint, ready };
    },
    async worker(flags) {
      const registered = registrations.at(flags.connect);
      const peer = launch(pythonPeer('nfp', 'worker', { ...KEEPALIVE_FLAGS, ...flags }));
      await Promise.race([registered, peer.lost()]);
      return peer;
    },
    client(flags) {
      const peer = launch(pythonPeer('nfp', 'client', flags));
      return {
        peer,
        tell({ service = 'sample', target = 'all', body = '{}', ...call }) {
          peer.tell({ ...call, service, target, body });
        },
        answer: (uuid, status, nth = 1) => peer.line('answer', { uuid, status }, nth),
      };
    },
  };
}
