/**
 * Typed services: one definition that worker and client share, over any protocol whose bodies are frames. The sender validates a value and sends
 * it unchanged, the receiver validates what arrives and gets the schema's output: defaults and transforms happen once, at the receiver.
 */
import { describeBadName, isServiceName } from '../service-name.js';
import { resolveCodecs } from './codec.js';
import type { ServiceCodec, ServiceCodecs } from './codec.js';
import { boundedIssues, decodeFault, isFault } from './fault.js';
import type { ServiceIssue, ServiceRefusal } from './fault.js';
import type { SchemaInput, SchemaOutput, SchemaResult, StandardSchema } from './standard-schema.js';

/** A value, or why there is none. Nothing that a peer sends is ever thrown. */
export type ServiceResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: ServiceRefusal };

type Frames = readonly Uint8Array[];

/** The argument of {@link defineService}. */
export interface ServiceDefinition<
  Request extends StandardSchema,
  Reply extends StandardSchema,
  Partial extends StandardSchema | undefined,
> {
  /** 1 to 255 printable ASCII characters. */
  readonly name: string;
  readonly request: Request;
  readonly reply: Reply;
  /** For services that send partial answers before the reply. */
  readonly partial?: Partial;
  /** One for all, or one per direction. Default: JSON, one frame. */
  readonly codec?: ServiceCodec | ServiceCodecs | undefined;
}

/** A service with its types: `Service` alone stands for any of them. All methods resolve; none rejects. */
export interface Service<
  Request extends StandardSchema = StandardSchema,
  Reply extends StandardSchema = StandardSchema,
  Partial extends StandardSchema | undefined = StandardSchema | undefined,
> {
  readonly name: string;
  readonly request: Request;
  readonly reply: Reply;
  readonly partial: Partial;
  /** Client: the request's body. */
  encodeRequest(value: SchemaInput<Request>): Promise<ServiceResult<Uint8Array[]>>;
  /** Worker: the request in a body. Answer a refusal with `encodeFault(refusal)`. */
  decodeRequest(body: Frames): Promise<ServiceResult<SchemaOutput<Request>>>;
  /** Worker: the reply's body, never one that {@link decodeReply} would take for an error reply. */
  encodeReply(value: SchemaInput<Reply>): Promise<ServiceResult<Uint8Array[]>>;
  /** Client: the reply in a body. The `origin` of a refusal distinguishes an error reply from an invalid one. */
  decodeReply(body: Frames): Promise<ServiceResult<SchemaOutput<Reply>>>;
  /** Worker: the body of a partial reply. Always refused without a schema for partials. */
  encodePartial(value: SchemaInput<Partial>): Promise<ServiceResult<Uint8Array[]>>;
  /** Client: the partial reply in a body. Always refused without a schema for partials. */
  decodePartial(body: Frames): Promise<ServiceResult<SchemaOutput<Partial>>>;
}

/** The client's input. */
export type ServiceRequestInput<S extends Service> = SchemaInput<S['request']>;
/** The input of a worker's handler. */
export type ServiceRequest<S extends Service> = SchemaOutput<S['request']>;
/** The result of a worker's handler. */
export type ServiceReplyInput<S extends Service> = SchemaInput<S['reply']>;
/** The client's result. */
export type ServiceReply<S extends Service> = SchemaOutput<S['reply']>;
/** What a worker's handler sends before the reply; `never` without a schema for partials. */
export type ServicePartialInput<S extends Service> = SchemaInput<S['partial']>;
/** What a client receives before the reply; `never` without a schema for partials. */
export type ServicePartial<S extends Service> = SchemaOutput<S['partial']>;

/**
 * Defines a service once, for its workers and clients. Throws a `RangeError` for an invalid name and a `TypeError` for a
 * schema that does not implement Standard Schema version 1.
 */
export function defineService<
  Request extends StandardSchema,
  Reply extends StandardSchema,
  Partial extends StandardSchema | undefined = undefined,
>(definition: ServiceDefinition<Request, Reply, Partial>): Service<Request, Reply, Partial> {
  const { name, request, reply } = definition;
  const codecs = resolveCodecs(definition.codec);
  const partial = definition.partial as Partial;
  if (!isServiceName(name)) throw new RangeError(describeBadName(name));
  requireSchema(name, 'request', request);
  requireSchema(name, 'reply', reply);
  if (partial !== undefined) requireSchema(name, 'partial', partial);
  const words = {
    request: { code: 'REQUEST_INVALID', title: `request of service "${name}"`, schema: request, codec: codecs.request },
    reply: { code: 'REPLY_INVALID', title: `reply of service "${name}"`, schema: reply, codec: codecs.reply },
    partial: {
      code: 'PARTIAL_INVALID',
      title: `partial reply of service "${name}"`,
      schema: partial,
      codec: codecs.partial,
    },
  };
  return {
    name,
    request,
    reply,
    partial,
    encodeRequest: (value) => outgoing(words.request, value),
    decodeRequest: (body) => incoming(words.request, body),
    encodeReply: (value) => outgoing(words.reply, value),
    decodeReply: async (body) => {
      const refusal = decodeFault(body);
      return refusal === undefined ? incoming(words.reply, body) : { ok: false, refusal };
    },
    encodePartial: (value) => outgoing(words.partial, value),
    decodePartial: (body) => incoming(words.partial, body),
  };
}

/** One of the three kinds of values in a service. */
interface Word<Schema extends StandardSchema | undefined> {
  readonly code: string;
  readonly title: string;
  readonly schema: Schema;
  readonly codec: ServiceCodec;
}

async function outgoing<Schema extends StandardSchema | undefined>(
  word: Word<Schema>,
  value: unknown,
): Promise<ServiceResult<Uint8Array[]>> {
  const checked = await validate(word, value);
  if (!checked.ok) return checked;
  let frames: Uint8Array[];
  try {
    frames = word.codec.encode(value);
  } catch (cause) {
    return refuse(word, 'cannot be encoded', { cause });
  }
  if (frames.length === 0) return refuse(word, 'was encoded to no frame at all');
  if (isFault(frames)) return refuse(word, 'was encoded to the frames of an error reply');
  return { ok: true, value: frames };
}

async function incoming<Schema extends StandardSchema | undefined>(
  word: Word<Schema>,
  body: Frames,
): Promise<ServiceResult<SchemaOutput<Schema>>> {
  let value: unknown;
  try {
    value = word.codec.decode(body);
  } catch (cause) {
    return refuse(word, 'cannot be decoded', { cause });
  }
  return validate(word, value);
}

/** A schema that throws, as recursive ones do on values nested too deep, has also rejected the value. */
async function validate<Schema extends StandardSchema | undefined>(
  word: Word<Schema>,
  value: unknown,
): Promise<ServiceResult<SchemaOutput<Schema>>> {
  if (word.schema === undefined) return refuse(word, 'is not part of the definition');
  let result: SchemaResult<unknown>;
  try {
    result = await word.schema['~standard'].validate(value);
  } catch (cause) {
    return refuse(word, 'cannot be validated', { cause });
  }
  if (result.issues === undefined) return { ok: true, value: result.value as SchemaOutput<Schema> };
  const issues = boundedIssues(result.issues);
  return refuse(word, `is invalid: ${describe(issues)}`, { issues });
}

function refuse(
  { code, title }: Word<StandardSchema | undefined>,
  what: string,
  more: { issues?: ServiceIssue[]; cause?: unknown } = {},
): { ok: false; refusal: ServiceRefusal } {
  return { ok: false, refusal: { origin: 'local', code, message: `${title} ${what}`, ...more } };
}

function describe(issues: readonly ServiceIssue[]): string {
  const [first] = issues;
  if (first === undefined) return 'no reason given';
  const place = first.path.length === 0 ? '' : `${first.path.join('.')}: `;
  const others = issues.length === 1 ? '' : ` (and ${issues.length - 1} more)`;
  return `${place}${first.message}${others}`;
}

function requireSchema(name: string, role: string, schema: unknown): void {
  const declared = (schema as Record<string, { version?: unknown } | undefined> | undefined)?.['~standard'];
  if (declared?.version === 1) return;
  throw new TypeError(`service "${name}": the ${role} schema does not implement Standard Schema version 1`);
}
