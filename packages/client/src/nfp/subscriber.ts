/** NFP "NFP/Broker-PUB", the subscriber, a facade: rule 22 of the broker in docs/protocols/nfp.md. */
import { decodeNfpPublishedEvent, nfpNameOf } from '@proj/frames/nfp';
import { Departures, Emitter, parseOptions, ProjError } from '@proj/transport';
import type { EventListener, HandshakeRefusal, Life } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import { loadTransport } from '@proj/zmtp';
import { ClientSubscriptions } from '../subscription.js';
import type { Subscription } from '../subscription.js';
import { readJson } from './engine/answers.js';
import { eventOf } from './job.js';
import type { NfpJobEvent } from './job.js';
import { nfpSubscribeOptions, nfpSubscriberOptions } from './options.js';
import type { NfpSubscribeOptions, NfpSubscriberOptions } from './options.js';

/** An event of a worker, as a broker publishes it. */
export interface NfpPublication extends NfpJobEvent {
  /** Routing id of the sending worker, whatever its body says. */
  readonly worker: string;
  readonly service: string;
  /** The job; any topic if the worker has no job of that name. */
  readonly uuid: string;
}

/** The result of `subscribe`: an async iterator over {@link NfpPublication}, each with the number missed before it. */
export type NfpSubscription = Subscription<NfpPublication>;

/** Events of an {@link NfpSubscriber}. */
export interface NfpSubscriberEvents {
  /** A subscription's reader is too slow: its oldest event was dropped. Emitted once until it reads the next one, which has the count. */
  missed: NfpSubscription;
  /** A handshake with a broker failed, because of its key or ours; it will be retried. */
  refused: HandshakeRefusal;
}

/** Totals since construction. */
export interface NfpSubscriberStats {
  /** Events that matched a subscription. */
  readonly received: number;
  /** Those dropped because they were not read in time. */
  readonly missed: number;
  /** Messages that were not events, or over the limits. */
  readonly unreadable: number;
}

const MESSAGE_FRAMES = 64;

/**
 * Receives the events that brokers publish (`publish` of `NfpBroker`, `--nfp-events` of `proj-broker`).
 *
 * ```ts
 * await using subscriber = new NfpSubscriber({ endpoints: ['tcp://127.0.0.1:5556'] });
 * for await (const { service, worker, uuid, message } of subscriber.subscribe({ service: 'sample' }))
 *   console.log(service, worker, uuid, message);
 * ```
 */
export class NfpSubscriber implements Life<NfpSubscriberEvents> {
  readonly #events = new Emitter<NfpSubscriberEvents>();
  readonly #departures = new Departures();
  readonly #subscriptions: ClientSubscriptions<NfpPublication>;
  #closed = false;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: NfpSubscriberOptions = {}) {
    const settings = parseOptions('NfpSubscriber', nfpSubscriberOptions, options);
    const { transport, endpoints, maxMessageBytes, curve } = settings;
    const source = {
      subject: `NfpSubscriber at ${endpoints.join(', ')}`,
      endpoints,
      port: { maxMessageFrames: MESSAGE_FRAMES, maxMessageBytes, ...clientCurve(curve) },
      load: () => loadTransport(transport, curve),
      read,
      onRefused: this.#events.forward('refused'),
      onMissed: this.#events.forward('missed'),
    };
    this.#subscriptions = new ClientSubscriptions(source, this.#departures);
  }

  /**
   * Subscribes from now on. Each subscription has its own socket until it ends. The socket reconnects by itself; events published meanwhile are
   * missed. Throws `OPTIONS_INVALID` and `CLOSED`; reading rejects with `UNAVAILABLE` if ZeroMQ cannot run and with `PEER_LOST` if the socket
   * fails permanently.
   */
  subscribe(options: NfpSubscribeOptions = {}): NfpSubscription {
    const { service, uuid, signal, ...limits } = parseOptions('NfpSubscriber subscribe', nfpSubscribeOptions, options);
    if (this.#closed) throw new ProjError('CLOSED', 'NfpSubscriber subscribe: the subscriber is closed');
    // Topics are `service/uuid`.
    const prefix = Buffer.from(service === undefined ? '' : `${service}/${uuid ?? ''}`);
    const wants = (event: NfpPublication): boolean =>
      (service === undefined || event.service === service) && (uuid === undefined || event.uuid === uuid);
    return this.#subscriptions.subscribe({ prefixes: [prefix], limits, signal, wants });
  }

  /** Ends all subscriptions. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#subscriptions.close();
    await this.#departures.over();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof NfpSubscriberEvents>(
    event: Name,
    listener: EventListener<NfpSubscriberEvents, Name>,
  ): () => void {
    return this.#events.on(event, listener);
  }

  /** A copy of the totals since construction. */
  stats(): NfpSubscriberStats {
    return { ...this.#subscriptions.totals };
  }
}

function read(frames: readonly Uint8Array[]): NfpPublication | undefined {
  const event = decodeNfpPublishedEvent(frames);
  if (event === undefined) return undefined;
  const { service, uuid, worker, body } = event;
  return { ...eventOf(body, readJson(body)), service, uuid, worker: nfpNameOf(worker) };
}
