/**
 * The words of the Paranoid Pirate Protocol, 6/PPP, and of the plain request-reply in front of a queue, as typed commands.
 *
 * 6/PPP calls the side that distributes work the client. Here that is the queue (an intermediary with a frontend) or a dispatcher (an
 * application that distributes its own work); "client" means the program in front of a queue.
 */
import type { Malformed } from '../malformed.js';

/** One or more frames of any bytes; frames may be empty. Forwarded unchanged: same count, same order. */
export type PppContent = readonly Uint8Array[];

/** Address frames, outermost first, none of them empty. Returned unchanged. */
export type PppAddresses = readonly Uint8Array[];

/**
 * The address stack before the content, ended by an empty frame. `undefined`: there is none, not even that frame; 6/PPP calls it optional. The
 * answer has the form of the request.
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
  /** At least one from our queue: the client's routing id there, or a dispatcher's correlation id; then further hops. */
  readonly addresses: PppStack;
  readonly content: PppContent;
}

/** Worker to queue: the answer, under the addresses of its request. */
export interface PppReply {
  readonly kind: 'reply';
  readonly addresses: PppStack;
  readonly content: PppContent;
}

/** A reply as a queue or dispatcher gets it: they send no request without addresses. */
export interface PppAddressedReply extends PppReply {
  readonly addresses: PppAddresses;
}

/** Client to queue, on the frontend. */
export interface PppClientRequest {
  readonly kind: 'client-request';
  /** Hops between the queue and the asking program; none for a REQ socket, `undefined` for a DEALER that writes only content. */
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

/** Why frames are not a command. Counter labels. */
export type PppMalformedReason =
  | 'no-frames'
  /** One frame: empty; at the other end of a worker longer than one byte, or a byte without meaning; READY at a worker; control at the frontend. */
  | 'control-empty'
  | 'control-length'
  | 'control-unknown'
  | 'control-unexpected'
  /** At the worker: nothing after the empty frame. */
  | 'request-malformed'
  /** At the other end: the same, no address, or no empty frame after the addresses. */
  | 'reply-malformed'
  /** On the frontend. */
  | 'request-no-content';

/** Frames that are not a command. */
export type PppMalformed = Malformed<PppMalformedReason>;

/** Everything a queue or dispatcher may receive from workers. */
export type PppToQueue = PppReady | PppHeartbeat | PppAddressedReply | PppMalformed;

/** Everything a worker may receive. */
export type PppToWorker = PppRequest | PppHeartbeat | PppMalformed;

/** Everything a queue may receive on its frontend. */
export type PppToFrontend = PppClientRequest | PppMalformed;

/** Everything that a client which writes the empty frame itself may receive. */
export type PppToClient = (PppClientReply & { readonly hops: PppAddresses }) | PppMalformed;
