/** EventMQ in proj-broker, in the role of EventMQ's emq-router. */
import {
  bytes,
  endpointFromSchema,
  fromSchema,
  logOfPeer,
  milliseconds,
  onOff,
  text,
  WatchedRecords,
  wholeNumber,
  wordFromSchema,
} from '@proj/appkit';
import { EmqpBroker, EmqpPubSub, emqpBrokerOptions, emqpPubSubOptions } from '@proj/broker/emqp';
import type { EmqpBrokerOptions } from '@proj/broker/emqp';
import { lmdbRecords, postgresRecords } from '@proj/store';
import { ProjError } from '@proj/transport';
import * as z from 'zod';
import { ownSettings } from '../protocol.js';
import type { Protocol, SharedSettings } from '../protocol.js';
import { logEvents } from './log-events.js';
import { shownOf } from './shown.js';

/** The limits and defaults of the broker and the pub-sub device. */
const { shape } = emqpBrokerOptions;
const { shape: pubSubShape } = emqpPubSubOptions;

/** The defaults of `EmqpBroker`, used if only one of `heartbeat-ms` and `liveness` is set. */
const HEARTBEAT_MS = shape.heartbeatIntervalMs.def.defaultValue;
const LIVENESS = shape.expiryMs.def.defaultValue / HEARTBEAT_MS;

/** A log line shows only this much of a prefix, which may have 64 KiB. */
const PREFIX_SHOWN_BYTES = 255;

const options = z.strictObject({
  emqpFrontend: endpointFromSchema(shape.frontend).describe('ROUTER for EventMQ clients and schedulers'),
  emqpBackend: endpointFromSchema(shape.backend).describe('ROUTER for EventMQ job managers'),
  emqpAdmin: endpointFromSchema(shape.admin).describe(
    'ROUTER for EventMQ consoles; anyone who reaches it can stop this program',
  ),
  emqpPublish: endpointFromSchema(pubSubShape.publish).describe('ROUTER of the pub-sub device, for EventMQ publishers'),
  emqpSubscribe: endpointFromSchema(pubSubShape.subscribe).describe('PUB of the pub-sub device, for subscribers'),
  emqpXpub: fromSchema(pubSubShape.xpub, onOff).describe(
    'log and count subscriptions: the device then uses an XPUB, which looks the same to subscribers',
  ),
  emqpSubscriberQueueMax: fromSchema(pubSubShape.subscriberQueueMax, wholeNumber).describe(
    'pub-sub messages that may wait for one subscriber; it misses any beyond that',
  ),
  emqpUnknownQueue: wordFromSchema(shape.unknownQueue).describe(
    'requests for a queue without workers: move them to queue default at once, or after --request-ttl-ms',
  ),
  emqpQueueMax: fromSchema(shape.queueMax, wholeNumber).describe('requests that may wait in a named queue'),
  emqpDefaultQueueMax: fromSchema(shape.defaultQueueMax, wholeNumber).describe(
    'requests that may wait in queue default',
  ),
  emqpQueueMaxBytes: fromSchema(shape.queueMaxBytes, bytes).describe('memory for requests that wait or are guaranteed'),
  emqpGuaranteeAttempts: fromSchema(shape.guaranteeAttempts, wholeNumber).describe(
    'workers that one guaranteed job may lose before it is given up',
  ),
  emqpResultRouteTtlMs: fromSchema(shape.resultRouteTtlMs, milliseconds).describe(
    'how long a job may take for its result still to reach the client',
  ),
  emqpStore: text('STORE', 'lmdb:FOLDER, postgres://... or memory:')
    .default('memory:')
    .describe(
      'store for guaranteed jobs: lmdb:FOLDER on a local disk, or postgres://..., a database of its own; a job is accepted once it is flushed there. With memory: they are lost when this program ends',
    ),
  emqpAcceptance: wordFromSchema(shape.acceptance).describe(
    "how a client learns that its request is accepted: by EventMQ's REPLY, by ACK, or by both",
  ),
  emqpByes: wordFromSchema(shape.byes).describe(
    'how to say goodbye: the word of the specification, that of the product, or both',
  ),
  emqpAllowClientDisconnect: fromSchema(shape.allowClientDisconnect, onOff).describe(
    'let any client stop this program, as EventMQ does',
  ),
  emqpMaxMessageBytes: fromSchema(shape.maxMessageBytes, bytes).describe('largest message'),
});

type Settings = SharedSettings & z.output<typeof options>;

/** The protocol `emqp` of `--only`. */
export const emqp: Protocol<typeof options> = {
  title: 'EventMQ',
  options,
  usual: { heartbeatMs: HEARTBEAT_MS, liveness: LIVENESS },
  async serve(settings, { transport, log, access, onBroken, onEnded }) {
    const store = storeOf(settings.emqpStore);
    const options = { ...brokerOptions(settings), store };
    const { maxMessageBytes } = options;
    const { emqpPublish, emqpSubscribe } = settings;
    const pubSub = new EmqpPubSub({
      publish: emqpPublish,
      subscribe: emqpSubscribe,
      xpub: settings.emqpXpub,
      subscriberQueueMax: settings.emqpSubscriberQueueMax,
      maxMessageBytes,
      access,
      transport,
    });
    const broker = new EmqpBroker({ ...options, pubSub, access, transport });
    pubSub.on('broken', onBroken);
    logEvents(pubSub, [], log);
    for (const event of ['subscribed', 'unsubscribed'] as const)
      pubSub.on(event, ({ prefix }) => {
        logOfPeer(
          log,
          'info',
          { prefix: Buffer.from(prefix).toString('utf8', 0, PREFIX_SHOWN_BYTES) },
          event,
          undefined,
        );
      });
    broker.on('broken', onBroken);
    broker.on('drained', onEnded);
    logEvents(broker, ['peer-joined', 'peer-left'], log);
    const { publish, subscribe } = await pubSub.start();
    const { frontend, backend, admin } = await broker.start().catch(async (error: unknown) => {
      await pubSub.close();
      throw error;
    });
    return {
      endpoints: {
        emqpFrontend: frontend[0] ?? settings.emqpFrontend,
        emqpBackend: backend[0] ?? settings.emqpBackend,
        emqpAdmin: admin[0] ?? settings.emqpAdmin,
        emqpPublish: publish[0] ?? emqpPublish,
        emqpSubscribe: subscribe[0] ?? emqpSubscribe,
      },
      shown: {
        ...shownOf(broker, {
          drainService: (name) => broker.drainQueue(name),
          pause: (name) => broker.pauseQueue(name),
          resume: (name) => broker.resumeQueue(name),
          purge: (name) => broker.purgeQueue(name),
        }),
        fault: () => store?.fault,
      },
      stats: () => {
        const { queues, ...stats } = broker.stats();
        return { ...stats, queues: queues.length, pubSub: pubSub.stats() };
      },
      setAccess: (rules) => {
        broker.setAccess(rules);
        pubSub.setAccess(rules);
      },
      async drain() {
        // The device closes last: until then the broker may still publish through it.
        await broker.drain();
        await pubSub.drain();
      },
    };
  },
};

function brokerOptions(settings: Settings): Omit<EmqpBrokerOptions, 'store'> {
  const { heartbeatMs = HEARTBEAT_MS, liveness = LIVENESS } = settings;
  const { requestTtlMs, drainMs, registrationsPerSecondMax } = settings;
  const { publish: _publish, subscribe: _subscribe, xpub: _xpub, ...others } = ownSettings(settings, 'emqp');
  const { subscriberQueueMax: _subscriberQueueMax, store: _store, ...own } = others;
  return {
    ...own,
    ...{ requestTtlMs, drainMs, registrationsPerSecondMax },
    heartbeatIntervalMs: heartbeatMs,
    expiryMs: heartbeatMs * liveness,
  };
}

/** Without a store, jobs are only in the broker's memory. */
function storeOf(address: string): WatchedRecords | undefined {
  if (address === 'memory:') return undefined;
  const folder = /^lmdb:(.+)$/.exec(address)?.[1];
  if (folder !== undefined) return new WatchedRecords(lmdbRecords({ folder }));
  if (/^postgres(ql)?:\/\//.test(address)) return new WatchedRecords(postgresRecords({ url: address }));
  throw new ProjError('OPTIONS_INVALID', `--emqp-store "${address}": must be lmdb:FOLDER, postgres://... or memory:`);
}
