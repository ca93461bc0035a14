/** EventMQ pub-sub device, the facade: a ROUTER in, a PUB or XPUB out. Rules 31 and 32 of docs/protocols/emqp.md. */
import { latin1 } from '@proj/frames';
import { decodeEmqpAtPubSub, encodeEmqp } from '@proj/frames/emqp';
import { Emitter, parseOptions, ProjError } from '@proj/transport';
import type { AccessRules, EngineHost, HandshakeRefusal, RefusalCounts } from '@proj/transport';
import { compileAccess, hostOf } from '../host.js';
import { CONNECTIONS } from '../shared/connections.js';
import { EmqpPubSubEngine } from './engine/pubsub-engine.js';
import type { EmqpPubSubEffect, EmqpPubSubEvent, EmqpPubSubNote, EmqpPubSubStats } from './engine/pubsub-engine.js';
import { emqpPubSubOptions } from './options.js';
import type { EmqpPubSubOptions } from './options.js';

/** Events of an {@link EmqpPubSub}. */
export interface EmqpPubSubEvents {
  /** Something worth a log line; the same about the same peer at most once a minute. */
  note: EmqpPubSubNote;
  /** With option `xpub`: somebody listens to topics that begin so. Once for the first subscriber of each prefix. */
  subscribed: { readonly prefix: Uint8Array };
  /** With option `xpub`: the last subscriber of this prefix has gone. */
  unsubscribed: { readonly prefix: Uint8Array };
  /** A peer was not let in, or did not get through the handshake; the same key or address at most once a minute. */
  refused: HandshakeRefusal;
  /** A socket failed for good. Close this device and start another. */
  broken: Error;
}

/** Where an {@link EmqpPubSub} is bound, wildcard ports filled in. */
export interface EmqpPubSubEndpoints {
  /** For publishers. */
  readonly publish: string[];
  /** For subscribers. */
  readonly subscribe: string[];
}

/**
 * Hands what publishers send to whoever subscribed to a prefix of its topic, as EventMQ's emq-pubsub does. Nothing is kept:
 * who is not there, or reads too slowly, misses it.
 *
 * ```ts
 * await using device = new EmqpPubSub({ publish: 'tcp://127.0.0.1:47298', subscribe: 'tcp://127.0.0.1:47299' });
 * await device.start();
 * ```
 */
export class EmqpPubSub {
  readonly #engine = new EmqpPubSubEngine();
  readonly #host: EngineHost<EmqpPubSubEvent, EmqpPubSubEffect>;
  readonly #events = new Emitter<EmqpPubSubEvents>();
  #starting: Promise<EmqpPubSubEndpoints> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: EmqpPubSubOptions = {}) {
    const settings = parseOptions('EmqpPubSub', emqpPubSubOptions, options);
    const { publish, subscribe, subscriberQueueMax, maxMessageFrames, maxMessageBytes, lingerMs, xpub } = settings;
    this.#host = hostOf<EmqpPubSubEvent, EmqpPubSubEffect>(settings, this.#events, {
      name: 'EmqpPubSub',
      engine: this.#engine,
      sockets: [
        {
          kind: 'router',
          bind: [publish].flat(),
          port: { maxMessageFrames, maxMessageBytes, lingerMs, ...CONNECTIONS },
          onMessage: (peer, frames) => ({ kind: 'message', peer, command: decodeEmqpAtPubSub(frames) }),
          onPeerGone: () => undefined,
          onUndeliverable: () => undefined,
          onRejected: (peer, reason) => ({ kind: 'rejected', peer, reason }),
        },
      ],
      publishers: [
        {
          bind: [subscribe].flat(),
          port: { highWaterMark: subscriberQueueMax, lingerMs, tellsSubscriptions: xpub },
          hears: 'serve',
          onSubscription: (prefix, wanted) => ({ kind: 'subscription', prefix, wanted }),
        },
      ],
      perform: this.#perform,
    });
  }

  /**
   * Binds and serves. Resolves to the bound endpoints. Rejects with `ADDRESS_IN_USE`, `OPTIONS_INVALID` (an endpoint nobody
   * can bind), `UNAVAILABLE` (no ZeroMQ on this machine) or `CLOSED`, and nothing is left bound.
   */
  start(): Promise<EmqpPubSubEndpoints> {
    return (this.#starting ??= this.#host.start().then(([publish = [], subscribe = []]) => ({ publish, subscribe })));
  }

  /**
   * Publishes without a socket: for brokers and programs in the same process. Bytes are not copied and must not change. Does
   * nothing while not running. Throws `PROTOCOL_LOCAL` for an empty topic, which publishers may not use either.
   */
  publish(topic: Uint8Array, body: Uint8Array): void {
    if (topic.length === 0) throw new ProjError('PROTOCOL_LOCAL', 'publish: the topic is empty; name one');
    this.#host.dispatch({ kind: 'handed-over', command: { topic, body } });
  }

  /** Takes nothing more, then `close`: what was taken is handed to subscribers within `lingerMs`. Idempotent. */
  drain(): Promise<void> {
    return this.#host.drain();
  }

  /** Stops at once, but for `lingerMs`. Idempotent. */
  close(): Promise<void> {
    return this.#host.close();
  }

  /** As {@link EmqpPubSub.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof EmqpPubSubEvents>(
    event: Name,
    listener: (payload: EmqpPubSubEvents[Name]) => void,
  ): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Puts other rules in force at once, also for those who have subscribed: rule 34. Throws `OPTIONS_INVALID`, and the old ones
   * stay, for what are no rules and for rules about keys on a transport that does not tell keys.
   */
  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('EmqpPubSub', rules));
  }

  /** Totals so far. */
  stats(): EmqpPubSubStats & RefusalCounts {
    return { ...this.#engine.stats(), ...this.#host.refusals };
  }

  readonly #perform = (effect: EmqpPubSubEffect): void => {
    switch (effect.kind) {
      case 'publish':
        this.#host.publish(0, encodeEmqp(effect.command), latin1(effect.command.topic));
        break;
      case 'note':
        this.#events.emit('note', effect);
        break;
      case 'subscription':
        this.#events.emit(effect.wanted ? 'subscribed' : 'unsubscribed', { prefix: effect.prefix });
        break;
      case 'drained':
        this.#host.drained();
        break;
    }
  };
}
