/**
 * Runs a client's engine over request sockets: callers and signals on one side, sockets on the other. All decisions are the engine's. Knows no
 * protocol.
 */
import { ProjError, SessionHost, toBuffers } from '@proj/transport';
import type { Emitter, Engine, PortOptions, Transport } from '@proj/transport';
import { clientCurve, type ClientCurve } from '@proj/transport/curve';
import { ReplyBuffer } from '@proj/transport/service';
import type { ReplyBufferOptions } from '@proj/transport/service';
import type { TracedCall } from '@proj/transport/tracing';
import { loadTransport } from '@proj/zmtp';
import type { ClientEvents } from './shared/client-events.js';
import { onAbort } from './shared/on-abort.js';
import { unanswered } from './unanswered.js';
import type { Unanswered } from './unanswered.js';
import type {
  RequestAttempts,
  CallTerms,
  RequestEffect,
  RequestEvent,
  RequestFailure,
  RequestNote,
} from './shared/events.js';

/** What one protocol's client supplies. */
export interface RequestProgram<Request, Message, Reply extends object, Reason extends string> {
  readonly engine: Engine<RequestEvent<Request, Message>, RequestEffect<Request, Reply, Reason>>;
  encode(request: Request): readonly Uint8Array[];
  /** Total: bytes that are not a message become a value. */
  decode(frames: readonly Uint8Array[]): Message;
  /** The request's name in error messages, such as `service "echo"`. */
  describe(request: Request): string;
  /** The part of a reply that the caller gets. */
  bodyOf(reply: Reply): readonly Uint8Array[];
  /** The facade's listeners. */
  readonly events: Emitter<ClientEvents<RequestNote<Reason>>>;
}

/** The settings of a client that concern a {@link RequestRunner}. */
export interface RequestRunnerSettings {
  readonly transport?: Transport | undefined;
  readonly curve?: ClientCurve | undefined;
  readonly sockets: number;
  readonly waitingMax: number;
  readonly maxMessageFrames: number;
  readonly maxMessageBytes: number;
}

/** A call, as the facade starts it. */
export interface RequestCall<Request> extends Pick<CallTerms<Request>, 'request' | 'timeoutMs' | 'tries'> {
  /** Ends the call with the signal's reason. */
  readonly signal: AbortSignal | undefined;
  /** Called for each send and each partial reply. */
  readonly trace: TracedCall | undefined;
}

/** Receives the outcome of one call. */
interface Outcome {
  /** Adds one of several replies; false if there is no room for it. */
  partial(frames: Buffer[]): boolean;
  final(frames: Buffer[]): void;
  fail(error: unknown): void;
}

interface Caller<Request> {
  readonly request: Request;
  readonly outcome: Outcome;
  readonly bounds: ReplyBufferOptions | undefined;
  readonly trace: TracedCall | undefined;
  /** Stops listening to the call's AbortSignal. */
  readonly release: () => void;
}

const accept = (): boolean => true;
const nothing = (): void => undefined;
const NOTHING_KNOWN: Unanswered = { words: '', details: {} };

/** Opens the engine's sockets, delivers replies to callers, converts failures to errors. */
export class RequestRunner<Request, Message, Reply extends object, Reason extends string> {
  readonly #program: RequestProgram<Request, Message, Reply, Reason>;
  readonly #port: PortOptions;
  /** Limit of calls before the transport is loaded. */
  readonly #earlyMax: number;
  readonly #callers = new Map<number, Caller<Request>>();
  readonly #host: SessionHost<RequestEvent<Request, Message>, RequestEffect<Request, Reply, Reason>>;
  #closing: Promise<void> | undefined;
  #lastId = 0;
  #isTraced = false;

  constructor(program: RequestProgram<Request, Message, Reply, Reason>, settings: RequestRunnerSettings) {
    const { transport, curve, sockets, waitingMax, maxMessageFrames, maxMessageBytes } = settings;
    this.#program = program;
    this.#port = { maxMessageFrames, maxMessageBytes, ...clientCurve(curve) };
    this.#earlyMax = sockets + waitingMax;
    this.#host = new SessionHost<RequestEvent<Request, Message>, RequestEffect<Request, Reply, Reason>>(
      {
        engine: program.engine,
        perform: this.#perform,
        onMessage: (socket, frames) => ({ kind: 'message', socket, message: program.decode(frames) }),
        onRejected: (socket, reason) => ({ kind: 'rejected', socket, reason }),
        onLost: (socket) => ({ kind: 'lost', socket }),
        onUnopened: (socket, cause) => ({ kind: 'refused', socket, cause }),
        onRefused: program.events.forward('refused'),
      },
      () => loadTransport(transport, curve),
    );
  }

  /** The final reply; partial ones only show life. Rejects with a `ProjError` or, if aborted, with the signal's reason. */
  request(call: RequestCall<Request>): Promise<Buffer[]> {
    return new Promise((resolve, reject) => {
      this.#begin(call, { partial: accept, final: resolve, fail: reject });
    });
  }

  /**
   * Partial replies as they arrive, with the final one as the return value. The call begins with the first `next()` and ends with the iterator:
   * leaving early aborts it. If the buffer overflows, the reader gets `QUEUE_FULL` after its contents.
   */
  async *stream(call: RequestCall<Request>, bounds: ReplyBufferOptions): AsyncGenerator<Buffer[], Buffer[], undefined> {
    const buffer = new ReplyBuffer(bounds);
    const id = this.#begin(call, buffer, bounds);
    try {
      while (true) {
        const { done, value } = await buffer.next();
        // Replies from before the abort no longer matter.
        call.signal?.throwIfAborted();
        if (done === true) return value;
        yield value;
      }
    } finally {
      this.#abort(id);
    }
  }

  /** Fails open calls with `CLOSED` and resolves when every socket is closed. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** `bounds`: the bounds of a stream's buffer. */
  #begin(order: RequestCall<Request>, outcome: Outcome, bounds?: ReplyBufferOptions): number {
    const { request, timeoutMs, tries, signal, trace } = order;
    const id = ++this.#lastId;
    if (signal?.aborted === true) outcome.fail(signal.reason);
    else if (this.#closing !== undefined) outcome.fail(this.#error('CLOSED', request));
    else if (this.#host.early >= this.#earlyMax) outcome.fail(this.#error('QUEUE_FULL', request));
    else {
      if (trace !== undefined) this.#isTraced = true;
      this.#callers.set(id, { request, outcome, bounds, trace, release: this.#listen(id, signal) });
      const event = { kind: 'request', id, request, timeoutMs, tries, streaming: bounds !== undefined } as const;
      this.#host.whenLoaded(
        () => {
          if (this.#callers.has(id)) this.#host.dispatch(event);
        },
        (error) => this.#take(id)?.outcome.fail(error ?? this.#error('CLOSED', request)),
      );
    }
    return id;
  }

  #listen(id: number, signal: AbortSignal | undefined): () => void {
    if (signal === undefined) return nothing;
    return onAbort(signal, () => {
      const caller = this.#abort(id);
      caller?.outcome.fail(signal.reason);
    });
  }

  /** Ends the call for the engine and returns its caller; `undefined` if it has already ended. */
  #abort(id: number): Caller<Request> | undefined {
    const caller = this.#take(id);
    if (caller !== undefined) this.#host.dispatch({ kind: 'abort', id });
    return caller;
  }

  #take(id: number): Caller<Request> | undefined {
    const caller = this.#callers.get(id);
    this.#callers.delete(id);
    caller?.release();
    return caller;
  }

  readonly #perform = (effect: RequestEffect<Request, Reply, Reason>): void => {
    switch (effect.kind) {
      case 'open':
        this.#host.open(effect.socket, { endpoints: [effect.endpoint], port: this.#port });
        break;
      case 'close':
        // An unsent request must not be sent after its call has ended.
        this.#host.closeSocket(effect.socket, false);
        break;
      case 'send':
        if (this.#isTraced) this.#callers.get(effect.id)?.trace?.sent();
        this.#host.send(effect.socket, this.#program.encode(effect.request));
        break;
      case 'partial':
        this.#onPartial(effect.id, effect.reply);
        break;
      case 'final':
        this.#take(effect.id)?.outcome.final(this.#framesOf(effect.reply));
        break;
      case 'fail': {
        const caller = this.#take(effect.id);
        caller?.outcome.fail(this.#error(effect.code, caller.request, effect.attempts, effect.cause));
        break;
      }
      case 'note':
        this.#program.events.emit('note', effect.note);
        break;
    }
  };

  #onPartial(id: number, reply: Reply): void {
    const caller = this.#callers.get(id);
    caller?.trace?.event('partial reply');
    if (caller === undefined || caller.outcome.partial(this.#framesOf(reply))) return;
    this.#abort(id);
    const { repliesMax = 0, bytesMax = 0 } = caller.bounds ?? {};
    const subject = this.#program.describe(caller.request);
    const waiting = `${repliesMax} replies or ${bytesMax} bytes`;
    caller.outcome.fail(
      new ProjError(
        'QUEUE_FULL',
        `${subject}: the reader is too slow: ${waiting} are unread (options streamBufferMax, streamBufferMaxBytes)`,
      ),
    );
  }

  #framesOf(reply: Reply): Buffer[] {
    return toBuffers(this.#program.bodyOf(reply));
  }

  async #close(): Promise<void> {
    const closed = this.#host.close({ kind: 'close' });
    // Calls that have not reached the engine, or whose end it will not report: a listener of its notes may close us.
    for (const id of this.#callers.keys()) {
      const caller = this.#take(id);
      caller?.outcome.fail(this.#error('CLOSED', caller.request));
    }
    await closed;
  }

  #error(code: RequestFailure, request: Request, attempts?: RequestAttempts, cause?: unknown): ProjError {
    const { endpoints = [], totalMs = 0 } = attempts ?? {};
    const { words, details } = code === 'TIMEOUT' ? unanswered(this.#host, endpoints) : NOTHING_KNOWN;
    const text = `${this.#program.describe(request)}: ${explain(code, endpoints, totalMs, cause)}${words}`;
    const tried = { endpoints, tries: endpoints.length, totalMs, ...details };
    return new ProjError(code, text, { details: tried, ...(cause === undefined ? {} : { cause }) });
  }
}

function explain(code: RequestFailure, endpoints: readonly string[], totalMs: number, cause: unknown): string {
  const sends = endpoints.length === 1 ? '1 send' : `${endpoints.length} sends`;
  const tried = `${sends} in ${Math.round(totalMs)} ms (${endpoints.join(', ')})`;
  switch (code) {
    case 'TIMEOUT':
      return `no answer to ${tried}`;
    case 'PEER_LOST':
      return `no further reply after partial ones, so it was not sent again; ${tried}`;
    case 'QUEUE_FULL':
      return 'too many calls are waiting for a socket (option waitingMax)';
    case 'UNREACHABLE':
      return `cannot open a socket: ${cause instanceof Error ? cause.message : String(cause)}`;
    case 'CLOSED':
      return 'the client is closed';
  }
}
