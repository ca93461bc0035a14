/**
 * Calls over a small pool of one-request sockets: wait, send, match, resend, give up. Section "MDP/Client" of 18/MDP and 7/MDP,
 * and the Lazy Pirate of 6/PPP; what a message means is plugged in ({@link RequestProtocol}).
 */
import { DeadlineHeap, DeadlineList } from '@proj/heartbeat';
import type { Engine, TimerEvent } from '@proj/transport';
import { Call } from './call.js';
import { Endpoints } from './endpoints.js';
import type {
  RequestAttempts,
  RequestDropReason,
  RequestEffect,
  RequestEvent,
  RequestFailure,
  RequestNote,
  RequestProtocol,
  RequestStats,
} from './events.js';
import { RequestSockets } from './request-sockets.js';
import type { RequestSocket } from './request-sockets.js';

/** Settings of a {@link RequestSocketPool}. */
export interface LanePoolOptions {
  /** Brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  /** Most lanes open at a time, at least 1. */
  readonly sockets: number;
  /** Most calls that wait for a lane. */
  readonly waitingMax: number;
  /** How long an unused lane stays open. Milliseconds, at least 1. */
  readonly idleMs: number;
}

/**
 * The engine of a client whose replies carry no correlation. A call holds one lane from its first send to its end; calls
 * beyond `sockets` wait in order, calls beyond `waitingMax` fail with `QUEUE_FULL`.
 *
 * Silence closes the lane and sends the same request on a new one, to the next endpoint, `tries` times in all: a late reply
 * can then never answer another call. A lost connection does the same without waiting, but only once per silence: a broker
 * that accepts and drops must not use up the tries in a moment. A step costs O(log sockets), however many calls wait.
 */
export class RequestSocketPool<Request, Message, Reply extends object, Reason extends string> implements Engine<
  RequestEvent<Request, Message>,
  RequestEffect<Request, Reply, Reason>
> {
  readonly #protocol: RequestProtocol<Request, Message, Reply, Reason>;
  readonly #waitingMax: number;
  readonly #endpoints: Endpoints;
  readonly #lanes: RequestSockets<Call<Request>>;
  readonly #calls = new Map<number, Call<Request>>();
  /** Each is due a lane as of now; the delay of 0 makes the list a queue that callers can leave in O(1). */
  readonly #waiting = new DeadlineList<Call<Request>>(0);
  readonly #silences = new DeadlineHeap<Call<Request>>();
  readonly #counts = { calls: 0, sends: 0, finals: 0, partials: 0, aborts: 0 };
  readonly #failures = { TIMEOUT: 0, PEER_LOST: 0, QUEUE_FULL: 0, UNREACHABLE: 0, CLOSED: 0 };
  readonly #dropped = new Map<RequestDropReason<Reason>, number>();
  #effects: RequestEffect<Request, Reply, Reason>[] = [];
  #excusedUntil = -Infinity;
  #closed = false;

  constructor(options: LanePoolOptions, protocol: RequestProtocol<Request, Message, Reply, Reason>) {
    this.#protocol = protocol;
    this.#waitingMax = options.waitingMax;
    this.#endpoints = new Endpoints(options.endpoints);
    const { sockets, idleMs } = options;
    this.#lanes = new RequestSockets(
      { endpoints: options.endpoints.length, sockets, idleMs },
      {
        onOpen: ({ id, endpoint }) =>
          this.#effects.push({ kind: 'open', lane: id, endpoint: this.#endpoints.name(endpoint) }),
        onClose: ({ id }) => this.#effects.push({ kind: 'close', lane: id }),
      },
    );
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    return Math.min(this.#silences.deadline, this.#lanes.deadline);
  }

  /** Counters and gauges, as a copy. */
  get stats(): RequestStats {
    return {
      lanes: this.#lanes.size,
      busy: this.#silences.size,
      waiting: this.#waiting.size,
      ...this.#counts,
      failures: { ...this.#failures },
      dropped: Object.fromEntries(this.#dropped),
    };
  }

  /** See {@link Engine.step}. Throws only for a call id that is in use. */
  step(
    event: RequestEvent<Request, Message> | TimerEvent,
    now: number,
  ): readonly RequestEffect<Request, Reply, Reason>[] {
    this.#effects = [];
    switch (event.kind) {
      case 'request':
        this.#onRequest(new Call(event.id, event), now);
        break;
      case 'message':
        this.#onMessage(event.lane, event.message, now);
        break;
      case 'rejected':
        this.#drop(this.#lanes.get(event.lane), event.reason);
        break;
      case 'lane-lost':
        this.#onLost(event.lane, now);
        break;
      case 'lane-refused':
        this.#onRefused(event.lane, event.cause, now);
        break;
      case 'abort':
        this.#onAbort(event.id, now);
        break;
      case 'close':
        this.#onClose(now);
        break;
      case 'timer':
        this.#onTimer(event.lateMs, now);
        break;
    }
    return this.#effects;
  }

  #onRequest(call: Call<Request>, now: number): void {
    if (this.#calls.has(call.id)) throw new Error(`call ${call.id} is in hand already`);
    this.#counts.calls++;
    if (this.#closed) {
      this.#fail(call, 'CLOSED', now);
      return;
    }
    // Free lanes go to those who wait at once, so a lane that can be had here passes nobody over.
    const lane = this.#lanes.acquire(this.#endpoints.first);
    if (lane === undefined && this.#waiting.size >= this.#waitingMax) this.#fail(call, 'QUEUE_FULL', now);
    else {
      this.#calls.set(call.id, call);
      if (lane === undefined) this.#waiting.renew(call.place, now);
      else this.#send(call, lane, now);
    }
  }

  #onMessage(id: number, message: Message, now: number): void {
    const lane = this.#lanes.get(id);
    const call = lane?.call;
    if (lane === undefined || call === undefined) {
      this.#drop(lane, 'late');
      return;
    }
    const reply = this.#protocol.match(call.order.request, message);
    if (typeof reply === 'string') {
      this.#drop(lane, reply);
      return;
    }
    this.#endpoints.answered(lane.endpoint, now);
    if (this.#protocol.isFinal(reply)) this.#onFinal(call, lane, reply, now);
    else this.#onPartial(call, reply, now);
  }

  #onFinal(call: Call<Request>, lane: RequestSocket<Call<Request>>, reply: Reply, now: number): void {
    this.#counts.finals++;
    this.#calls.delete(call.id);
    this.#silences.remove(call.silence);
    this.#lanes.free(lane, now);
    this.#effects.push({ kind: 'final', id: call.id, reply });
    this.#feed(now);
  }

  #onPartial(call: Call<Request>, reply: Reply, now: number): void {
    this.#counts.partials++;
    call.hurried = false;
    this.#listen(call, now);
    if (!call.order.streaming) return;
    call.answered = true;
    this.#effects.push({ kind: 'partial', id: call.id, reply });
  }

  /** A lane that brings what nobody waits for is no correlation any more: it is closed. A call's wait goes on. */
  #drop(lane: RequestSocket<Call<Request>> | undefined, reason: RequestDropReason<Reason>): void {
    if (lane === undefined) return;
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + 1);
    if (lane.call === undefined) this.#lanes.discard(lane);
    this.#note({ code: 'message-dropped', reason, endpoint: this.#endpoints.name(lane.endpoint) });
  }

  #onLost(id: number, now: number): void {
    const lane = this.#lanes.get(id);
    if (lane === undefined) return;
    this.#note({ code: 'connection-lost', endpoint: this.#endpoints.name(lane.endpoint) });
    const call = lane.call;
    if (call === undefined) this.#lanes.discard(lane);
    else if (call.answered) this.#end(call, 'PEER_LOST', now);
    else if (!call.hurried && call.sends < call.order.tries) {
      call.hurried = true;
      this.#resend(call, lane, 'connection-lost', now);
    }
  }

  #onRefused(id: number, cause: unknown, now: number): void {
    const call = this.#lanes.get(id)?.call;
    if (call !== undefined) this.#end(call, 'UNREACHABLE', now, cause);
  }

  #onAbort(id: number, now: number): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#counts.aborts++;
    this.#forget(call);
    this.#feed(now);
  }

  #onClose(now: number): void {
    this.#closed = true;
    for (const call of this.#calls.values()) {
      this.#forget(call);
      this.#fail(call, 'CLOSED', now);
    }
    this.#lanes.discardAll();
  }

  #onTimer(lateMs: number, now: number): void {
    if (lateMs > 0) this.#excusedUntil = Math.max(this.#excusedUntil, now + lateMs);
    for (let call = this.#silences.takeDue(now); call !== undefined; call = this.#silences.takeDue(now))
      this.#onSilence(call, call.lane as RequestSocket<Call<Request>>, now);
    this.#lanes.expire(now);
  }

  #onSilence(call: Call<Request>, lane: RequestSocket<Call<Request>>, now: number): void {
    if (!call.credited && this.#excusedUntil > now) {
      // The reply may lie unread in the socket: docs/adr/0004. Once, and no longer than a timeout, or a busy process waits for ever.
      call.credited = true;
      this.#silences.set(call.silence, Math.min(this.#excusedUntil, now + call.order.timeoutMs));
      return;
    }
    this.#endpoints.silent(lane.endpoint, call.sentAt);
    if (call.answered) this.#end(call, 'PEER_LOST', now);
    else if (call.sends >= call.order.tries) this.#end(call, 'TIMEOUT', now);
    else {
      call.hurried = false;
      this.#resend(call, lane, 'silence', now);
    }
  }

  /** Gives the free lanes, and the room for new ones, to those who wait. */
  #feed(now: number): void {
    while (this.#waiting.size > 0) {
      const lane = this.#lanes.acquire(this.#endpoints.first);
      if (lane === undefined) return;
      this.#send(this.#waiting.takeDue(now) as Call<Request>, lane, now);
    }
  }

  #send(call: Call<Request>, lane: RequestSocket<Call<Request>>, now: number): void {
    if (call.sends === 0) {
      call.firstEndpoint = lane.endpoint;
      call.firstSentAt = now;
    }
    call.lane = lane;
    lane.call = call;
    call.sends++;
    call.sentAt = now;
    this.#counts.sends++;
    this.#listen(call, now);
    this.#effects.push({ kind: 'send', lane: lane.id, request: call.order.request });
  }

  #resend(
    call: Call<Request>,
    lane: RequestSocket<Call<Request>>,
    cause: 'silence' | 'connection-lost',
    now: number,
  ): void {
    this.#lanes.discard(lane);
    const next = this.#lanes.open(this.#endpoints.after(lane.endpoint));
    this.#send(call, next, now);
    this.#note({ code: 'request-resent', cause, endpoint: this.#endpoints.name(next.endpoint), send: call.sends });
  }

  /** Starts to measure silence anew. */
  #listen(call: Call<Request>, now: number): void {
    call.credited = false;
    this.#silences.set(call.silence, now + call.order.timeoutMs);
  }

  /** Ends a call without a final reply. */
  #end(call: Call<Request>, code: RequestFailure, now: number, cause?: unknown): void {
    this.#forget(call);
    this.#fail(call, code, now, cause);
    this.#feed(now);
  }

  /** Strikes the call off the books. Its lane may still bring the reply, so the lane goes too. */
  #forget(call: Call<Request>): void {
    this.#calls.delete(call.id);
    this.#waiting.remove(call.place);
    this.#silences.remove(call.silence);
    if (call.lane !== undefined) this.#lanes.discard(call.lane);
  }

  #fail(call: Call<Request>, code: RequestFailure, now: number, cause?: unknown): void {
    this.#failures[code]++;
    const attempts: RequestAttempts = {
      endpoints: this.#endpoints.namesFrom(call.firstEndpoint, call.sends),
      totalMs: call.sends === 0 ? 0 : now - call.firstSentAt,
    };
    this.#effects.push({ kind: 'fail', id: call.id, code, attempts, cause });
  }

  #note(note: RequestNote<Reason>): void {
    this.#effects.push({ kind: 'note', note });
  }

  /** See {@link Engine.assertInvariants}. */
  assertInvariants(): void {
    this.#lanes.assertInvariants();
    this.#silences.assertInvariants();
    const busy = [...this.#lanes.values()].flatMap((lane) => lane.call ?? []);
    if (new Set(busy).size !== busy.length) throw new Error('two lanes carry the same call');
    for (const lane of this.#lanes.values()) {
      if (lane.call !== undefined && lane.call.lane !== lane) throw new Error(`lane ${lane.id} and its call disagree`);
    }
    for (const call of busy) {
      if (this.#calls.get(call.id) !== call) throw new Error(`call ${call.id} is over but still on a lane`);
      if (call.silence.at === Infinity) throw new Error(`call ${call.id} was sent but never times out`);
      if (call.sends < 1 || call.sends > call.order.tries) throw new Error(`call ${call.id}: ${call.sends} sends`);
    }
    if (this.#silences.size !== busy.length) throw new Error('a call times out that is on no lane');
    if (this.#calls.size !== busy.length + this.#waiting.size) throw new Error('a call neither waits nor is sent');
    if (this.#waiting.size > this.#waitingMax) throw new Error(`${this.#waiting.size} calls wait`);
    if (this.#waiting.size > 0 && !this.#lanes.full) throw new Error('a call waits although a lane could be had');
    if (this.#closed && this.#calls.size + this.#lanes.size > 0) throw new Error('something is left after the close');
  }
}
