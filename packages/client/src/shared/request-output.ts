/** Clients over request sockets: the effects of the current step, and the totals. */
import { StepOutput } from '@proj/transport/engine';
import type { Call } from './call.js';
import type { Endpoints } from './endpoints.js';
import type { RequestDropReason, RequestEffect, RequestFailure, RequestNote, RequestStats } from './events.js';

const newCounters = () => ({
  calls: 0,
  sends: 0,
  finals: 0,
  partials: 0,
  aborts: 0,
  notesWithheld: 0,
  failures: { TIMEOUT: 0, PEER_LOST: 0, QUEUE_FULL: 0, UNREACHABLE: 0, CLOSED: 0 },
  dropped: new Map<string, number>(),
});

/** Collects a pool's effects. */
export class RequestOutput<Request, Reply, Reason extends string> extends StepOutput<
  RequestEffect<Request, Reply, Reason>,
  ReturnType<typeof newCounters>
> {
  constructor() {
    super(newCounters());
  }

  /** A copy of the totals. */
  get totals(): Omit<RequestStats, 'lanes' | 'busy' | 'waiting'> {
    const { calls, sends, finals, partials, aborts, failures, dropped } = this.counters;
    const counts = { calls, sends, finals, partials, aborts };
    return { ...counts, failures: { ...failures }, dropped: Object.fromEntries(dropped) };
  }

  /** Reports this every time. */
  report(note: RequestNote<Reason>): void {
    this.effects.push({ kind: 'note', note });
  }

  /** A message from this endpoint was dropped. */
  drop(reason: RequestDropReason<Reason>, endpoint: string): void {
    const { dropped } = this.counters;
    dropped.set(reason, (dropped.get(reason) ?? 0) + 1);
    this.report({ code: 'message-dropped', reason, endpoint });
  }

  /** The call failed. */
  fail(call: Call<Request>, code: RequestFailure, endpoints: Endpoints, cause?: unknown): void {
    this.counters.failures[code]++;
    const attempts = {
      endpoints: endpoints.namesFrom(call.firstEndpoint, call.sends),
      totalMs: call.sends === 0 ? 0 : this.now - call.firstSentAt,
    };
    this.effects.push({ kind: 'fail', id: call.id, code, attempts, cause });
  }
}
