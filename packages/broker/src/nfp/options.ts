/** Options of the NFP broker: docs/protocols/nfp.md, section "Defaults". */
import * as z from 'zod';
import { access, count, curve, endpoints, milliseconds, transport } from '../options.js';
import type { NfpInventory } from './engine/inventory.js';

/** Schema of {@link NfpBrokerOptions}. All fields are optional; unknown ones are refused. */
export const nfpBrokerOptions = z.strictObject({
  /** Where to bind: one endpoint, or several for the same ROUTER. Port `*` allowed. Default `tcp://127.0.0.1:5555`. */
  endpoint: endpoints.default('tcp://127.0.0.1:5555'),
  /** Milliseconds between two KEEPALIVEs to a worker that does not ask for others by OPEN. 100 to 600000, default 2500 (NORFAB). */
  keepaliveIntervalMs: z.int().min(100).max(600_000).default(2500),
  /** Intervals of silence after which a worker is dead, unless its OPEN says otherwise. 2 to 20, default 6 (NORFAB; specification: 3 to 5). */
  keepaliveMultiplier: z.int().min(2).max(20).default(6),
  /** Header of what the broker sends: `current` for NORFAB 0.15.0 and later, `legacy` for clients up to 0.14.0. Default `current`. */
  dialect: z.enum(['current', 'legacy']).default('current'),
  /**
   * Whether a POST waits for a service, or a worker it names, that is not there: `known`, when it was there within the last ten minutes or this broker has
   * just started (`settleMs`); true, whatever its name; false, never, as NORFAB. Clients in one-byte form have it as with true, but for false. Default `known`.
   */
  queueForService: z.union([z.boolean(), z.literal('known')]).default('known'),
  /** Milliseconds a POST waits for a service or a worker that is not there. Up to a day, default 30000. */
  requestTtlMs: milliseconds(1).default(30_000),
  /** Milliseconds after the start during which a POST for `all` waits for workers that are still on their way back. Up to a day; default two keepalive intervals. */
  settleMs: milliseconds(0).optional(),
  /** Milliseconds that jobs wait for a worker that was lost: then another one gets those for `any`, and clients hear 408 of all others. Up to a day, default 10000. */
  returnMs: milliseconds(0).default(10_000),
  /** Times that a job for `any` is given to another worker because its own was lost. Up to 1000, default 3. */
  maxAttempts: z.int().min(0).max(1000).default(3),
  /** POSTs that may wait, for all services and workers together; three quarters of them one client's. Default 10000. */
  requestQueueMax: count(10_000_000).default(10_000),
  /** Bytes of all bodies the broker keeps, of POSTs that wait or may have to be sent again; three quarters of them one client's. Default 64 MiB. */
  requestQueueMaxBytes: count(Number.MAX_SAFE_INTEGER).default(67_108_864),
  /** Give a job for `any` to another worker when its own is lost and does not come back. Default true: workers are idempotent. */
  redispatchAny: z.boolean().default(true),
  /** Jobs remembered, to tell their clients what becomes of their workers; the least recently used leave first, of a client with three quarters of all its own. Default 100000. */
  jobsMax: count(10_000_000).default(100_000),
  /**
   * Service names with workers at a time, and besides, as many that only POSTs wait for; a client that was the first to ask for a tenth
   * of these, 16 at least, is refused a POST that would wait for a further one meanwhile. Default 10000.
   */
  servicesMax: count(1_000_000).default(10_000),
  /** Workers that may be registered at a time. Default 100000. */
  workersMax: count(1_000_000).default(100_000),
  /** Clients remembered, for their command form and for `show_clients`; the least recently seen leave first, after an hour at the latest. Default 10000. */
  clientsMax: count(1_000_000).default(10_000),
  /** Where to bind a PUB socket that hands every EVENT of a worker to whoever subscribed. One endpoint or several; default none. */
  publish: endpoints.optional(),
  /** Events that may wait for one subscriber; it misses what comes beyond. Up to 10000000, default 1000. */
  subscriberQueueMax: count(10_000_000).default(1000),
  /** Obey `restart`, `shutdown` and `disconnect` at `mmi.service.broker`, from anybody. Default false. */
  managementCommands: z.boolean().default(false),
  /** Where to bind a second ROUTER, for `mmi.service.broker` alone: whoever reaches it is obeyed. One endpoint or several; default none. */
  managementEndpoint: endpoints.optional(),
  /** Folder whose files `fss.service.broker` serves to everybody; nothing outside of it. Default none, then there is no such service. */
  files: z.string().min(1).optional(),
  /** Requests for files that may be under way or wait; more are answered with 500. Default 256. */
  fileRequestsMax: count(100_000).default(256),
  /** What `sid.service.broker` tells workers, loaded; `setInventory` changes it later. Default none, then there is no such service. */
  inventory: z.custom<NfpInventory>(isInventory, 'must be an NfpInventory').optional(),
  /** Frames of one message. 8 to 1000000, default 64. */
  maxMessageFrames: z.int().min(8).max(1_000_000).default(64),
  /** Bytes of one message. Default 128 MiB. */
  maxMessageBytes: z.int().min(1024).max(Number.MAX_SAFE_INTEGER).default(134_217_728),
  /** Milliseconds that closing may take to hand over what is pending. Default 1000. */
  lingerMs: milliseconds(0).default(1000),
  /** CURVE: encrypts, and lets in by key. Default: neither. */
  curve: curve.optional(),
  /** The same for `managementEndpoint`, such as with a shorter list. Default: `curve`. */
  managementCurve: curve.optional(),
  /** Who may call and who may serve which service: rule 23; not at `managementEndpoint`. Rules for single keys need `curve` and `zmtpTransport()`. Default: everybody everything. */
  access: access.optional(),
  /** Sockets and time to run on. Default: ZeroMQ and the system clock. */
  transport: transport.optional(),
});

/** What a user passes to the broker; see the fields of {@link nfpBrokerOptions}. */
export type NfpBrokerOptions = z.input<typeof nfpBrokerOptions>;

/** Validated options with every default filled in. */
export type NfpBrokerSettings = z.output<typeof nfpBrokerOptions>;

function isInventory(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<NfpInventory>).workers);
}
