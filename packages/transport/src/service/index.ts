/** What applications write and call, below all roles: handlers and their runs, typed services on both sides. Knows no protocol. */
export type {
  FrameHandler,
  FrameReply,
  Handler,
  HandlerContext,
  NamedHandler,
  NamedRequest,
  TypedRequest,
} from './handler.js';
export * from './handler-run.js';
export * from './reply-buffer.js';
export { untilRoom } from './room.js';
export { fromReplyBody, toRequestBody, typedReplies } from './typed-call.js';
export { toFrameHandler } from './typed-handler.js';
