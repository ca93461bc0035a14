/** TINY/1: the wire format, and the options of broker, worker and client. A message is a verb, the number of a request, and a body. */
import { fromLatin1, latin1 } from '@proj/frames';
import { endpointOf, milliseconds, transportOfServer } from '@proj/transport/schemas';
import * as z from 'zod';

const VERBS = ['free', 'request', 'reply', 'lost'] as const;

/** What a request asks and what a reply says. */
export type Body = readonly Uint8Array[];

/** A message. `free` has the number `-`; invalid frames become `malformed`. */
export interface TinyCommand {
  readonly kind: (typeof VERBS)[number] | 'malformed';
  readonly id: string;
  readonly body: Body;
}

/** Reads the frames of a message. The body is not copied. */
export function decodeTiny([verb, id, ...body]: readonly Uint8Array[]): TinyCommand {
  const kind = verb && VERBS.find((known) => latin1(verb) === known);
  return kind && id ? { kind, id: latin1(id), body } : { kind: 'malformed', id: '', body: [] };
}

/** Makes the frames of a message. The body is not copied. */
export function encodeTiny({ kind, id, body }: TinyCommand): Uint8Array[] {
  return [fromLatin1(kind), fromLatin1(id), ...body];
}

/** Options of broker and client. */
export const tinyOptions = z.strictObject({
  /** Where the broker listens. Default: `tcp://127.0.0.1:5599`. */
  endpoint: endpointOf('must be an endpoint such as "tcp://127.0.0.1:5599"').default('tcp://127.0.0.1:5599'),
  /** How long a worker may be silent, with or without a request, in milliseconds: 30 to a day. Default: 3000. */
  patienceMs: milliseconds(30).default(3000),
  /** Sockets and time. Default: ZMTP in TypeScript. */
  transport: transportOfServer.optional(),
});

/** Options of a worker. */
export const tinyWorkerOptions = tinyOptions.extend({
  /** Answers a request. When it throws, the request is lost. Required. */
  handler: z.custom<(body: Body) => Promise<Body>>((value) => typeof value === 'function', 'must be a function'),
});

/** As users write them. */
export type TinyOptions = z.input<typeof tinyOptions>;
/** As users write them. */
export type TinyWorkerOptions = z.input<typeof tinyWorkerOptions>;
