/** Clients over request sockets: the effects of the current step, and the totals. */
import type { Call } from './call.js';
import { ClientOutput } from './client-output.js';
import type { Endpoints } from './endpoints.js';
import type { RequestDropReason, RequestEffect, RequestFailure, RequestNote } from './events.js';

/** Collects a pool's effects. */
export class RequestOutput<Request, Reply, Reason extends string> extends ClientOutput<
  RequestEffect<Request, Reply, Reason>,
  RequestNote<Reason>
> {
  override readonly counters = {
    calls: 0,
    sends: 0,
    finals: 0,
    partials: 0,
    aborts: 0,
    notesWithheld: 0,
    failures: { TIMEOUT: 0, PEER_LOST: 0, QUEUE_FULL: 0, UNREACHABLE: 0, CLOSED: 0 },
    dropped: {} as Record<string, number>,
  };

  /** A message from this endpoint was dropped. */
  drop(reason: RequestDropReason<Reason>, endpoint: string): void {
    this.count(reason);
    this.report({ code: 'message-dropped', reason, endpoint });
  }

  fail(call: Call<Request>, code: RequestFailure, endpoints: Endpoints, cause?: unknown): void {
    this.counters.failures[code]++;
    const attempts = {
      endpoints: endpoints.namesFrom(call.firstEndpoint, call.sends),
      totalMs: call.sends === 0 ? 0 : this.now - call.firstSentAt,
    };
    this.effects.push({ kind: 'fail', id: call.id, code, attempts, cause });
  }
}
