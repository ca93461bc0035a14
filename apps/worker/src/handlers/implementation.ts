/** A handler, independent of the protocol that serves it. */
import type { Service, ServiceReplyInput, ServiceRequest } from '@proj/frames/service';
import type { FrameReply, Handler, HandlerContext } from '@proj/worker';
import type { BodyInput } from '@proj/worker';

/** A request, the same in every protocol. */
export interface FrameRequest {
  readonly body: readonly Buffer[];
}

/** Frames in, frames out. */
export interface FrameImplementation {
  readonly kind: 'frames';
  readonly handle: Handler<FrameRequest, BodyInput, FrameReply>;
}

/** Values in, values out, with the schemas of a typed service. */
export interface TypedImplementation {
  readonly kind: 'typed';
  readonly define: (name: string) => Service;
  readonly handle: (input: never) => unknown;
}

/** Answers the requests of one service. */
export type Implementation = FrameImplementation | TypedImplementation;

/** A handler of frames. */
export function onFrames(
  handle: (body: readonly Buffer[], context: HandlerContext) => FrameReply | Promise<FrameReply>,
): FrameImplementation {
  return { kind: 'frames', handle: ({ body }, context) => handle(body, context) };
}

/** A handler of the values of a typed service. */
export function onValues<S extends Service>(
  define: (name: string) => S,
  handle: (input: ServiceRequest<S>) => ServiceReplyInput<S>,
): TypedImplementation {
  return { kind: 'typed', define, handle };
}

/** The same implementation, with `onRequest` called before each request. */
export function observed(implementation: Implementation, onRequest: () => void): Implementation {
  if (implementation.kind === 'frames') {
    const { handle } = implementation;
    const observing: FrameImplementation['handle'] = (request, context) => {
      onRequest();
      return handle(request, context);
    };
    return { kind: 'frames', handle: observing };
  }
  const { define, handle } = implementation;
  const observing: TypedImplementation['handle'] = (input) => {
    onRequest();
    return handle(input);
  };
  return { kind: 'typed', define, handle: observing };
}
