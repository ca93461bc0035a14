/** EventMQ client: runs the session; callers and their signals on one side, sockets on the other. Decisions: engine/session.ts. */
import { fromLatin1 } from '@proj/frames';
import { decodeEmqpAtClient, encodeEmqp } from '@proj/frames/emqp';
import type { EmqpRequest, EmqpScheduling } from '@proj/frames/emqp';
import { ProjError, SessionHost } from '@proj/transport';
import type { Departures, HandshakeRefusal, PortOptions, Transport } from '@proj/transport';
import type { TracedCall } from '@proj/transport/tracing';
import { loadTransport } from '@proj/zmtp';
import { onAbort } from '../shared/on-abort.js';
import { unanswered } from '../unanswered.js';
import type {
  EmqpClientEffect,
  EmqpClientEvent,
  EmqpClientFailure,
  EmqpClientNote,
  EmqpClientStats,
} from './engine/events.js';
import { EmqpClientSession } from './engine/session.js';
import { idOf, readResult } from './job.js';
import type { EmqpClientSettings } from './options.js';

/** A job the broker has accepted. */
export interface EmqpDeferred {
  /** Id of the REQUEST: what logs of broker and worker call the job. */
  readonly id: string;
  /**
   * What the job returned, with `replyRequested`. A job that failed returns the text of its error: the protocol does not tell
   * the two apart. Rejects with a `ProjError`; a rejection that nobody handles is no error.
   */
  readonly result: Promise<unknown> | undefined;
}

/** A command as a caller orders it. */
export interface CommandOrder {
  /** What error messages call it. */
  readonly subject: string;
  /** As the wire has it, except for the id, which the transport provides. */
  readonly draft: Omit<EmqpRequest, 'id'> | Omit<EmqpScheduling, 'id'>;
  readonly wantsResult: boolean;
  readonly mayRepeat: boolean;
}

/** A command on its way, from the caller's side. */
interface CommandCall extends CommandOrder {
  readonly taken: (deferred: EmqpDeferred) => void;
  /** Rejects what the caller waits for now: the acceptance, then the result. */
  fail: (error: unknown) => void;
  succeed: (result: unknown) => void;
  /** The broker has accepted it, and its result is awaited. */
  isAccepted: boolean;
  /** Chosen when it goes to the session. */
  id: string | undefined;
  /** Stops listening to the caller's signal. */
  release: () => void;
  readonly trace: TracedCall | undefined;
  isOver: boolean;
}

const ignore = (): void => undefined;

/** Whom a {@link CommandRunner} tells. */
export interface CommandRunnerListener {
  onNote(note: EmqpClientNote): void;
  onRefused(refusal: HandshakeRefusal): void;
}

/** The options of a port that speaks to EventMQ, with a routing id in ASCII: one of ZeroMQ's own making ends EventMQ's router. */
export function namedPort(options: PortOptions, { entropy }: Transport): PortOptions {
  return { ...options, routingId: fromLatin1(entropy.uuid()) };
}

/** Carries commands to the session and outcomes back. */
export class CommandRunner {
  readonly #settings: EmqpClientSettings;
  readonly #port: PortOptions;
  readonly #listener: CommandRunnerListener;
  readonly #session: EmqpClientSession<CommandCall>;
  readonly #host: SessionHost<EmqpClientEvent<CommandCall>, EmqpClientEffect<CommandCall>>;
  #isClosed = false;

  constructor(
    settings: EmqpClientSettings,
    port: PortOptions,
    departures: Departures,
    listener: CommandRunnerListener,
  ) {
    this.#settings = settings;
    this.#port = port;
    this.#listener = listener;
    this.#session = new EmqpClientSession(settings);
    this.#host = new SessionHost<EmqpClientEvent<CommandCall>, EmqpClientEffect<CommandCall>>(
      {
        engine: this.#session,
        perform: this.#perform,
        onMessage: (socket, frames) => ({ kind: 'message', socket, message: decodeEmqpAtClient(frames) }),
        onRejected: (socket, reason) => ({ kind: 'rejected', socket, reason }),
        onSent: (socket, frames) => ({ kind: 'sent', socket, id: idOf(frames) }),
        onUndeliverable: (socket, frames) => ({ kind: 'unsent', socket, id: idOf(frames) }),
        onLost: (socket) => ({ kind: 'lost', socket }),
        onUnopened: (socket, cause) => ({ kind: 'refused', socket, cause }),
        onRefused: (refusal) => {
          listener.onRefused(refusal);
        },
      },
      () => loadTransport(settings.transport, settings.curve),
      departures,
    );
  }

  get stats(): EmqpClientStats {
    return this.#session.stats;
  }

  /** Loads the transport. Rejects with `UNAVAILABLE`. */
  load(): Promise<Transport> {
    return this.#host.load();
  }

  /** Resolves when the command is accepted. `prepare` may throw, which rejects. */
  run(
    prepare: () => CommandOrder & { readonly signal: AbortSignal | undefined },
    trace?: TracedCall,
  ): Promise<EmqpDeferred> {
    return new Promise((resolve, reject) => {
      const { signal, ...order } = traced(prepare, trace);
      const state = { fail: reject, succeed: ignore, isAccepted: false, id: undefined, release: ignore, isOver: false };
      this.#begin({ ...order, taken: resolve, trace, ...state }, signal);
    });
  }

  /** Rejects open and later commands with `CLOSED`; resolves when the sockets are closed. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#host.close({ kind: 'close' });
  }

  #begin(call: CommandCall, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) this.#fail(call, signal.reason);
    else if (this.#isClosed) this.#fail(call, this.#error(call, 'CLOSED'));
    else if (this.#host.early >= this.#settings.openMax) this.#fail(call, this.#error(call, 'QUEUE_FULL'));
    else {
      if (signal !== undefined)
        call.release = onAbort(signal, () => {
          this.#fail(call, signal.reason);
          if (call.id !== undefined) this.#host.dispatch({ kind: 'abort', id: call.id });
        });
      this.#host.whenLoaded(
        (transport) => {
          if (!call.isOver) this.#order(call, transport);
        },
        (error) => {
          this.#fail(call, error ?? this.#error(call, 'CLOSED'));
        },
      );
    }
  }

  #order(call: CommandCall, { entropy }: Transport): void {
    const id = (call.id = entropy.uuid());
    call.trace?.set('messaging.message.id', id);
    const { draft, wantsResult, mayRepeat } = call;
    const command = { ...draft, id };
    this.#host.dispatch({ kind: 'order', order: { ticket: call, command, wantsResult, mayRepeat } });
  }

  readonly #perform = (effect: EmqpClientEffect<CommandCall>): void => {
    const transport = this.#host.transport as Transport;
    switch (effect.kind) {
      case 'open':
        this.#host.open(effect.socket, { endpoints: [effect.endpoint], port: namedPort(this.#port, transport) });
        break;
      case 'close':
        this.#host.closeSocket(effect.socket, effect.linger);
        break;
      case 'send':
        effect.ticket.trace?.sent();
        this.#host.send(effect.socket, encodeEmqp(effect.command));
        break;
      case 'bye':
        this.#host.send(effect.socket, encodeEmqp({ kind: 'bye', id: transport.entropy.uuid(), word: 'KBAI' }));
        break;
      case 'taken':
        this.#onTaken(effect.ticket);
        break;
      case 'result':
        this.#onResult(effect.ticket, effect.result);
        break;
      case 'failed':
        this.#fail(effect.ticket, this.#error(effect.ticket, effect.code, effect.cause));
        break;
      case 'note':
        this.#listener.onNote(effect.note);
        break;
    }
  };

  #onTaken(call: CommandCall): void {
    if (call.isOver) return;
    const id = call.id as string;
    if (!call.wantsResult) {
      this.#finish(call);
      call.trace?.end();
      call.taken({ id, result: undefined });
      return;
    }
    call.isAccepted = true;
    call.trace?.event('accepted');
    const result = new Promise<unknown>((resolve, reject) => {
      call.succeed = resolve;
      call.fail = reject;
    });
    result.catch(ignore);
    call.taken({ id, result });
  }

  #onResult(call: CommandCall, frame: Uint8Array): void {
    if (call.isOver) return;
    try {
      const result = readResult(call.subject, frame);
      this.#finish(call);
      call.trace?.end();
      call.succeed(result);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  /** Whatever comes after the first end is ignored. */
  #fail(call: CommandCall, error: unknown): void {
    if (call.isOver) return;
    this.#finish(call);
    call.trace?.fail(error);
    call.fail(error);
  }

  #finish(call: CommandCall): void {
    call.isOver = true;
    call.release();
  }

  #error({ subject, isAccepted }: CommandCall, code: EmqpClientFailure, cause?: unknown): ProjError {
    const { endpoints } = this.#settings;
    const known = code === 'TIMEOUT' ? unanswered(this.#host, endpoints, 'is a broker there?') : undefined;
    const text = `${subject}: ${explain(code, this.#settings, isAccepted, cause)}${known?.words ?? ''}`;
    return new ProjError(code, text, { details: known?.details, ...(cause === undefined ? {} : { cause }) });
  }
}

/** What throws before it is a command is the failure of its call, too. */
function traced<Order>(prepare: () => Order, trace: TracedCall | undefined): Order {
  try {
    return prepare();
  } catch (error) {
    trace?.fail(error);
    throw error;
  }
}

function explain(code: EmqpClientFailure, settings: EmqpClientSettings, isAccepted: boolean, cause: unknown): string {
  const { endpoints, timeoutMs, resultTimeoutMs, openMax } = settings;
  switch (code) {
    case 'TIMEOUT':
      return isAccepted
        ? `accepted, but no result within ${resultTimeoutMs} ms (${endpoints.join(', ')})`
        : `no acceptance within ${timeoutMs} ms (${endpoints.join(', ')})`;
    case 'PEER_LOST':
      return 'the connection ended first; the job may still run';
    case 'QUEUE_FULL':
      return `${openMax} calls are open, or the transport has no room; await some, or raise option openMax`;
    case 'UNREACHABLE':
      return `cannot open a socket: ${cause instanceof Error ? cause.message : String(cause)}`;
    case 'CLOSED':
      return 'the client is closed';
  }
}
