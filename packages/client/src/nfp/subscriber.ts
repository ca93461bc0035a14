/** NFP "NFP/Broker-PUB", the listening side, a facade: rule 22 of the broker in docs/protocols/nfp.md. */
import { totalBytes } from '@proj/frames';
import { decodeNfpPublishedEvent, nfpNameOf } from '@proj/frames/nfp';
import { Departures, Emitter, parseOptions, ProjError } from '@proj/transport';
import type { HandshakeRefusal, SubscriberPort } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import { loadTransport } from '@proj/zmtp';
import { onAbort } from '../on-abort.js';
import { Subscription } from '../subscription.js';
import { readJson } from './engine/answers.js';
import { eventOf } from './job.js';
import type { NfpJobEvent } from './job.js';
import { nfpSubscribeOptions, nfpSubscriberOptions } from './options.js';
import type { NfpSubscribeOptions, NfpSubscriberOptions, NfpSubscriberSettings } from './options.js';

/** An event of a worker, as a broker publishes it. */
export interface NfpPublication extends NfpJobEvent {
  /** The routing id of who tells it, whatever its body says. */
  readonly worker: string;
  readonly service: string;
  /** The job; any topic where the worker has no job of that name. */
  readonly uuid: string;
}

/** What `subscribe` gives: an async iterator over {@link NfpPublication}, each with how many were missed before it. */
export type NfpSubscription = Subscription<NfpPublication>;

/** Events of an {@link NfpSubscriber}. */
export interface NfpSubscriberEvents {
  /** A subscription's reader is too slow: its oldest event was dropped. Once until it reads the next one, which says how many. */
  missed: NfpSubscription;
  /** The handshake with a broker has failed, by its key or by ours; it is tried again. */
  refused: HandshakeRefusal;
}

/** Totals since construction. */
export interface NfpSubscriberStats {
  /** Events that some subscription wanted. */
  readonly received: number;
  /** Of those, dropped because nobody read them in time. */
  readonly missed: number;
  /** What came and is no event, or over the limits. */
  readonly unreadable: number;
}

const MESSAGE_FRAMES = 64;

const ignore = (): void => undefined;

/**
 * Listens to the events that brokers publish (`publish` of `NfpBroker`, `--nfp-events` of `proj-broker`).
 *
 * ```ts
 * await using subscriber = new NfpSubscriber({ endpoints: ['tcp://127.0.0.1:5556'] });
 * for await (const { service, worker, uuid, message } of subscriber.subscribe({ service: 'sample' }))
 *   console.log(service, worker, uuid, message);
 * ```
 */
export class NfpSubscriber {
  readonly #settings: NfpSubscriberSettings;
  readonly #events = new Emitter<NfpSubscriberEvents>();
  /** With the socket of each, once it is open. */
  readonly #subscriptions = new Map<NfpSubscription, SubscriberPort | undefined>();
  readonly #departures = new Departures();
  readonly #totals = { received: 0, missed: 0, unreadable: 0 };
  #closed = false;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: NfpSubscriberOptions = {}) {
    this.#settings = parseOptions('NfpSubscriber', nfpSubscriberOptions, options);
  }

  /**
   * Listens from now on. Each subscription has a socket of its own until it ends; it comes back by itself after a lost connection, and what was
   * published meanwhile is missed. Throws `OPTIONS_INVALID` and `CLOSED`; reading rejects with `UNAVAILABLE` where ZeroMQ cannot run and with
   * `PEER_LOST` when the socket fails for good.
   */
  subscribe(options: NfpSubscribeOptions = {}): NfpSubscription {
    const { service, uuid, signal, ...limits } = parseOptions('NfpSubscriber subscribe', nfpSubscribeOptions, options);
    if (this.#closed) throw new ProjError('CLOSED', 'NfpSubscriber subscribe: the subscriber is closed');
    let release = ignore;
    const subscription = new Subscription<NfpPublication>(limits, {
      onMissed: (first) => {
        this.#totals.missed++;
        if (first) this.#events.emit('missed', subscription);
      },
      onEnd: () => {
        release();
        this.#leave(subscription);
      },
    });
    this.#subscriptions.set(subscription, undefined);
    if (signal?.aborted === true) subscription.end({ error: signal.reason });
    else if (signal !== undefined)
      release = onAbort(signal, () => {
        subscription.end({ error: signal.reason });
      });
    this.#hear(subscription, { service, uuid }).catch((error: unknown) => {
      subscription.end({ error });
    });
    return subscription;
  }

  /** Ends all subscriptions; resolves when their sockets are closed. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const subscription of [...this.#subscriptions.keys()]) subscription.end();
    await this.#departures.over();
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof NfpSubscriberEvents>(
    event: Name,
    listener: (payload: NfpSubscriberEvents[Name]) => void,
  ): () => void {
    return this.#events.on(event, listener);
  }

  /** Totals since construction, as a copy. */
  stats(): NfpSubscriberStats {
    return { ...this.#totals };
  }

  /** Opens the socket of a subscription, unless it is over by then. */
  async #hear(
    subscription: NfpSubscription,
    wanted: { readonly service: string | undefined; readonly uuid: string | undefined },
  ): Promise<void> {
    const { transport: given, endpoints, maxMessageBytes, curve } = this.#settings;
    const transport = await loadTransport(given);
    if (subscription.over) return;
    const port = transport.subscriber({ maxMessageFrames: MESSAGE_FRAMES, maxMessageBytes, ...clientCurve(curve) });
    this.#subscriptions.set(subscription, port);
    port.subscribe(prefixOf(wanted));
    for (const endpoint of endpoints) port.connect(endpoint);
    port.start({
      onMessage: (frames) => {
        const publication = read(frames);
        if (publication === undefined) this.#totals.unreadable++;
        // A prefix fits names that are longer, too.
        else if (isWanted(publication, wanted)) {
          this.#totals.received++;
          subscription.deliver(publication, totalBytes(frames));
        }
      },
      onRejected: () => {
        this.#totals.unreadable++;
      },
      onRefused: (refusal) => {
        this.#events.emit('refused', refusal);
      },
      onBroken: (cause) => {
        const text = `NfpSubscriber at ${endpoints.join(', ')}: the socket failed; subscribe again`;
        subscription.end({ error: new ProjError('PEER_LOST', text, { cause }) });
      },
    });
  }

  #leave(subscription: NfpSubscription): void {
    const port = this.#subscriptions.get(subscription);
    this.#subscriptions.delete(subscription);
    if (port !== undefined) this.#departures.add(port, 0);
  }
}

/** Topics are `service/uuid`. */
function prefixOf({
  service,
  uuid = '',
}: {
  readonly service?: string | undefined;
  readonly uuid?: string | undefined;
}) {
  return Buffer.from(service === undefined ? '' : `${service}/${uuid}`);
}

function isWanted(
  publication: NfpPublication,
  { service, uuid }: { readonly service: string | undefined; readonly uuid: string | undefined },
): boolean {
  return (
    (service === undefined || publication.service === service) && (uuid === undefined || publication.uuid === uuid)
  );
}

function read(frames: readonly Uint8Array[]): NfpPublication | undefined {
  const event = decodeNfpPublishedEvent(frames);
  if (event === undefined) return undefined;
  const { service, uuid, worker, body } = event;
  return { ...eventOf(body, readJson(body)), service, uuid, worker: nfpNameOf(worker) };
}
