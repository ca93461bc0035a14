/**
 * Majordomo client: section "MDP/Client" of 18/MDP (0.2) and 7/MDP (0.1). The rules are those of docs/protocols/mdp.md, section "Client".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | DEALER, empty frame | frames/src/mdp/encode.ts, client.ts |
 * | 2 | one request per socket | shared/request-socket-pool.ts, shared/request-sockets.ts |
 * | 3 | which message counts | session.ts |
 * | 4 | timeouts and tries | shared/request-socket-pool.ts, shared/request-legality.ts |
 * | 5 | `request()`, `stream()` | client.ts, request-runner.ts |
 * | 6, 9 | endpoints | shared/endpoints.ts |
 * | 7 | `service()`, `failFast` | client.ts |
 * | 8 | frames of a reply | frames/src/mdp/decode.ts, client.ts |
 */
import type { MdpClientReply, MdpClientRequest, MdpMalformedReason, MdpToClient } from '@proj/frames/mdp';
import type { RequestEffect, RequestEvent, RequestNote, RequestProtocol } from '../../shared/events.js';
import { RequestSocketPool } from '../../shared/request-socket-pool.js';
import type { RequestSocketPoolOptions } from '../../shared/request-socket-pool.js';

/** Why a message is not a reply to the socket's open request. */
export type MdpClientDropReason = MdpMalformedReason | 'wrong-version' | 'wrong-service';

/** The session's events. */
export type MdpClientEvent = RequestEvent<MdpClientRequest, MdpToClient>;

/** The session's effects. */
export type MdpClientEffect = RequestEffect<MdpClientRequest, MdpClientReply, MdpClientDropReason>;

/** The session's notes. */
export type MdpClientNote = RequestNote<MdpClientDropReason>;

/** A reply names only its service, so it is matched by the service and the socket. */
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
