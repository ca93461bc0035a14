/** What the PZQ engine must be told: the validated options of a server, as far as they are its business. Defaults are in `options.ts`. */

/** Times in milliseconds, sizes in bytes of bodies; 0 switches off where it says so. */
export interface PzqSettings {
  /** How long a delivery may stay unanswered; also what consumers are told. */
  readonly ackTimeoutMs: number;
  /** Most messages in the queue, in flight and delayed ones included; 0 for no bound. Rule 18. */
  readonly maxMessages: number;
  /** Most bytes in the queue; 0 for no bound. */
  readonly maxBytes: number;
  /** Largest body. */
  readonly maxMessageBytes: number;
  /** Most frames of a body. */
  readonly maxParts: number;
  /** Most messages delivered and not yet answered, over all consumers; at least 1. Rule 16. */
  readonly maxInFlight: number;
  /** Most bytes of them; a single message may be larger. */
  readonly maxInFlightBytes: number;
  /** Largest group commit, in messages; what is removed with it is bounded by the same number. Rule 7. */
  readonly batchMax: number;
  /** Largest group commit, in bytes; a single message may be larger. */
  readonly batchMaxBytes: number;
  /** Most messages that wait for a commit; beyond it `Queue is full (messages)`. */
  readonly intakeMax: number;
  /** Most bytes that wait for a commit; beyond it `Queue is full (bytes)`. At least `maxMessageBytes`. */
  readonly intakeMaxBytes: number;
  /** Most acknowledgements that one producer may leave unread; beyond it its messages are dropped. Rule 4. */
  readonly producerAckMax: number;
  /** Most bytes of the ids in them. */
  readonly producerAckMaxBytes: number;
  /** Most messages that are held in memory before their turn; the rest waits in the store. */
  readonly windowMax: number;
  /** Most bytes of them; a single message may be larger. */
  readonly windowMaxBytes: number;
  /** How often a store that failed is tried again. Rule 9. */
  readonly probeIntervalMs: number;
  /** How long a drain may take. Rule 19. */
  readonly drainMs: number;
  /** An id seen within this time is acknowledged without a second copy; 0 for never. Rule 6. */
  readonly dedupeWindowMs: number;
  /** A message that would be delivered more often goes to the dead letters; 0 for never. */
  readonly maxDeliveries: number;
  /** Most dead letters; beyond it nothing is given up for its deliveries, and what expires is removed. */
  readonly deadLettersMax: number;
  /** What expires is kept among the dead letters instead of being removed. */
  readonly deadLetterExpired: boolean;
  /** Dead letters are delivered at an endpoint of their own. */
  readonly deadLetterSend: boolean;
  /** Pause between storing and the first delivery; 0 for none. */
  readonly delayMs: number;
  /** Pause after a negative acknowledgement; 0 for none. Such messages count as in flight. */
  readonly nackDelayMs: number;
  /** That pause doubles with each delivery up to this; at least `nackDelayMs`. */
  readonly nackDelayMaxMs: number;
  /** Not delivered once it is this old; 0 for always. */
  readonly ttlMs: number;
  /** A key without status starts the lease anew. */
  readonly extendLease: boolean;
  /** Producers' header frames `PZQ-DELAY-MS:` and `PZQ-TTL-MS:` are read. */
  readonly headers: boolean;
  /** Most messages taken from a shared store at a time. Rule 30. */
  readonly takeMax: number;
  /** What the monitor says the server is. */
  readonly version: string;
}
