/** Options of the EventMQ pub-sub device: docs/protocols/emqp.md, section "Defaults". */
import * as z from 'zod';
import { count, curve, endpoints, milliseconds, transport } from '../options.js';

/** Schema of {@link EmqpPubSubOptions}. All fields are optional; unknown ones are refused. */
export const emqpPubSubOptions = z.strictObject({
  /** Where publishers connect: one endpoint or several. Port `*` allowed. Default: EventMQ's. */
  publish: endpoints.default('tcp://127.0.0.1:47298'),
  /** Where subscribers connect. Default: EventMQ's. */
  subscribe: endpoints.default('tcp://127.0.0.1:47299'),
  /** Messages that may wait for one subscriber; it misses what comes beyond. Up to 10000000, default 1000. */
  subscriberQueueMax: count(10_000_000).default(1000),
  /** Frames of one message. Default 64. */
  maxMessageFrames: z.int().min(9).max(1_000_000).default(64),
  /** Bytes of one message. Default 64 MiB. */
  maxMessageBytes: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(67_108_864),
  /** Milliseconds that closing may take to hand over what is pending. Default 1000. */
  lingerMs: milliseconds(0).default(1000),
  /** CURVE: encrypts, and lets in by key. Default: neither. */
  curve: curve.optional(),
  /** Sockets and time to run on. Default: ZeroMQ and the system clock. */
  transport: transport.optional(),
});

/** What a user passes to the device; see the fields of {@link emqpPubSubOptions}. */
export type EmqpPubSubOptions = z.input<typeof emqpPubSubOptions>;

/** Validated options with every default filled in. */
export type EmqpPubSubSettings = z.output<typeof emqpPubSubOptions>;
