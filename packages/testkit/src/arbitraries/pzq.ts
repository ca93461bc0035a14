/** PZQ commands. Repeats the shapes of `@proj/frames/pzq`, because testkit depends on no package. */
import fc from 'fast-check';
import { body } from './frames.js';

const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const nonEmpty = fc.uint8Array({ minLength: 1, maxLength: 8 });
const micros = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1_700_000_000_000_000, max: 1_900_000_000_000_000 }) },
  { weight: 1, arbitrary: fc.maxSafeNat() },
);
const line = fc.string({ unit: 'grapheme-ascii', maxLength: 40 });

/** The content of our own keys. */
export const pzqKey = fc.record({
  storedMicros: micros,
  epoch: fc.bigInt({ min: 0n, max: (1n << 60n) - 1n }),
  seq: fc.oneof(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
});

/** What a receive socket gets. */
export const pzqProduce = fc.record({
  kind: kind('produce'),
  id: fc.uint8Array({ maxLength: 16 }),
  headers: fc.array(nonEmpty, { maxLength: 3 }),
  body: body(),
});

/** What a producer gets. */
export const pzqProducerAck = fc.oneof(
  fc.record({
    kind: kind('producer-ack'),
    id: fc.uint8Array({ maxLength: 16 }),
    stored: fc.constant(true),
    reason: fc.constant(''),
  }),
  fc.record({
    kind: kind('producer-ack'),
    id: fc.uint8Array({ maxLength: 16 }),
    stored: fc.constant(false),
    reason: line,
  }),
);

/** What a consumer gets. */
export const pzqDelivery = fc.record({
  kind: kind('delivery'),
  key: nonEmpty,
  sentMicros: micros,
  ackTimeoutMicros: micros,
  body: body(),
});

/** What a send socket gets. */
export const pzqFromConsumer = fc.oneof(
  fc.record({ kind: kind('consumer-ack'), key: nonEmpty, positive: fc.boolean() }),
  fc.record({ kind: kind('lease-extension'), key: nonEmpty }),
);

/** What a monitor socket gets. */
export const pzqMonitorRequest = fc.record({ kind: kind('monitor-request') });

/** What a monitor socket answers. */
export const pzqMonitorReply = fc.record({
  kind: kind('monitor-reply'),
  text: line.map((text) => `messages: 0\n${text}`),
});

/** Every command. */
export const pzqCommand = fc.oneof(
  pzqProduce,
  pzqProducerAck,
  pzqDelivery,
  pzqFromConsumer,
  pzqMonitorRequest,
  pzqMonitorReply,
);
