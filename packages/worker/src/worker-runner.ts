/** Runs one session of a worker and its handler. All decisions are the session's. Knows no protocol. */
import { ProjError, SessionHost } from '@proj/transport';
import type { BodyInput, Engine, HandshakeRefusal, PortOptions, Transport } from '@proj/transport';
import { HandlerRun, untilRoom } from '@proj/transport/service';
import type { FrameHandler } from '@proj/transport/service';
import { carrierInBody, withoutTraceFrame } from '@proj/transport/tracing';
import type { TracedCall, TracedPlan, Tracing } from '@proj/transport/tracing';
import type { CancelReason, Envelope, Frames, WorkerEffect, WorkerEvent } from './shared/events.js';

/** How one protocol encodes commands, and what it sends instead of a missing reply. */
export interface WorkerCodec<Incoming, Outgoing> {
  encode(command: Outgoing): readonly Uint8Array[];
  /** Total: bytes that are not a message become a value. */
  decode(frames: readonly Uint8Array[]): Incoming;
  /** The reply to send if a handler threw; `undefined` for none. */
  onFailure(error: unknown, body: Frames): BodyInput | undefined | Promise<BodyInput | undefined>;
}

/** Traces jobs, with the common attributes of their spans. */
export interface WorkerTraces {
  readonly tracing: Tracing;
  readonly plan: Omit<TracedPlan, 'carrier'>;
}

/** One session and its surroundings. */
export interface WorkerProgram<Incoming, Outgoing, Note> extends WorkerTraces {
  readonly codec: WorkerCodec<Incoming, Outgoing>;
  readonly session: Engine<WorkerEvent<Incoming>, WorkerEffect<Outgoing, Note>>;
  readonly handle: FrameHandler;
  /** `ready`: the first message from the broker has arrived. */
  readonly onNote: (note: Note) => void;
  /** A CURVE handshake failed; it will be retried. */
  readonly onRefused: (refusal: HandshakeRefusal) => void;
  readonly onError: (error: unknown) => void;
}

/** Settings of a {@link WorkerRunner}. */
export interface WorkerRunnerOptions {
  readonly port: PortOptions & { readonly maxMessageFrames: number; readonly maxMessageBytes: number };
  /** False if the protocol has no partial replies: their frames are sent with the last one. */
  readonly partials: boolean;
  /** True if the worker binds and the other side connects. Default false. */
  readonly binds?: boolean;
}

/** A runner's counters. */
export interface WorkerCounts {
  /** Handlers started. */
  readonly requests: number;
  /** Handlers that ended with a reply, including one from `onError`. */
  readonly replies: number;
  readonly partials: number;
  /** Handlers that threw, whether or not a reply was sent. Cancelled ones do not count. */
  readonly failures: number;
}

/** Runs one worker session: opens and closes its sockets, keeps its timer, runs its handler. */
export class WorkerRunner<Incoming, Outgoing, Note extends { readonly code: string }> {
  readonly counts = { requests: 0, replies: 0, partials: 0, failures: 0 } satisfies WorkerCounts;
  readonly #program: WorkerProgram<Incoming, Outgoing, Note>;
  readonly #options: WorkerRunnerOptions;
  readonly #transport: Transport;
  readonly #host: SessionHost<WorkerEvent<Incoming>, WorkerEffect<Outgoing, Note>>;
  #job: HandlerRun | undefined;
  #trace: TracedCall | undefined;
  #running: Promise<void> | undefined;
  #binding: Promise<void> | undefined;
  /** The socket opened last. */
  #opened = 0;
  /** READY was sent on this socket, and nothing has arrived there since. */
  #unheard: { readonly socket: number; readonly note: Note } | undefined;

  /** The transport must be loaded. */
  constructor(program: WorkerProgram<Incoming, Outgoing, Note>, options: WorkerRunnerOptions, transport: Transport) {
    this.#program = program;
    this.#options = options;
    this.#transport = transport;
    this.#host = new SessionHost<WorkerEvent<Incoming>, WorkerEffect<Outgoing, Note>>(
      {
        engine: program.session,
        perform: this.#perform,
        onMessage: (socket, frames) => {
          this.#heard(socket);
          return { kind: 'message', socket, command: program.codec.decode(frames) };
        },
        onRejected: (socket, reason) => ({ kind: 'rejected', socket, reason }),
        onLost: (socket, reason) => ({ kind: 'lost', socket, reason }),
        ...(options.binds
          ? { onBound: (socket) => ({ kind: 'bound', socket }), onSent: (socket) => ({ kind: 'sent', socket }) }
          : {}),
        onRefused: program.onRefused,
        onError: program.onError,
      },
      transport,
    );
  }

  /** True while a handler runs. */
  get isBusy(): boolean {
    return this.#job !== undefined;
  }

  /** Opens the first socket, which may still have to be bound ({@link bound}). Throws if the transport refuses its endpoint. */
  start(): void {
    this.#host.start({ kind: 'start' });
  }

  /** Resolves when the first socket is bound, if the worker binds. Rejects if the transport refuses its endpoint. */
  async bound(): Promise<void> {
    await this.#binding;
    this.#host.assertOpened();
  }

  /** Ends the session, after its work or at once; resolves when the sockets are closed and no handler runs. May be repeated. */
  async finish(how: 'drain' | 'close'): Promise<void> {
    await this.#host.finish({ kind: how });
    await this.#running;
  }

  readonly #perform = (effect: WorkerEffect<Outgoing, Note>): void => {
    switch (effect.kind) {
      case 'open':
        this.#open(effect.socket, effect.endpoint);
        break;
      case 'send':
        this.#host.send(effect.socket, this.#program.codec.encode(effect.command));
        break;
      case 'close':
        this.#host.closeSocket(effect.socket, effect.flush);
        break;
      case 'run':
        this.#running = this.#run(effect.job, effect.body, effect.envelope);
        break;
      case 'cancel':
        this.#job?.cancel(cancellation(effect.reason));
        break;
      case 'note':
        this.#note(effect.note);
        break;
      case 'ended':
        this.#host.ended();
        break;
    }
  };

  /** Delays `ready` until the first message from the broker: a socket opens whether or not a broker is there. */
  #note(note: Note): void {
    if (note.code === 'ready') {
      this.#unheard = { socket: this.#opened, note };
      return;
    }
    if (note.code === 'lost' || note.code === 'left') this.#unheard = undefined;
    this.#program.onNote(note);
  }

  #heard(socket: number): void {
    if (this.#unheard?.socket !== socket) return;
    const { note } = this.#unheard;
    this.#unheard = undefined;
    this.#program.onNote(note);
  }

  #open(socket: number, endpoint: string): void {
    this.#opened = socket;
    const request = { endpoints: [endpoint], port: this.#options.port };
    if (this.#options.binds) this.#binding = this.#host.bind(socket, request);
    else this.#host.open(socket, request);
  }

  async #run(id: number, frames: Frames, envelope: Envelope): Promise<void> {
    const body = withoutTraceFrame(frames);
    const { handle, tracing, plan } = this.#program;
    const trace = tracing.isOn ? tracing.begin({ ...plan, carrier: carrierInBody(frames) }) : undefined;
    this.#trace = trace;
    const { port, partials } = this.#options;
    const limits = { frames: port.maxMessageFrames - envelope.frames, bytes: port.maxMessageBytes - envelope.bytes };
    const job = new HandlerRun(id, limits, partials ? this.#sendPartial : undefined);
    this.#job = job;
    this.counts.requests++;
    let reply: Frames | undefined;
    try {
      reply = await (trace === undefined ? job.run(handle, body) : trace.run(() => job.run(handle, body)));
      if (!job.isCancelled) trace?.end();
    } catch (error) {
      // Whatever a handler throws after it was told to stop is its way of stopping.
      if (!job.isCancelled) trace?.fail(error);
      if (!job.isCancelled) reply = await this.#failed(job, error, body);
    }
    if (job.isCancelled) trace?.fail(job.signal.reason);
    this.#job = undefined;
    if (reply === undefined) this.#host.dispatch({ kind: 'failed', job: id });
    else {
      if (!job.isCancelled) this.counts.replies++;
      this.#host.dispatch({ kind: 'final', job: id, body: reply });
    }
  }

  async #failed(job: HandlerRun, error: unknown, body: Frames): Promise<Frames | undefined> {
    this.counts.failures++;
    this.#program.onError(error);
    try {
      const reply = await this.#program.codec.onFailure(error, body);
      return reply === undefined ? undefined : job.substitute(reply);
    } catch (second) {
      this.#program.onError(second);
      return undefined;
    }
  }

  readonly #sendPartial = async (job: HandlerRun, body: Frames): Promise<void> => {
    this.counts.partials++;
    this.#trace?.event('partial reply');
    this.#host.dispatch({ kind: 'partial', job: job.id, body });
    await untilRoom(this.#host, this.#transport.clock, () => job.isCancelled);
  };
}

function cancellation(reason: CancelReason): ProjError {
  if (reason === 'closed' || reason === 'drain-timeout')
    return new ProjError('CLOSED', `request: canceled because the worker is closing (${reason})`);
  return new ProjError('PEER_LOST', `request: canceled because the conversation with the broker was lost (${reason})`);
}
