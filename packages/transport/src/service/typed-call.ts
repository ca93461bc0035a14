/** Typed services at the caller: values in, values out, refusals as errors. The words are those of `@proj/frames/service`. */
import type {
  Service,
  ServicePartial,
  ServiceRefusal,
  ServiceReply,
  ServiceRequestInput,
  ServiceResult,
} from '@proj/frames/service';
import { ProjError } from '../errors.js';

/** The body of a request. Rejects with `REJECTED` for a value that the service's schema refuses: nothing was sent then. */
export async function toRequestBody<S extends Service>(
  service: S,
  input: ServiceRequestInput<S>,
): Promise<Uint8Array[]> {
  return valueOf(await service.encodeRequest(input));
}

/** The value of a reply. Rejects with `REJECTED` for an error reply, with `PROTOCOL_REMOTE` for one that the schema refuses. */
export async function fromReplyBody<S extends Service>(service: S, body: Uint8Array[]): Promise<ServiceReply<S>> {
  return valueOf(await service.decodeReply(body)) as ServiceReply<S>;
}

/**
 * The values in the replies to one call; leaving early ends those. Rejects with `PROTOCOL_REMOTE` for a (partial) reply that the schema
 * refuses, with `REJECTED` for an error reply.
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
    // Nobody reads what the generator returns any more; it must only end.
    await replies.return([]);
  }
}

function valueOf<Value>(result: ServiceResult<Value>): Value {
  if (result.ok) return result.value;
  throw toError(result.refusal);
}

/**
 * Our own request and the worker's refusal both mean that the service did not take the request: `REJECTED`. A reply or a
 * partial one that makes no sense here is the worker's fault: `PROTOCOL_REMOTE`. `details` are the issues, `cause` the refusal.
 */
function toError(refusal: ServiceRefusal): ProjError {
  const rejected = refusal.origin === 'remote' || refusal.code === 'REQUEST_INVALID';
  return new ProjError(rejected ? 'REJECTED' : 'PROTOCOL_REMOTE', refusal.message, {
    details: refusal.issues ?? [],
    cause: refusal,
  });
}
