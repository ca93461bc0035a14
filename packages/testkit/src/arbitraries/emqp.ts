/** eMQP commands. Repeats the shapes of `@proj/frames/emqp`, because testkit depends on no package. */
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { frame } from './frames.js';

const kind = <Kind extends string>(name: Kind) => fc.constant(name);

/** Any message id; mostly UUIDs, as peers use. */
export const emqpId = fc.oneof(
  { weight: 4, arbitrary: fc.uuid() },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.nat(0xff), { minLength: 1, maxLength: 255, size: 'max' })
      .map((codes) => String.fromCharCode(...codes)),
  },
);

/** A valid queue name. */
export const emqpQueueName = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('default', 'email', 'é', ' ', '__proto__') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }) },
);

/** Optional headers. */
export const emqpHeaders = fc.record({
  replyRequested: fc.boolean(),
  guarantee: fc.boolean(),
  retryCount: fc.nat(1000),
  timeoutSeconds: fc.nat(604_800),
  nohaste: fc.boolean(),
  runCount: fc.option(fc.integer({ min: 1, max: 2_147_483_647 }), { nil: undefined }),
});

const id = emqpId;
const bytesText = fc.string({ unit: 'binary-ascii', maxLength: 20 });
const queues = fc.array(
  fc.record({
    weight: fc.oneof(fc.integer(), fc.double({ noDefaultInfinity: true, noNaN: true })).map((weight) => weight + 0),
    name: emqpQueueName,
  }),
  { maxLength: 5 },
);
const ack = fc.record({ kind: kind('ack'), id, of: id });
const accepted = fc.record({ kind: kind('accepted'), id, of: id });
const disconnect = fc.record({ kind: kind('disconnect'), id });
const bye = fc.record({ kind: kind('bye'), id, word: fc.constantFrom('KBYE' as const, 'KBAI' as const) });
const heartbeat = fc.record({ kind: kind('heartbeat'), id, time: bytesText });

/** Client to broker, broker to worker. */
export const emqpRequest = fc.record({
  kind: kind('request'),
  id,
  queue: emqpQueueName,
  headers: frame(),
  body: frame(64),
});

/** Worker to broker, broker to client. */
export const emqpResult = fc.record({ kind: kind('result'), id, result: frame(), of: id });

/** Client to broker, broker to scheduler. */
export const emqpScheduling = fc.record({
  kind: fc.constantFrom('schedule' as const, 'unschedule' as const),
  id,
  queue: emqpQueueName,
  headers: frame(),
  interval: bytesText,
  body: frame(64),
  cron: bytesText,
});

/** Publisher to pub-sub device. */
export const emqpPublish = fc.record({
  kind: kind('publish'),
  id,
  topic: fc.uint8Array({ minLength: 1, maxLength: 8 }),
  body: frame(),
});

/** Pub-sub device to subscriber. */
export const emqpPublished = fc.record({
  kind: kind('published'),
  topic: fc.uint8Array({ minLength: 1, maxLength: 8 }),
  body: frame(),
});

/** What a broker receives on its frontend and backend. */
export const emqpToBroker = fc.oneof(
  fc.record({ kind: kind('inform-worker'), id, queues: fc.option(queues, { nil: undefined }) }),
  fc.record({ kind: kind('inform-scheduler'), id }),
  fc.record({ kind: kind('ready'), id }),
  fc.record({ kind: kind('result'), id, result: frame(), of: fc.option(id, { nil: undefined }) }),
  heartbeat,
  emqpRequest,
  emqpScheduling,
  emqpPublish,
  disconnect,
  bye,
);

/** What a broker receives on its admin port. */
export const emqpToAdminPort = fc.oneof(
  fc.record({ kind: fc.constantFrom('status', 'show-workers', 'show-schedulers', 'hello'), id }) as Arbitrary<{
    kind: 'status' | 'show-workers' | 'show-schedulers' | 'hello';
    id: string;
  }>,
  disconnect,
);

/** What a worker receives. */
export const emqpToWorker = fc.oneof(ack, heartbeat, emqpRequest, disconnect, bye);

/** What a scheduler receives. */
export const emqpToScheduler = fc.oneof(ack, heartbeat, accepted, emqpResult, emqpScheduling, disconnect, bye);

/** What a client receives. */
export const emqpToClient = fc.oneof(accepted, emqpResult, ack, disconnect, bye);

/** What an admin receives. */
export const emqpToAdmin = fc.oneof(ack, fc.record({ kind: kind('admin-reply'), id, json: fc.json() }));

/** Every command. */
export const emqpCommand = fc.oneof(
  emqpToBroker,
  emqpToAdminPort,
  emqpToWorker,
  emqpToScheduler,
  emqpToClient,
  emqpToAdmin,
  emqpPublished,
);
