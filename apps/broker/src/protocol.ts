/** What a protocol brings to proj-broker: its own options, and how it is served. One file per protocol in `protocols/`. */
import { fromSchema, milliseconds, wholeNumber } from '@proj/appkit';
import type { Logger, ShownServer } from '@proj/appkit';
import { mdpBrokerOptions } from '@proj/broker/mdp';
import type { AccessRules, Claim, Transport } from '@proj/transport';
import * as z from 'zod';

const DAY_MS = 86_400_000;

/** All protocols have the same of these. */
const { shape } = mdpBrokerOptions.in;

/** Options that mean the same in every protocol. Unset, each protocol keeps to its reference. */
export const sharedOptions = z.strictObject({
  heartbeatMs: milliseconds({ min: 10, max: DAY_MS })
    .optional()
    .describe(
      'heartbeat interval (default: as the reference of each protocol; mdp and nfp: 2500, emqp: 3000, ppp: 1000)',
    ),
  liveness: wholeNumber({ min: 2, max: 100 })
    .optional()
    .describe(
      'silent intervals after which a peer is gone (default: as the reference of each protocol; nfp: 6, others: 3)',
    ),
  requestTtlMs: fromSchema(shape.requestTtlMs, milliseconds).describe(
    'how long a request waits for a service that has no worker',
  ),
  registrationsPerSecondMax: fromSchema(shape.registrationsPerSecondMax, wholeNumber).describe(
    'registrations of one connection per second; further ones are refused',
  ),
  drainMs: fromSchema(shape.drainMs, milliseconds).describe('how long running jobs may go on after SIGTERM'),
});

/** Values of the {@link sharedOptions}. */
export type SharedSettings = z.output<typeof sharedOptions>;

/** A protocol that is being served. */
export interface Server {
  /** Bound endpoints, by the name of the option that asked for them. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** What `--http` shows of it. */
  readonly shown: Omit<ShownServer, 'protocol' | 'endpoints'>;
  /** Plain data for a log line. */
  stats(): object;
  /** Puts other rules of access in force. */
  setAccess(rules: AccessRules): void;
  /**
   * Reads again what it has from files, besides rules of access; what it resolves to puts that in force. Rejects for a file that is not
   * valid, and all stays as it was. Absent without such files.
   */
  readAgain?(): Promise<() => void>;
  /** Lets running jobs finish, says goodbye, closes. Idempotent. */
  drain(): Promise<void>;
}

/** What a protocol is served with. */
export interface Surroundings {
  readonly transport: Transport;
  readonly log: Logger;
  /** Who may do what; absent, everybody everything. */
  readonly access: AccessRules | undefined;
  /** To be called when the protocol cannot be served any more. */
  readonly onBroken: (error: Error) => void;
  /** To be called when somebody who may has asked for the end of the program. */
  readonly onEnded: () => void;
  /** Where Majordomo is bound; where it would be, if it is not served. */
  readonly mdpEndpoint: string;
}

/** A protocol of proj-broker, with the options it has beyond the shared ones. */
export interface Protocol<Options extends z.ZodObject = z.ZodObject> {
  /** Named so that they can stand beside those of other protocols. */
  readonly options: Options;
  /** Which frames are of this protocol, where it may share an endpoint with others. Default: it shares none. */
  readonly claim?: Claim;
  /** Binds and serves. Rejects with `ADDRESS_IN_USE` when an endpoint is taken, `OPTIONS_INVALID` for options that do not fit. */
  serve(settings: SharedSettings & z.output<Options>, surroundings: Surroundings): Promise<Server>;
}
