/**
 * What a protocol contributes to proj-broker: its own options, and how to serve it. One file per protocol in `protocols/`.
 */
import { fromSchema, milliseconds, wholeNumber, withinADay } from '@proj/appkit';
import type { Logger, ShownServer } from '@proj/appkit';
import { mdpBrokerOptions } from '@proj/broker/mdp';
import type { AccessRules, Claim, Transport } from '@proj/transport';
import * as z from 'zod';

/** These are the same for all protocols. */
const { shape } = mdpBrokerOptions.in;

/** Options that mean the same in every protocol. If unset, each protocol uses the default of its reference. */
export const sharedOptions = z.strictObject({
  heartbeatMs: withinADay(10).optional().describe('heartbeat interval'),
  liveness: wholeNumber({ min: 2, max: 100 }).optional().describe('silent intervals after which a peer is lost'),
  requestTtlMs: fromSchema(shape.requestTtlMs, milliseconds).describe(
    'how long a request waits for a service that has no worker',
  ),
  registrationsPerSecondMax: fromSchema(shape.registrationsPerSecondMax, wholeNumber).describe(
    'registrations of one connection per second; further ones are refused',
  ),
  drainMs: fromSchema(shape.drainMs, milliseconds).describe('how long running jobs may continue after SIGTERM'),
});

/** Values of the {@link sharedOptions}. */
export type SharedSettings = z.output<typeof sharedOptions>;

/** A protocol that is being served. */
export interface Server {
  /** Bound endpoints, by the name of the option that set them. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** What `--http` shows of it. */
  readonly shown: Omit<ShownServer, 'protocol' | 'endpoints'>;
  /** Plain data for a log line. */
  stats(): object;
  /** Applies new access rules. */
  setAccess(rules: AccessRules): void;
  /**
   * Rereads its files, except access rules; calling the resolved function applies them. Rejects if a file is invalid, and then nothing
   * changes. Absent if there are no such files.
   */
  readAgain?(): Promise<() => void>;
  /** Lets running jobs finish, says goodbye, closes. Idempotent. */
  drain(): Promise<void>;
}

/** What a protocol needs to be served. */
export interface Surroundings {
  readonly transport: Transport;
  readonly log: Logger;
  /** Access rules; if absent, there are no restrictions. */
  readonly access: AccessRules | undefined;
  /** To be called when the protocol can no longer be served. */
  readonly onBroken: (error: Error) => void;
  /** To be called when an authorized peer has asked the program to end. */
  readonly onEnded: () => void;
  /** Where Majordomo is bound, or would be if it is not served. */
  readonly mdpEndpoint: string;
}

/** A protocol of proj-broker, with its own options beyond the shared ones. */
export interface Protocol<Options extends z.ZodObject = z.ZodObject> {
  /** Its name in sentences. */
  readonly title: string;
  /** Named so that they do not clash with those of other protocols. */
  readonly options: Options;
  /** What its reference does where the shared options are unset. */
  readonly usual: Readonly<Record<'heartbeatMs' | 'liveness', number>>;
  /** Recognizes frames of this protocol, if it may share an endpoint with others. Default: it shares none. */
  readonly claim?: Claim;
  /** Binds and serves. Rejects with `ADDRESS_IN_USE` if an endpoint is taken, with `OPTIONS_INVALID` for inconsistent options. */
  serve(settings: SharedSettings & z.output<Options>, surroundings: Surroundings): Promise<Server>;
}

/** The settings whose names begin with a protocol's, without it: `mdpBridge` becomes `bridge`. */
type OwnSettings<Settings, Name extends string> = {
  [Key in keyof Settings as Key extends `${Name}${infer Own}` ? Uncapitalize<Own> : never]: Settings[Key];
};

/** A protocol's own settings, as its facade names them. */
export function ownSettings<Settings extends object, Name extends string>(
  settings: Settings,
  name: Name,
): OwnSettings<Settings, Name> {
  const own = Object.entries(settings).flatMap(([key, value]: [string, unknown]) => {
    const rest = key.startsWith(name) ? key.slice(name.length) : '';
    return /^[A-Z]/.test(rest) ? [[rest.charAt(0).toLowerCase() + rest.slice(1), value]] : [];
  });
  return Object.fromEntries(own) as OwnSettings<Settings, Name>;
}
