/** Majordomo client: section "MDP/Client" of 18/MDP (0.2) and 7/MDP (0.1). */
import type { MdpClientReply, MdpClientRequest, MdpMalformedReason, MdpToClient } from '@proj/frames/mdp';
import type { RequestEffect, RequestEvent, RequestNote, RequestProtocol } from '../../shared/events.js';
import { RequestSocketPool } from '../../shared/request-socket-pool.js';
import type { RequestSocketPoolOptions } from '../../shared/request-socket-pool.js';

/** Why a message on a socket is no reply to the request that is open there. */
export type MdpClientDropReason = MdpMalformedReason | 'wrong-version' | 'wrong-service';

/** What the session is told. */
export type MdpClientEvent = RequestEvent<MdpClientRequest, MdpToClient>;

/** What the session wants done. */
export type MdpClientEffect = RequestEffect<MdpClientRequest, MdpClientReply, MdpClientDropReason>;

/** What the session reports. */
export type MdpClientNote = RequestNote<MdpClientDropReason>;

/** A reply names only its service, so the service and the socket are all there is to match. */
const REPLIES: RequestProtocol<MdpClientRequest, MdpToClient, MdpClientReply, MdpClientDropReason> = {
  match(request, message) {
    if (message.kind === 'malformed') return message.reason;
    if (message.version !== request.version) return 'wrong-version';
    return message.service === request.service ? message : 'wrong-service';
  },
  isFinal: (reply) => reply.kind === 'client-final',
};

/** One Majordomo client with all its sockets and calls. Its rules are those of {@link RequestSocketPool}. */
export class MdpClientSession extends RequestSocketPool<
  MdpClientRequest,
  MdpToClient,
  MdpClientReply,
  MdpClientDropReason
> {
  constructor(options: RequestSocketPoolOptions) {
    super(options, REPLIES);
  }
}
