/** `@proj/client/pzq`: producer and consumer of PZQ queues, with their events, counters and engines. */
export type { BodyInput } from '@proj/transport';
export { PzqConsumer } from './consumer.js';
export type { PzqConsumerEvents, PzqHandler } from './consumer.js';
export type * from './engine/consumer-events.js';
export { PzqConsumerSession } from './engine/consumer-session.js';
export type * from './engine/producer-events.js';
export { PzqProducerSession } from './engine/producer-session.js';
export type { PzqMessage } from './message.js';
export type {
  PzqConsumerOptions,
  PzqProducerOptions,
  PzqReceiveOptions,
  PzqRunOptions,
  PzqSendOptions,
} from './options.js';
export { PzqProducer } from './producer.js';
export type { PzqProducerEvents } from './producer.js';
