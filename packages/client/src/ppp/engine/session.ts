/** Lazy Pirate client: the program in front of a 6/PPP queue, or of any REQ-REP service. Section 6 of docs/protocols/ppp.md. */
import type { PppClientReply, PppContent, PppMalformedReason, PppToClient } from '@proj/frames/ppp';
import type { RequestEffect, RequestEvent, RequestNote, RequestProtocol } from '../../shared/events.js';
import { RequestSocketPool } from '../../shared/request-socket-pool.js';
import type { LanePoolOptions } from '../../shared/request-socket-pool.js';

/** Why a message on a lane is no reply to the request that is open there. */
export type LazyPirateDropReason =
  | PppMalformedReason
  /** It is addressed to somebody behind us. */
  | 'reply-address'
  /** The caller's `matches` says so. */
  | 'reply-mismatch';

/** A request, and how its reply is known where the lane alone does not tell. */
export interface LazyPirateRequest {
  readonly content: PppContent;
  /** Never throws. */
  readonly matches: ((content: PppContent) => boolean) | undefined;
}

/** What the session is told. */
export type LazyPirateEvent = RequestEvent<LazyPirateRequest, PppToClient>;

/** What the session wants done. */
export type LazyPirateEffect = RequestEffect<LazyPirateRequest, PppClientReply, LazyPirateDropReason>;

/** What the session reports besides. */
export type LazyPirateNote = RequestNote<LazyPirateDropReason>;

/** We write the empty frame of a REQ socket and nothing in front of it, so nothing stands there in a reply to us. */
const REPLIES: RequestProtocol<LazyPirateRequest, PppToClient, PppClientReply, LazyPirateDropReason> = {
  match({ matches }, message) {
    if (message.kind === 'malformed') return message.reason;
    if (message.hops.length > 0) return 'reply-address';
    return matches === undefined || matches(message.content) ? message : 'reply-mismatch';
  },
  isFinal: () => true,
};

/** One Lazy Pirate client with all its sockets and calls. The rules are those of {@link RequestSocketPool}, the matching is here. */
export class LazyPirateSession extends RequestSocketPool<
  LazyPirateRequest,
  PppToClient,
  PppClientReply,
  LazyPirateDropReason
> {
  constructor(options: LanePoolOptions) {
    super(options, REPLIES);
  }
}
