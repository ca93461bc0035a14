/** EventMQ in proj-broker: what emq-router is in EventMQ. */
import {
  bytes,
  endpointFromSchema,
  fromSchema,
  logOfPeer,
  milliseconds,
  onOff,
  text,
  wholeNumber,
  wordFromSchema,
} from '@proj/appkit';
import { EmqpBroker, EmqpPubSub, emqpBrokerOptions, emqpPubSubOptions } from '@proj/broker/emqp';
import type { EmqpBrokerOptions } from '@proj/broker/emqp';
import { lmdbRecords, postgresRecords } from '@proj/store';
import { ProjError } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import * as z from 'zod';
import type { Protocol, SharedSettings } from '../protocol.js';
import { logEvents } from './log-events.js';
import { shownOf } from './shown.js';

/** What broker and device themselves allow and take by default. */
const { shape } = emqpBrokerOptions;
const { shape: pubSubShape } = emqpPubSubOptions;

/** Those of `EmqpBroker`, from which a setting of `heartbeat-ms` or `liveness` alone departs. */
const HEARTBEAT_MS = shape.heartbeatIntervalMs.def.defaultValue;
const LIVENESS = shape.expiryMs.def.defaultValue / HEARTBEAT_MS;

/** A log line shows no more of a prefix; it may have 64 KiB. */
const PREFIX_SHOWN_BYTES = 255;

const options = z.strictObject({
  emqpFrontend: endpointFromSchema(shape.frontend).describe('ROUTER for clients and schedulers of EventMQ'),
  emqpBackend: endpointFromSchema(shape.backend).describe('ROUTER for its job managers'),
  emqpAdmin: endpointFromSchema(shape.admin).describe(
    'ROUTER for its consoles: whoever reaches it may stop this program',
  ),
  emqpPublish: endpointFromSchema(pubSubShape.publish).describe(
    'ROUTER of the pub-sub device for publishers of EventMQ',
  ),
  emqpSubscribe: endpointFromSchema(pubSubShape.subscribe).describe('its PUB for subscribers'),
  emqpXpub: fromSchema(pubSubShape.xpub, onOff).describe(
    'log and count what subscribers listen to: the device has an XPUB for them, which looks the same to them',
  ),
  emqpSubscriberQueueMax: fromSchema(pubSubShape.subscriberQueueMax, wholeNumber).describe(
    'messages of the device that may wait for one subscriber; it misses what comes beyond',
  ),
  emqpUnknownQueue: wordFromSchema(shape.unknownQueue).describe(
    'requests for a queue that nobody serves: into queue default at once, or after --request-ttl-ms',
  ),
  emqpQueueMax: fromSchema(shape.queueMax, wholeNumber).describe('requests that may wait in a named queue'),
  emqpDefaultQueueMax: fromSchema(shape.defaultQueueMax, wholeNumber).describe(
    'requests that may wait in queue default',
  ),
  emqpQueueMaxBytes: fromSchema(shape.queueMaxBytes, bytes).describe(
    'what requests that wait or are guaranteed may occupy',
  ),
  emqpGuaranteeAttempts: fromSchema(shape.guaranteeAttempts, wholeNumber).describe(
    'workers that may be lost over one guaranteed job before it is given up',
  ),
  emqpResultRouteTtlMs: fromSchema(shape.resultRouteTtlMs, milliseconds).describe(
    'how long a job may take for its result to find its way to the client',
  ),
  emqpStore: text('STORE', 'lmdb:FOLDER, postgres://... or memory:')
    .default('memory:')
    .describe(
      'guaranteed jobs end with this program unless this is lmdb:FOLDER, on a disk of this machine, or postgres://..., a database of its own: then one is accepted when it is flushed there',
    ),
  emqpAcceptance: wordFromSchema(shape.acceptance).describe(
    'what tells a client that its request is taken: the REPLY of EventMQ, ACK, or both',
  ),
  emqpByes: wordFromSchema(shape.byes).describe('farewell: the word of the text, that of the product, or both'),
  emqpAllowClientDisconnect: fromSchema(shape.allowClientDisconnect, onOff).describe(
    'let any client stop this program, as EventMQ does',
  ),
  emqpMaxMessageBytes: fromSchema(shape.maxMessageBytes, bytes).describe('largest message'),
});

type Settings = SharedSettings & z.output<typeof options>;

/** `emqp` of `--only`. */
export const emqp: Protocol<typeof options> = {
  options,
  async serve(settings, { transport, log, access, onBroken, onEnded }) {
    const options = brokerOptions(settings);
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
      shown: shownOf(broker, {
        drainService: (name) => broker.drainQueue(name),
        pause: (name) => broker.pauseQueue(name),
        resume: (name) => broker.resumeQueue(name),
        purge: (name) => broker.purgeQueue(name),
      }),
      stats: () => {
        const { queues, ...stats } = broker.stats();
        return { ...stats, queues: queues.length, pubSub: pubSub.stats() };
      },
      setAccess: (rules) => {
        broker.setAccess(rules);
        pubSub.setAccess(rules);
      },
      async drain() {
        // The device last: until then the broker may have something for it.
        await broker.drain();
        await pubSub.drain();
      },
    };
  },
};

function brokerOptions(settings: Settings): EmqpBrokerOptions {
  const { heartbeatMs = HEARTBEAT_MS, liveness = LIVENESS } = settings;
  return {
    frontend: settings.emqpFrontend,
    backend: settings.emqpBackend,
    admin: settings.emqpAdmin,
    heartbeatIntervalMs: heartbeatMs,
    expiryMs: heartbeatMs * liveness,
    requestTtlMs: settings.requestTtlMs,
    drainMs: settings.drainMs,
    registrationsPerSecondMax: settings.registrationsPerSecondMax,
    unknownQueue: settings.emqpUnknownQueue,
    queueMax: settings.emqpQueueMax,
    defaultQueueMax: settings.emqpDefaultQueueMax,
    queueMaxBytes: settings.emqpQueueMaxBytes,
    guaranteeAttempts: settings.emqpGuaranteeAttempts,
    resultRouteTtlMs: settings.emqpResultRouteTtlMs,
    store: storeOf(settings.emqpStore),
    acceptance: settings.emqpAcceptance,
    byes: settings.emqpByes,
    allowClientDisconnect: settings.emqpAllowClientDisconnect,
    maxMessageBytes: settings.emqpMaxMessageBytes,
  };
}

/** Without a store, jobs are where the broker has them: in memory. */
function storeOf(address: string): RecordStore | undefined {
  if (address === 'memory:') return undefined;
  const folder = /^lmdb:(.+)$/.exec(address)?.[1];
  if (folder !== undefined) return lmdbRecords({ folder });
  if (/^postgres(ql)?:\/\//.test(address)) return postgresRecords({ url: address });
  throw new ProjError('OPTIONS_INVALID', `--emqp-store "${address}": must be lmdb:FOLDER, postgres://... or memory:`);
}
