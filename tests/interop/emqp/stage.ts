/** EventMQ with our broker and peers in Python. */
import { EmqpBroker } from '@proj/broker/emqp';
import type { EmqpBrokerOptions, EmqpBrokerEndpoints, EmqpBrokerEvents } from '@proj/broker/emqp';
import { nextEvent } from '@proj/testkit';
import type { PeerLine, PeerProcess } from '@proj/testkit';
import { testPeers } from '../test-peers.js';
import type { Flags } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

const FREE = 'tcp://127.0.0.1:*';

/** Heartbeats in all tests: frequent enough to see some, and patient enough that a busy machine does not look dead. */
const BEATS = { heartbeatIntervalMs: 100, expiryMs: 60_000, leaveGraceMs: 60_000 } as const;
const BEAT_FLAGS = { 'heartbeat-ms': 100, liveness: 600 };

/** A running broker. */
export interface Served {
  readonly broker: EmqpBroker;
  /** Resolves when the first peer has joined, even if that happens while the broker starts. */
  readonly joined: Promise<unknown>;
  /** The first endpoint of each port. */
  readonly at: Readonly<Record<keyof EmqpBrokerEndpoints, string>>;
}

/** A Python client or admin. */
export interface Asker {
  readonly peer: PeerProcess;
  request(id: string, options?: { queue?: string; headers?: string; callable?: string }): void;
  say(word: string, id: string, ...rest: readonly string[]): void;
  accepted(id: string): Promise<PeerLine>;
  result(id: string): Promise<PeerLine>;
  /** Everything it has received about that job. */
  replies(id: string): readonly PeerLine[];
}

/** Starts processes that end with their test. */
export interface Stage {
  broker(options?: EmqpBrokerOptions): Promise<Served>;
  /** A Python worker or scheduler, registered; the slots of a worker follow. */
  worker(served: Served, flags?: Flags): Promise<PeerProcess>;
  scheduler(served: Served, flags?: Flags): Promise<PeerProcess>;
  client(served: Served): Asker;
  admin(served: Served): Asker;
}

/** The next such event of a broker. Call it before causing the event. */
export function brokerEvent<Name extends keyof EmqpBrokerEvents>(
  broker: EmqpBroker,
  name: Name,
): Promise<EmqpBrokerEvents[Name]> {
  return nextEvent<EmqpBrokerEvents, Name>(broker, name);
}

/** The body of a job that returns its id. */
export function jobBody(id: string, callable = 'echo'): string {
  return JSON.stringify(['run', { callable, path: 'jobs', args: [id], kwargs: {}, class_args: [], class_kwargs: {} }]);
}

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const { launch, keep } = testPeers();

  function asker(role: string, connect: string): Asker {
    const peer = launch(pythonPeer('emqp', 'client', { connect, role }));
    const say = (word: string, id: string, ...rest: readonly string[]) => {
      peer.tell({ do: 'say', word, id, rest });
    };
    return {
      peer,
      say,
      request(id, { queue = 'default', headers = 'reply-requested', callable = 'echo' } = {}) {
        say('REQUEST', id, queue, headers, jobBody(id, callable));
      },
      accepted: (id) => peer.line('reply', { of: id, result: null }),
      result: (id) => peer.line('reply', { of: id, result: JSON.stringify({ value: id }).replace(':', ': ') }),
      replies: (id) => peer.lines('reply', { of: id }),
    };
  }

  async function informer(role: 'worker' | 'scheduler', { broker }: Served, flags: Flags): Promise<PeerProcess> {
    const joined = brokerEvent(broker, 'peer-joined');
    const peer = launch(pythonPeer('emqp', role, { ...BEAT_FLAGS, ...flags }));
    await Promise.race([Promise.all([joined, peer.line('heartbeat')]), peer.lost()]);
    return peer;
  }

  return {
    async broker(options = {}) {
      const endpoints = { frontend: FREE, backend: FREE, admin: FREE };
      const broker = keep(new EmqpBroker({ transport, ...endpoints, ...BEATS, ...options }));
      const joined = brokerEvent(broker, 'peer-joined');
      const { frontend, backend, admin } = await broker.start();
      return { broker, joined, at: { frontend: frontend[0] ?? '', backend: backend[0] ?? '', admin: admin[0] ?? '' } };
    },
    worker: (served, flags = {}) => informer('worker', served, { connect: served.at.backend, ...flags }),
    scheduler: (served, flags = {}) => informer('scheduler', served, { connect: served.at.frontend, ...flags }),
    client: ({ at }) => asker('client', at.frontend),
    admin: ({ at }) => asker('admin', at.admin),
  };
}
