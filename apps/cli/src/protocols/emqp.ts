/** EventMQ in `proj decode`: one reader per receiver. */
import {
  decodeEmqpAtAdmin,
  decodeEmqpAtAdminPort,
  decodeEmqpAtBroker,
  decodeEmqpAtClient,
  decodeEmqpAtPubSub,
  decodeEmqpAtScheduler,
  decodeEmqpAtWorker,
} from '@proj/frames/emqp';

/** What can be received, and by whom. What subscribers get is no message of the protocol: two frames of anything. */
export const EMQP_READERS = [
  { protocol: 'emqp', receiver: 'broker', decode: decodeEmqpAtBroker },
  { protocol: 'emqp', receiver: 'worker', decode: decodeEmqpAtWorker },
  { protocol: 'emqp', receiver: 'scheduler', decode: decodeEmqpAtScheduler },
  { protocol: 'emqp', receiver: 'client', decode: decodeEmqpAtClient },
  { protocol: 'emqp', receiver: 'broker from an admin', decode: decodeEmqpAtAdminPort },
  { protocol: 'emqp', receiver: 'admin', decode: decodeEmqpAtAdmin },
  { protocol: 'emqp', receiver: 'pub-sub device', decode: decodeEmqpAtPubSub },
] as const;
