/** Typed services on the serving side: values in, values out, failures as error replies, with the codes of `@proj/frames/service`. */
import { encodeFault } from '@proj/frames/service';
import type {
  Service,
  ServiceFault,
  ServiceIssue,
  ServicePartialInput,
  ServiceRefusal,
  ServiceReplyInput,
  ServiceRequest,
} from '@proj/frames/service';
import type { BodyInput } from '../body.js';
import { isProjError, ProjError } from '../errors.js';
import { settle } from './handler.js';
import type { FrameHandler, FrameReply, Handler } from './handler.js';

/** A handler of a typed service, without the envelope of any protocol. */
type TypedHandler<S extends Service> = (
  input: ServiceRequest<S>,
  body: readonly Uint8Array[],
  context: Parameters<Handler<never, ServicePartialInput<S>, never>>[1],
) => ReturnType<Handler<never, ServicePartialInput<S>, ServiceReplyInput<S>>>;

/**
 * A user's handler as a runner calls it, one per session: typed if there is a service, otherwise of frames. `toRequest` makes what the user gets
 * besides the input.
 */
export function toFrameHandler(
  service: Service | undefined,
  handler: (...args: never) => unknown,
  toRequest: (body: readonly Uint8Array[]) => object,
): (report: (error: unknown) => void) => FrameHandler {
  if (service === undefined) {
    const handle = handler as Handler<object, BodyInput, FrameReply>;
    return () => (body, context) => handle(toRequest(body), context);
  }
  const handle = handler as Handler<object, unknown, unknown>;
  return (report) =>
    typedHandler<Service>(service, (input, body, context) => handle({ ...toRequest(body), input }, context), report);
}

/**
 * The frame handler of a typed service. An input that the schema rejects never reaches `handler`. Such an input, a thrown `REJECTED`, and a
 * (partial) reply that the schema rejects are answered with an error reply. An invalid reply is the worker's fault and also goes to `report`.
 * Everything else that the handler throws is rethrown.
 */
function typedHandler<S extends Service>(
  service: S,
  handler: TypedHandler<S>,
  report: (error: unknown) => void,
): FrameHandler {
  return async (body, context) => {
    const request = await service.decodeRequest(body);
    if (!request.ok) return encodeFault(request.refusal);
    const partial = async (value: ServicePartialInput<S>): Promise<void> => {
      const encoded = await service.encodePartial(value);
      if (!encoded.ok) throw unfit(encoded.refusal);
      await context.partial(encoded.value);
    };
    try {
      const typed = {
        get signal() {
          return context.signal;
        },
        partial,
      };
      const value = await settle(handler(request.value as ServiceRequest<S>, body, typed), partial);
      const encoded = await service.encodeReply(value);
      if (!encoded.ok) throw unfit(encoded.refusal);
      return encoded.value;
    } catch (error) {
      const fault = refusalOf(error);
      if (fault !== undefined) return encodeFault(fault);
      const unfitness = unfitnessOf(error);
      if (unfitness === undefined) throw error;
      report(error);
      return encodeFault(unfitness);
    }
  };
}

/** The handler's value is not what the service promised. */
function unfit(refusal: ServiceRefusal): ProjError {
  return new ProjError('PROTOCOL_LOCAL', refusal.message, { details: refusal.issues ?? [], cause: refusal });
}

function unfitnessOf(error: unknown): ServiceFault | undefined {
  if (!isProjError(error, 'PROTOCOL_LOCAL')) return undefined;
  const { cause } = error;
  return typeof cause === 'object' && cause !== null && 'origin' in cause ? (cause as ServiceRefusal) : undefined;
}

/** The fault that a handler reports by throwing `REJECTED`. Only a list of issues in its details fits on the wire. */
function refusalOf(error: unknown): ServiceFault | undefined {
  if (!isProjError(error, 'REJECTED')) return undefined;
  const { message, details } = error;
  const issues = Array.isArray(details) ? details.flatMap(toIssue) : undefined;
  return { code: 'REJECTED', message, ...(issues === undefined ? {} : { issues }) };
}

function toIssue(detail: unknown): ServiceIssue[] {
  if (typeof detail !== 'object' || detail === null || !('message' in detail)) return [];
  const { message } = detail;
  const path = 'path' in detail && Array.isArray(detail.path) ? (detail.path as unknown[]) : [];
  return [{ path: path.map((key) => (typeof key === 'number' ? key : String(key))), message: String(message) }];
}
