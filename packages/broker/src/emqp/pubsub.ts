/** EventMQ pub-sub device, the facade: a ROUTER in, a PUB or XPUB out. Rules 31 and 32 of docs/protocols/emqp.md. */
import { latin1 } from '@proj/frames';
import { decodeEmqpAtPubSub, encodeEmqp } from '@proj/frames/emqp';
import { Emitter, parseOptions, ProjError } from '@proj/transport';
import type {
  AccessRules,
  EngineHost,
  EventListener,
  Guarded,
  HostEvents,
  RefusalCounts,
  Startable,
} from '@proj/transport';
import { compileAccess, hostOf } from '../host.js';
import { CONNECTIONS } from '../shared/connections.js';
import { EmqpPubSubEngine } from './engine/pubsub-engine.js';
import type { EmqpPubSubEffect, EmqpPubSubEvent, EmqpPubSubNote, EmqpPubSubStats } from './engine/pubsub-engine.js';
import { emqpPubSubOptions } from './options.js';
import type { EmqpPubSubOptions } from './options.js';

/** Events of an {@link EmqpPubSub}. */
export interface EmqpPubSubEvents extends HostEvents {
  /** A note for the log; at most once a minute for the same peer. */
  note: EmqpPubSubNote;
  /** With option `xpub`: topics with this prefix have a first subscriber. */
  subscribed: { readonly prefix: Uint8Array };
  /** With option `xpub`: topics with this prefix have lost their last subscriber. */
  unsubscribed: { readonly prefix: Uint8Array };
}

/** The bound endpoints of an {@link EmqpPubSub}, with port `*` filled in. */
export interface EmqpPubSubEndpoints {
  /** For publishers. */
  readonly publish: string[];
  /** For subscribers. */
  readonly subscribe: string[];
}

/**
 * Forwards publishers' messages to the subscribers of a prefix of their topic, like EventMQ's emq-pubsub. Keeps nothing: a subscriber that is
 * away, or reads too slowly, misses messages.
 *
 * ```ts
 * await using device = new EmqpPubSub({ publish: 'tcp://127.0.0.1:47298', subscribe: 'tcp://127.0.0.1:47299' });
 * await device.start();
 * ```
 */
export class EmqpPubSub implements Startable<EmqpPubSubEvents, EmqpPubSubEndpoints>, Guarded {
  readonly #engine = new EmqpPubSubEngine();
  readonly #host: EngineHost<EmqpPubSubEvent, EmqpPubSubEffect>;
  readonly #events = new Emitter<EmqpPubSubEvents>();
  #starting: Promise<EmqpPubSubEndpoints> | undefined;

  /** Validates the options. Throws `OPTIONS_INVALID`. */
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

  start(): Promise<EmqpPubSubEndpoints> {
    return (this.#starting ??= this.#host.start().then(([publish = [], subscribe = []]) => ({ publish, subscribe })));
  }

  /**
   * Publishes from inside this process, without a socket. The bytes are not copied and must not change. No effect while not running. Throws
   * `PROTOCOL_LOCAL` for an empty topic.
   */
  publish(topic: Uint8Array, body: Uint8Array): void {
    if (topic.length === 0) throw new ProjError('PROTOCOL_LOCAL', 'publish: the topic is empty; name one');
    this.#host.dispatch({ kind: 'handed-over', command: { topic, body } });
  }

  /** Messages already accepted reach subscribers within `lingerMs`. */
  drain(): Promise<void> {
    return this.#host.drain();
  }

  close(): Promise<void> {
    return this.#host.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof EmqpPubSubEvents>(event: Name, listener: EventListener<EmqpPubSubEvents, Name>): () => void {
    return this.#events.on(event, listener);
  }

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
