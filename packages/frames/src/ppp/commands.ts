/**
 * The words of the Paranoid Pirate Protocol, 6/PPP, and of the plain request-reply in front of a queue, as typed commands.
 *
 * 6/PPP calls whoever hands out work the client. Here that is the queue (an intermediary with a frontend) or a dispatcher
 * (an application that hands out its own work); "client" means the program in front of a queue.
 */
import type { Malformed } from '../malformed.js';

/** Frames of any bytes, at least one, empty ones included. Forwarded untouched: same count, same order. */
export type PppContent = readonly Uint8Array[];

/** Address frames, outermost first, none of them empty. Returned as they are. */
export type PppAddresses = readonly Uint8Array[];

/**
 * The address stack in front of content, with the empty frame that ends it. `undefined`: there is none, not even that frame; 6/PPP calls
 * it optional. Whoever answers does it in the form in which the request came.
 */
export type PppStack = PppAddresses | undefined;

/** Worker to queue: I am free for a first job. */
export interface PppReady {
  readonly kind: 'ready';
}

/** Between worker and queue, both ways: I am alive. */
export interface PppHeartbeat {
  readonly kind: 'heartbeat';
}

/** Queue to worker: do this. */
export interface PppRequest {
  readonly kind: 'request';
  /** From a queue of ours at least one: the client's routing id there, or a dispatcher's correlation id; then further hops. */
  readonly addresses: PppStack;
  readonly content: PppContent;
}

/** Worker to queue: the answer, under the addresses of its request. */
export interface PppReply {
  readonly kind: 'reply';
  readonly addresses: PppStack;
  readonly content: PppContent;
}

/** A reply as queue and dispatcher get it: they send no request without addresses. */
export interface PppAddressedReply extends PppReply {
  readonly addresses: PppAddresses;
}

/** Client to queue, on the frontend. */
export interface PppClientRequest {
  readonly kind: 'client-request';
  /** Hops between the queue and the program that asks; none for a REQ socket, `undefined` for a DEALER that writes content and nothing else. */
  readonly hops: PppStack;
  readonly content: PppContent;
}

/** Queue to client, on the frontend. */
export interface PppClientReply {
  readonly kind: 'client-reply';
  readonly hops: PppStack;
  readonly content: PppContent;
}

/** Everything that can be put on the wire. */
export type PppCommand = PppReady | PppHeartbeat | PppRequest | PppReply | PppClientRequest | PppClientReply;

/** Why frames are no command. The words are counter labels. */
export type PppMalformedReason =
  | 'no-frames'
  /** One frame: empty; at the other end of a worker longer than one byte, or a byte that means nothing; READY at a worker; control at the frontend. */
  | 'control-empty'
  | 'control-length'
  | 'control-unknown'
  | 'control-unexpected'
  /** At the worker: nothing behind the empty frame. */
  | 'request-malformed'
  /** At the other end: the same, no address, or no empty frame behind the addresses. */
  | 'reply-malformed'
  /** On the frontend. */
  | 'request-no-content';

/** Frames that are no command. */
export type PppMalformed = Malformed<PppMalformedReason>;

/** Everything a queue or dispatcher may receive from workers. */
export type PppToQueue = PppReady | PppHeartbeat | PppAddressedReply | PppMalformed;

/** Everything a worker may receive. */
export type PppToWorker = PppRequest | PppHeartbeat | PppMalformed;

/** Everything a queue may receive on its frontend. */
export type PppToFrontend = PppClientRequest | PppMalformed;

/** Everything a client may receive that writes the empty frame itself. */
export type PppToClient = (PppClientReply & { readonly hops: PppAddresses }) | PppMalformed;
