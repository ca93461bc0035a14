/** Majordomo client: section "MDP/Client" of 18/MDP (0.2) and 7/MDP (0.1). */
import type { MdpClientReply, MdpClientRequest, MdpMalformedReason, MdpToClient } from '@proj/frames/mdp';
import type { RequestEffect, RequestEvent, RequestNote, RequestProtocol } from '../../shared/events.js';
import { RequestSocketPool } from '../../shared/request-socket-pool.js';
import type { LanePoolOptions } from '../../shared/request-socket-pool.js';

/** Why a message on a lane is no reply to the request that is open there. */
export type MdpClientDropReason = MdpMalformedReason | 'wrong-version' | 'wrong-service';

/** What the session is told. */
export type MdpClientEvent = RequestEvent<MdpClientRequest, MdpToClient>;

/** What the session wants done. */
export type MdpClientEffect = RequestEffect<MdpClientRequest, MdpClientReply, MdpClientDropReason>;

/** What the session reports besides. */
export type MdpClientNote = RequestNote<MdpClientDropReason>;

/** A reply names its service and nothing else, so that and the lane are all there is to match. */
const REPLIES: RequestProtocol<MdpClientRequest, MdpToClient, MdpClientReply, MdpClientDropReason> = {
  match(request, message) {
    if (message.kind === 'malformed') return message.reason;
    if (message.version !== request.version) return 'wrong-version';
    return message.service === request.service ? message : 'wrong-service';
  },
  isFinal: (reply) => reply.kind === 'client-final',
};

/** One Majordomo client with all its sockets and calls. The rules are those of {@link RequestSocketPool}, the matching is here. */
export class MdpClientSession extends RequestSocketPool<
  MdpClientRequest,
  MdpToClient,
  MdpClientReply,
  MdpClientDropReason
> {
  constructor(options: LanePoolOptions) {
    super(options, REPLIES);
  }
}
