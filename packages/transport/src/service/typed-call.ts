/** Typed services on the calling side: values in, values out, failures as errors. The codes are those of `@proj/frames/service`. */
import type {
  Service,
  ServicePartial,
  ServiceRefusal,
  ServiceReply,
  ServiceRequestInput,
  ServiceResult,
} from '@proj/frames/service';
import { ProjError } from '../errors.js';

/** The body of a request. Rejects with `REJECTED`, without sending anything, if the service's schema rejects the value. */
export async function toRequestBody<S extends Service>(
  service: S,
  input: ServiceRequestInput<S>,
): Promise<Uint8Array[]> {
  return valueOf(await service.encodeRequest(input));
}

/** The value of a reply. Rejects with `REJECTED` for an error reply, and with `PROTOCOL_REMOTE` if the schema rejects it. */
export async function fromReplyBody<S extends Service>(service: S, body: Uint8Array[]): Promise<ServiceReply<S>> {
  return valueOf(await service.decodeReply(body)) as ServiceReply<S>;
}

/**
 * The values in the replies to one call; leaving early ends the call. Rejects with `PROTOCOL_REMOTE` if the schema rejects a (partial) reply,
 * and with `REJECTED` for an error reply.
 */
export async function* typedReplies<S extends Service>(
  service: S,
  replies: AsyncGenerator<Uint8Array[], Uint8Array[], undefined>,
): AsyncGenerator<ServicePartial<S>, ServiceReply<S>, undefined> {
  try {
    while (true) {
      const { done, value } = await replies.next();
      if (done === true) return await fromReplyBody(service, value);
      yield valueOf(await service.decodePartial(value)) as ServicePartial<S>;
    }
  } finally {
    // Nobody reads the generator's result any more; it must only end.
    await replies.return([]);
  }
}

function valueOf<Value>(result: ServiceResult<Value>): Value {
  if (result.ok) return result.value;
  throw toError(result.refusal);
}

/**
 * A request that either side rejects was not accepted by the service: `REJECTED`. An invalid (partial) reply is the worker's fault:
 * `PROTOCOL_REMOTE`. `details` has the issues, `cause` the refusal.
 */
function toError(refusal: ServiceRefusal): ProjError {
  const rejected = refusal.origin === 'remote' || refusal.code === 'REQUEST_INVALID';
  return new ProjError(rejected ? 'REJECTED' : 'PROTOCOL_REMOTE', refusal.message, {
    details: refusal.issues ?? [],
    cause: refusal,
  });
}
