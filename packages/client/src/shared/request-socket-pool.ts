/**
 * Calls over a small pool of one-request sockets: wait, send, match, resend, give up. Section "Client" of the protocol's document. Each
 * protocol defines what a message means ({@link RequestProtocol}); `request-legality.ts` decides what an event means on a socket.
 */
import { DeadlineHeap, DeadlineList } from '@proj/heartbeat';
import type { Engine, TimerEvent } from '@proj/transport';
import { Call } from './call.js';
import { Endpoints } from './endpoints.js';
import type {
  RequestDropReason,
  RequestEffect,
  RequestEvent,
  RequestFailure,
  RequestProtocol,
  RequestStats,
} from './events.js';
import { LEGALITY } from './request-legality.js';
import type { RequestSocketEvent, RequestSocketState } from './request-legality.js';
import { RequestOutput } from './request-output.js';
import { RequestSockets } from './request-sockets.js';
import type { RequestSocket } from './request-sockets.js';

/** Settings of a {@link RequestSocketPool}. */
export interface RequestSocketPoolOptions {
  /** Brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  /** Limit of open sockets, at least 1. */
  readonly sockets: number;
  /** Limit of calls waiting for a socket. */
  readonly waitingMax: number;
  /** How long an unused socket stays open. Milliseconds, at least 1. */
  readonly idleMs: number;
}

/**
 * The engine of a client whose replies carry no correlation. A call holds one socket from its first send to its end; calls beyond `sockets` wait
 * in order, calls beyond `waitingMax` fail with `QUEUE_FULL`.
 *
 * Silence closes the socket and sends the same request on a new one, to the next endpoint, `tries` times in total: a late reply can then never
 * answer another call. A lost connection does the same without waiting, but only once per silence. A step costs O(log sockets), however many
 * calls wait.
 */
export class RequestSocketPool<Request, Message, Reply extends object, Reason extends string> implements Engine<
  RequestEvent<Request, Message>,
  RequestEffect<Request, Reply, Reason>
> {
  readonly #protocol: RequestProtocol<Request, Message, Reply, Reason>;
  readonly #waitingMax: number;
  readonly #endpoints: Endpoints;
  readonly #out = new RequestOutput<Request, Reply, Reason>();
  readonly #sockets: RequestSockets<Call<Request>>;
  readonly #calls = new Map<number, Call<Request>>();
  /** The delay of 0 makes the list a queue that calls can leave in O(1). */
  readonly #waiting = new DeadlineList<Call<Request>>(0);
  readonly #silences = new DeadlineHeap<Call<Request>>();
  #excusedUntil = -Infinity;
  #closed = false;

  constructor(options: RequestSocketPoolOptions, protocol: RequestProtocol<Request, Message, Reply, Reason>) {
    this.#protocol = protocol;
    this.#waitingMax = options.waitingMax;
    this.#endpoints = new Endpoints(options.endpoints);
    const { sockets, idleMs } = options;
    this.#sockets = new RequestSockets(
      { endpoints: options.endpoints.length, sockets, idleMs },
      {
        onOpen: ({ id, endpoint }) =>
          this.#out.effects.push({ kind: 'open', socket: id, endpoint: this.#endpoints.name(endpoint) }),
        onClose: ({ id }) => this.#out.effects.push({ kind: 'close', socket: id }),
      },
    );
  }

  get deadline(): number {
    return Math.min(this.#silences.deadline, this.#sockets.deadline);
  }

  /** A copy of the counters and gauges. */
  get stats(): RequestStats {
    const gauges = { lanes: this.#sockets.size, busy: this.#silences.size, waiting: this.#waiting.size };
    return { ...gauges, ...this.#out.totals };
  }

  /** See {@link Engine.step}. Throws only for a call id that is in use. */
  step(
    event: RequestEvent<Request, Message> | TimerEvent,
    now: number,
  ): readonly RequestEffect<Request, Reply, Reason>[] {
    this.#out.begin(now);
    switch (event.kind) {
      case 'request':
        this.#onRequest(new Call(event.id, event));
        break;
      case 'abort':
        this.#onAbort(event.id);
        break;
      case 'close':
        this.#onClose();
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      default: {
        const socket = this.#sockets.get(event.socket);
        if (socket !== undefined) this.#onSocket(event, socket);
      }
    }
    return this.#out.effects;
  }

  #onSocket(
    event: Extract<RequestEvent<Request, Message>, { socket: number }>,
    socket: RequestSocket<Call<Request>>,
  ): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.message, socket);
        break;
      case 'rejected':
        this.#onNoReply(event.reason, socket);
        break;
      case 'lost':
        this.#onLost(socket);
        break;
      case 'refused':
        if (socket.call !== undefined && verdictOf(socket, 'unopened') === 'fail')
          this.#end(socket.call, 'UNREACHABLE', event.cause);
        break;
    }
  }

  #onRequest(call: Call<Request>): void {
    if (this.#calls.has(call.id)) throw new Error(`call ${call.id} is open already`);
    this.#out.counters.calls++;
    if (this.#closed) {
      this.#out.fail(call, 'CLOSED', this.#endpoints);
      return;
    }
    // Free sockets go to waiting calls at once, so a call that gets one here overtakes nobody.
    const socket = this.#sockets.acquire(this.#endpoints.first);
    if (socket === undefined && this.#waiting.size >= this.#waitingMax) {
      this.#out.fail(call, 'QUEUE_FULL', this.#endpoints);
      return;
    }
    this.#calls.set(call.id, call);
    if (socket === undefined) this.#waiting.renew(call.place, this.#out.now);
    else this.#send(call, socket);
  }

  #onMessage(message: Message, socket: RequestSocket<Call<Request>>): void {
    const { call } = socket;
    if (call === undefined) {
      this.#onNoReply('late', socket);
      return;
    }
    const reply = this.#protocol.match(call.order.request, message);
    if (typeof reply === 'string') {
      this.#onNoReply(reply, socket);
      return;
    }
    this.#endpoints.answered(socket.endpoint, this.#out.now);
    if (this.#protocol.isFinal(reply)) this.#onFinal(call, socket, reply);
    else this.#onPartial(call, reply);
  }

  #onFinal(call: Call<Request>, socket: RequestSocket<Call<Request>>, reply: Reply): void {
    this.#out.counters.finals++;
    this.#calls.delete(call.id);
    this.#silences.remove(call.silence);
    this.#sockets.free(socket, this.#out.now);
    this.#out.effects.push({ kind: 'final', id: call.id, reply });
    this.#feed();
  }

  #onPartial(call: Call<Request>, reply: Reply): void {
    this.#out.counters.partials++;
    call.hurried = false;
    this.#listen(call);
    if (!call.order.streaming) return;
    call.answered = true;
    this.#out.effects.push({ kind: 'partial', id: call.id, reply });
  }

  /** A socket that delivers a message nobody waits for no longer correlates replies. An open call keeps waiting. */
  #onNoReply(reason: RequestDropReason<Reason>, socket: RequestSocket<Call<Request>>): void {
    if (verdictOf(socket, 'no reply') === 'discard') this.#sockets.discard(socket);
    this.#out.drop(reason, this.#endpoints.name(socket.endpoint));
  }

  #onLost(socket: RequestSocket<Call<Request>>): void {
    this.#out.report({ code: 'connection-lost', endpoint: this.#endpoints.name(socket.endpoint) });
    const verdict = verdictOf(socket, 'lost');
    const { call } = socket;
    if (call === undefined) this.#sockets.discard(socket);
    else if (verdict === 'fail') this.#end(call, 'PEER_LOST');
    else if (verdict === 'hurry' && call.sends < call.order.tries) {
      call.hurried = true;
      this.#resend(call, socket, 'connection-lost');
    }
  }

  #onAbort(id: number): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#out.counters.aborts++;
    this.#forget(call);
    this.#feed();
  }

  #onClose(): void {
    this.#closed = true;
    for (const call of this.#calls.values()) {
      this.#forget(call);
      this.#out.fail(call, 'CLOSED', this.#endpoints);
    }
    this.#sockets.discardAll();
  }

  #onTimer(lateMs: number): void {
    const { now } = this.#out;
    if (lateMs > 0) this.#excusedUntil = Math.max(this.#excusedUntil, now + lateMs);
    for (let call = this.#silences.takeDue(now); call !== undefined; call = this.#silences.takeDue(now))
      this.#onSilence(call, call.socket as RequestSocket<Call<Request>>);
    this.#sockets.expire(now);
  }

  #onSilence(call: Call<Request>, socket: RequestSocket<Call<Request>>): void {
    if (!call.credited && this.#excusedUntil > this.#out.now) {
      // The reply may be unread in the socket: docs/adr/0004. Once, and no longer than a timeout, or a busy process would wait for ever.
      call.credited = true;
      this.#silences.set(call.silence, Math.min(this.#excusedUntil, this.#out.now + call.order.timeoutMs));
      return;
    }
    this.#endpoints.silent(socket.endpoint, call.sentAt);
    if (verdictOf(socket, 'silence') === 'fail') this.#end(call, 'PEER_LOST');
    else if (call.sends >= call.order.tries) this.#end(call, 'TIMEOUT');
    else {
      call.hurried = false;
      this.#resend(call, socket, 'silence');
    }
  }

  /** Gives free sockets, and the room for new ones, to waiting calls. */
  #feed(): void {
    while (this.#waiting.size > 0) {
      const socket = this.#sockets.acquire(this.#endpoints.first);
      if (socket === undefined) return;
      this.#send(this.#waiting.takeDue(this.#out.now) as Call<Request>, socket);
    }
  }

  #send(call: Call<Request>, socket: RequestSocket<Call<Request>>): void {
    const { now } = this.#out;
    if (call.sends === 0) {
      call.firstEndpoint = socket.endpoint;
      call.firstSentAt = now;
    }
    call.socket = socket;
    socket.call = call;
    call.sends++;
    call.sentAt = now;
    this.#out.counters.sends++;
    this.#listen(call);
    this.#out.effects.push({ kind: 'send', socket: socket.id, id: call.id, request: call.order.request });
  }

  #resend(call: Call<Request>, socket: RequestSocket<Call<Request>>, cause: 'silence' | 'connection-lost'): void {
    this.#sockets.discard(socket);
    const next = this.#sockets.open(this.#endpoints.after(socket.endpoint));
    this.#send(call, next);
    const endpoint = this.#endpoints.name(next.endpoint);
    this.#out.report({ code: 'request-resent', cause, endpoint, send: call.sends });
  }

  /** Restarts the silence timeout. */
  #listen(call: Call<Request>): void {
    call.credited = false;
    this.#silences.set(call.silence, this.#out.now + call.order.timeoutMs);
  }

  /** Ends a call without a final reply. */
  #end(call: Call<Request>, code: RequestFailure, cause?: unknown): void {
    this.#forget(call);
    this.#out.fail(call, code, this.#endpoints, cause);
    this.#feed();
  }

  /** Forgets the call. Its socket may still deliver the reply, so it is closed. */
  #forget(call: Call<Request>): void {
    this.#calls.delete(call.id);
    this.#waiting.remove(call.place);
    this.#silences.remove(call.silence);
    if (call.socket !== undefined) this.#sockets.discard(call.socket);
  }

  assertInvariants(): void {
    this.#sockets.assertInvariants();
    this.#silences.assertInvariants();
    const busy = [...this.#sockets.values()].flatMap((socket) => socket.call ?? []);
    if (new Set(busy).size !== busy.length) throw new Error('two sockets carry the same call');
    for (const { id, call } of this.#sockets.values())
      if (call !== undefined && call.socket?.id !== id) throw new Error(`socket ${id} and its call disagree`);
    for (const call of busy) {
      if (this.#calls.get(call.id) !== call) throw new Error(`call ${call.id} is over but still on a socket`);
      if (call.silence.at === Infinity) throw new Error(`call ${call.id} was sent but never times out`);
      if (call.sends < 1 || call.sends > call.order.tries) throw new Error(`call ${call.id}: ${call.sends} sends`);
    }
    if (this.#silences.size !== busy.length) throw new Error('a call times out that is on no socket');
    if (this.#calls.size !== busy.length + this.#waiting.size) throw new Error('a call neither waits nor is sent');
    if (this.#waiting.size > this.#waitingMax) throw new Error(`${this.#waiting.size} calls wait`);
    if (this.#waiting.size > 0 && !this.#sockets.full)
      throw new Error('a call waits although there is a socket for it');
    if (this.#closed && this.#calls.size + this.#sockets.size > 0) throw new Error('something is left after the close');
  }
}

function verdictOf<Request>({ call }: RequestSocket<Call<Request>>, event: RequestSocketEvent) {
  let state: RequestSocketState = 'free';
  if (call !== undefined) state = call.answered ? 'answered' : call.hurried ? 'hurried' : 'sent';
  return LEGALITY[state][event][0];
}
