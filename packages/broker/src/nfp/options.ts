/** Options of the NFP broker: docs/protocols/nfp.md, section "Defaults". */
import * as z from 'zod';
import { access, count, curve, endpoints, milliseconds, registrationFields, socketFields } from '../options.js';
import type { NfpInventory } from './engine/management/inventory.js';

/** Schema of {@link NfpBrokerOptions}. All fields are optional; unknown ones are rejected. */
export const nfpBrokerOptions = z.strictObject({
  ...socketFields,
  ...registrationFields,
  /** Where to bind the ROUTER: one endpoint or several. Port `*` allowed. Default `tcp://127.0.0.1:5555`. */
  endpoint: endpoints.default('tcp://127.0.0.1:5555'),
  /** Milliseconds between KEEPALIVEs to a worker, unless its OPEN asks otherwise. 100 to 600000, default 2500 (NORFAB). */
  keepaliveIntervalMs: z.int().min(100).max(600_000).default(2500),
  /** Intervals of silence after which a worker is dead, unless its OPEN asks otherwise. 2 to 20, default 6 (NORFAB; specification: 3 to 5). */
  keepaliveMultiplier: z.int().min(2).max(20).default(6),
  /** Header of the broker's messages: `current` for NORFAB 0.15.0 and later, `legacy` for clients up to 0.14.0. Default `current`. */
  dialect: z.enum(['current', 'legacy']).default('current'),
  /**
   * Whether a POST waits for an absent service, or for an absent worker that it names. `known`: if it was registered within the last ten
   * minutes, or this broker has just started (`settleMs`); POSTs in one-byte form wait for any name. true: for any name. false: never, like
   * NORFAB. Default `known`.
   */
  queueForService: z.union([z.boolean(), z.literal('known')]).default('known'),
  /** Milliseconds a POST waits for an absent service or worker. Up to a day, default 30000. */
  requestTtlMs: milliseconds(1).default(30_000),
  /** How long after the start a POST for `all` waits for workers to return, in milliseconds. Up to a day, default two keepalive intervals. */
  settleMs: milliseconds(0).optional(),
  /**
   * How long jobs wait for a lost worker, in milliseconds. Then jobs for `any` go to another, and clients get 408 for the rest. Up to a day,
   * default 10000.
   */
  returnMs: milliseconds(0).default(10_000),
  /** How often a job for `any` may go to another worker because its worker was lost. Up to 1000, default 3. */
  maxAttempts: z.int().min(0).max(1000).default(3),
  /** POSTs that may wait, for all services and workers together; at most three quarters of them from one client. Default 10000. */
  requestQueueMax: count(10_000_000).default(10_000),
  /** Bytes of all kept bodies: of POSTs that wait or may have to be sent again; at most three quarters of them from one client. Default 64 MiB. */
  requestQueueMaxBytes: count(Number.MAX_SAFE_INTEGER).default(67_108_864),
  /** Give a job for `any` to another worker if its worker is lost and does not return. Default true: workers must be idempotent. */
  redispatchAny: z.boolean().default(true),
  /**
   * Jobs remembered, so that clients learn what happens to them. The least recently used are dropped first; a client with three quarters of all
   * loses its own. Default 100000.
   */
  jobsMax: count(10_000_000).default(100_000),
  /**
   * Service names with workers, and as many again that only POSTs wait for. A client that was the first to ask for a tenth of what is left of
   * the latter, at least 16, may not wait for further names meanwhile. All sockets with one CURVE key, or on one connection, count as one
   * client. Default 10000.
   */
  servicesMax: count(1_000_000).default(10_000),
  /**
   * Clients remembered, for their command form and `show_clients`. The least recently seen are dropped first, at the latest after an hour.
   * Default 10000.
   */
  clientsMax: count(1_000_000).default(10_000),
  /** Where to bind a PUB socket that publishes every EVENT of a worker. One endpoint or several; default none. */
  publish: endpoints.optional(),
  /** Events that may wait for one subscriber; it misses further ones. Up to 10000000, default 1000. */
  subscriberQueueMax: count(10_000_000).default(1000),
  /** Obey `restart`, `shutdown` and `disconnect` at `mmi.service.broker` from any client. Default false. */
  managementCommands: z.boolean().default(false),
  /**
   * Where to bind a second ROUTER that serves only `mmi.service.broker` and obeys every peer that reaches it. One endpoint or several; default
   * none.
   */
  managementEndpoint: endpoints.optional(),
  /** Folder that `fss.service.broker` serves to every peer; nothing outside it. Default none: no such service. */
  files: z.string().min(1).optional(),
  /** Open file requests; further ones are answered with 500. Default 256. */
  fileRequestsMax: count(100_000).default(256),
  /** Loaded inventory for `sid.service.broker`; `setInventory` replaces it. Default none: no such service. */
  inventory: z.custom<NfpInventory>(isInventory, 'must be an NfpInventory').optional(),
  /** Frames of one message. 8 to 1000000, default 64. */
  maxMessageFrames: z.int().min(8).max(1_000_000).default(64),
  /** Bytes of one message. Default 128 MiB. */
  maxMessageBytes: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(134_217_728),
  /** CURVE for `managementEndpoint`, for example with a shorter list of keys. Default: `curve`. */
  managementCurve: curve.optional(),
  /** Who may call and who may serve which service: rule 23. Not for `managementEndpoint`. Rules for single keys need `curve` and `zmtpTransport()`. Default: no restrictions. */
  access: access.optional(),
});

/** Options of `NfpBroker`; see {@link nfpBrokerOptions}. */
export type NfpBrokerOptions = z.input<typeof nfpBrokerOptions>;

/** Validated options with all defaults. */
export type NfpBrokerSettings = z.output<typeof nfpBrokerOptions>;

function isInventory(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<NfpInventory>).workers);
}
