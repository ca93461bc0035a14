/** Majordomo client: section "MDP/Client" of 18/MDP (0.2) and 7/MDP (0.1). */
import type { MdpClientReply, MdpClientRequest, MdpMalformedReason, MdpToClient } from '@proj/frames/mdp';
import type { LaneEffect, LaneEvent, LaneNote, LaneProtocol } from '../parts/lane-events.js';
import { LanePool } from '../parts/lane-pool.js';
import type { LanePoolOptions } from '../parts/lane-pool.js';

/** Why a message on a lane is no reply to the request that is open there. */
export type MdpClientDropReason = MdpMalformedReason | 'wrong-version' | 'wrong-service';

/** What the session is told. */
export type MdpClientEvent = LaneEvent<MdpClientRequest, MdpToClient>;

/** What the session wants done. */
export type MdpClientEffect = LaneEffect<MdpClientRequest, MdpClientReply, MdpClientDropReason>;

/** What the session reports besides. */
export type MdpClientNote = LaneNote<MdpClientDropReason>;

/** A reply names its service and nothing else, so that and the lane are all there is to match. */
const REPLIES: LaneProtocol<MdpClientRequest, MdpToClient, MdpClientReply, MdpClientDropReason> = {
  match(request, message) {
    if (message.kind === 'malformed') return message.reason;
    if (message.version !== request.version) return 'wrong-version';
    return message.service === request.service ? message : 'wrong-service';
  },
  isFinal: (reply) => reply.kind === 'client-final',
};

/** One Majordomo client with all its sockets and calls. The rules are those of {@link LanePool}, the matching is here. */
export class MdpClientSession extends LanePool<MdpClientRequest, MdpToClient, MdpClientReply, MdpClientDropReason> {
  constructor(options: LanePoolOptions) {
    super(options, REPLIES);
  }
}
