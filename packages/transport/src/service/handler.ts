/** What an application writes for every protocol: a function from a request to its replies. */
import type { Service, ServicePartialInput, ServiceReplyInput, ServiceRequest } from '@proj/frames/service';
import type { BodyInput } from '../body.js';

/** What a handler gets besides the request. The fields may be destructured: `({ body }, { signal, partial }) => ...`. */
export interface HandlerContext<Partial = BodyInput> {
  /**
   * Aborts when nobody waits for the result any more: the connection to the broker is lost, or the worker is closing; in a broker, the client
   * has gone, or the broker is closing. The reason is a `ProjError` (`PEER_LOST`, `CLOSED`). The next request waits until the handler has ended,
   * so observe it.
   */
  readonly signal: AbortSignal;
  /**
   * Sends a partial reply. Await it before the next one, so that a slow broker slows the handler down. If the protocol has no partial replies,
   * the frames are kept and sent before those of the last reply. Rejects with the signal's reason once that has aborted, and with
   * `PROTOCOL_LOCAL` for an invalid body and after the handler has ended.
   */
  readonly partial: (reply: Partial) => Promise<void>;
}

/**
 * Answers one request with a value, a promise, or an async generator that yields partial replies and returns the last one. If a handler throws,
 * it gives no reply; see option `onError`.
 */
export type Handler<Request, Partial, Reply> = (
  request: Request,
  context: HandlerContext<Partial>,
) => Reply | Promise<Reply> | AsyncGenerator<Partial, Reply, undefined>;

/** The last reply of a handler of frames. Nothing, or no frames, is sent as one empty frame. */
// oxlint-disable-next-line typescript/no-invalid-void-type -- a function without a return statement is a handler too
export type FrameReply = BodyInput | undefined | void;

/** A request to a named service, as its handler sees it. */
export interface NamedRequest {
  readonly service: string;
  /** At least one frame. Large ones share memory with the socket: do not modify them. */
  readonly body: Buffer[];
}

/** A request to a typed service. */
export interface TypedRequest<S extends Service> extends NamedRequest {
  /** The schema's output for the body. */
  readonly input: ServiceRequest<S>;
}

/** Answers requests to a service: frames for a plain name, values for a typed service. */
export type NamedHandler<S extends string | Service = string> = S extends Service
  ? Handler<TypedRequest<S>, ServicePartialInput<S>, ServiceReplyInput<S>>
  : Handler<NamedRequest, BodyInput, FrameReply>;

/** A handler as a runner calls it: frames in, frames out. */
export type FrameHandler = Handler<readonly Uint8Array[], BodyInput, FrameReply>;

/** The frames of a body; none for no body. Throws a `TypeError` for values that are neither text nor bytes. */
export function toFrames(body: FrameReply): Uint8Array[] {
  if (body === undefined) return [];
  if (!Array.isArray(body)) return [toFrame(body)];
  return (body as readonly unknown[]).map(toFrame);
}

function toFrame(frame: unknown): Uint8Array {
  if (typeof frame === 'string') return Buffer.from(frame);
  if (frame instanceof Uint8Array) return frame;
  throw new TypeError(`reply frame is ${describe(frame)}; must be a string or Uint8Array`);
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : typeof value;
}

/** The value of a handler's result: sends what a generator yields and returns what it returns. */
export async function settle<Partial, Reply>(
  result: Reply | Promise<Reply> | AsyncGenerator<Partial, Reply, undefined>,
  partial: (reply: Partial) => Promise<void>,
): Promise<Reply> {
  return isGenerator(result) ? exhaust(result, partial) : result;
}

async function exhaust<Partial, Reply>(
  generator: AsyncGenerator<Partial, Reply, undefined>,
  partial: (reply: Partial) => Promise<void>,
): Promise<Reply> {
  try {
    while (true) {
      const { done, value } = await generator.next();
      if (done === true) return value;
      await partial(value);
    }
  } catch (error) {
    // The generator is suspended at a yield: its finally blocks must run. No effect if it has thrown.
    await generator.return(undefined as Reply);
    throw error;
  }
}

function isGenerator<Partial, Reply>(
  result: Reply | Promise<Reply> | AsyncGenerator<Partial, Reply, undefined>,
): result is AsyncGenerator<Partial, Reply, undefined> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result && 'next' in result;
}
