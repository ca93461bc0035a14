/**
 * Lazy Pirate client: the program in front of a 6/PPP queue, or of any REQ-REP service. The rules are those of docs/protocols/ppp.md, section
 * "Client".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | like a REQ socket | frames/src/ppp/encode.ts, client.ts |
 * | 2 | one request per socket | shared/request-socket-pool.ts, shared/request-sockets.ts |
 * | 3 | timeouts and tries | shared/request-socket-pool.ts, shared/request-legality.ts |
 * | 4, 6 | which message counts | session.ts, frames/src/ppp/decode.ts |
 * | 5 | endpoints | shared/endpoints.ts |
 * | 7 | aborts | shared/request-socket-pool.ts, shared/on-abort.ts, request-runner.ts |
 * | 8 | sockets given up | shared/request-sockets.ts, request-runner.ts |
 */
import type { PppClientReply, PppContent, PppMalformedReason, PppToClient } from '@proj/frames/ppp';
import type { RequestEffect, RequestEvent, RequestNote, RequestProtocol } from '../../shared/events.js';
import { RequestSocketPool } from '../../shared/request-socket-pool.js';
import type { RequestSocketPoolOptions } from '../../shared/request-socket-pool.js';

/** Why a message is not a reply to the socket's open request. */
export type LazyPirateDropReason =
  | PppMalformedReason
  /** It is addressed to a peer behind us. */
  | 'reply-address'
  /** The caller's `matches` returned false. */
  | 'reply-mismatch';

/** A request, and how to recognize its reply beyond the socket. */
export interface LazyPirateRequest {
  readonly content: PppContent;
  /** Never throws. */
  readonly matches: ((content: PppContent) => boolean) | undefined;
}

/** The session's events. */
export type LazyPirateEvent = RequestEvent<LazyPirateRequest, PppToClient>;

/** The session's effects. */
export type LazyPirateEffect = RequestEffect<LazyPirateRequest, PppClientReply, LazyPirateDropReason>;

/** The session's notes. */
export type LazyPirateNote = RequestNote<LazyPirateDropReason>;

/** We write the empty frame of a REQ socket and nothing before it, so a reply to us has nothing before it either. */
const REPLIES: RequestProtocol<LazyPirateRequest, PppToClient, PppClientReply, LazyPirateDropReason> = {
  match({ matches }, message) {
    if (message.kind === 'malformed') return message.reason;
    if (message.hops.length > 0) return 'reply-address';
    return matches === undefined || matches(message.content) ? message : 'reply-mismatch';
  },
  isFinal: () => true,
};

/** One Lazy Pirate client with all its sockets and calls. Its rules are those of {@link RequestSocketPool}. */
export class LazyPirateSession extends RequestSocketPool<
  LazyPirateRequest,
  PppToClient,
  PppClientReply,
  LazyPirateDropReason
> {
  constructor(options: RequestSocketPoolOptions) {
    super(options, REPLIES);
  }
}
