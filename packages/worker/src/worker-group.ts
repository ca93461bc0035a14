/** A worker as its user sees it, in any protocol: several sessions with one handler, one life cycle, one set of events and counters. */
import type { Engine, HandshakeRefusal, Transport } from '@proj/transport';
import { clientCurve, type ClientCurve } from '@proj/transport/curve';
import type { FrameHandler } from '@proj/transport/service';
import type { LossReason, WorkerEffect, WorkerEvent, WorkerNote } from './shared/events.js';
import { WorkerLife } from './worker-life.js';
import { WorkerRunner } from './worker-runner.js';
import type { WorkerCodec, WorkerCounts, WorkerRunnerOptions, WorkerTraces } from './worker-runner.js';

/** Events of a worker. `session` counts from 0 to `concurrency` - 1. */
export interface WorkerEvents<Note> {
  /** First message from the broker in a conversation: its first heartbeat, if no request comes before. */
  ready: { readonly session: number; readonly endpoint: string };
  /** A conversation was lost; the next one begins in `retryInMs`, or never if that is absent. */
  lost: {
    readonly session: number;
    readonly endpoint: string;
    readonly reason: LossReason;
    readonly retryInMs?: number;
  };
  /** A note for a log line or a counter, including `ready` and `lost`. */
  note: { readonly session: number; readonly note: Note };
  /** A handshake with a broker failed, because of its key or ours; it will be retried. */
  refused: { readonly session: number; readonly refusal: HandshakeRefusal };
  /**
   * A handler threw or violated its service's schema, `onError` threw, or a socket failed. The worker continues. Without a listener: standard
   * error, once a minute.
   */
  error: { readonly session: number; readonly error: unknown };
}

/** A worker's totals, over all its sessions. */
export interface WorkerStats<Drop extends string> extends WorkerCounts {
  /** Handlers running now. */
  readonly busy: number;
  /** Conversations with at least one message from the broker. */
  readonly conversations: number;
  /** Results that arrived after their conversation had ended. */
  readonly discarded: number;
  /** Lost conversations by reason. */
  readonly lost: Readonly<Partial<Record<LossReason, number>>>;
  /** Dropped messages by reason, including requests (`busy`, `leaving`). */
  readonly dropped: Readonly<Partial<Record<Drop | 'busy' | 'leaving', number>>>;
}

/** What one protocol's worker supplies. */
export interface WorkerGroupProgram<Incoming, Outgoing, Note> extends WorkerCodec<Incoming, Outgoing>, WorkerTraces {
  /** Begins error messages. */
  readonly name: string;
  /** A new session. `random` returns a number in [0, 1), `index` counts from 0 to `concurrency` - 1. */
  session(random: () => number, index: number): Engine<WorkerEvent<Incoming>, WorkerEffect<Outgoing, Note>>;
  /** The handler of one session; `report` receives errors that did not prevent a reply. */
  handle(report: (error: unknown) => void): FrameHandler;
}

/** Settings of a {@link WorkerGroup}. */
export interface WorkerGroupOptions extends Omit<WorkerRunnerOptions, 'port'> {
  readonly concurrency: number;
  readonly maxMessageFrames: number;
  readonly maxMessageBytes: number;
  readonly curve?: ClientCurve | undefined;
  readonly transport?: Transport | undefined;
}

/** Runs `concurrency` sessions from `start` to `drain` or `close`. */
export class WorkerGroup<Incoming, Outgoing, Drop extends string, Leave extends string> {
  readonly #program: WorkerGroupProgram<Incoming, Outgoing, WorkerNote<Drop, Leave>>;
  readonly #options: WorkerGroupOptions & WorkerRunnerOptions;
  readonly #life: WorkerLife<WorkerEvents<WorkerNote<Drop, Leave>>>;
  readonly #counts = { conversations: 0, discarded: 0 };
  readonly #lost: Partial<Record<LossReason, number>> = {};
  readonly #dropped: Partial<Record<Drop | 'busy' | 'leaving', number>> = {};
  readonly #runners: WorkerRunner<Incoming, Outgoing, WorkerNote<Drop, Leave>>[] = [];

  constructor(program: WorkerGroupProgram<Incoming, Outgoing, WorkerNote<Drop, Leave>>, options: WorkerGroupOptions) {
    const { maxMessageFrames, maxMessageBytes, curve } = options;
    this.#program = program;
    this.#options = { ...options, port: { maxMessageFrames, maxMessageBytes, ...clientCurve(curve) } };
    this.#life = new WorkerLife(program.name);
  }

  /** Opens all sessions, or none. */
  start(): Promise<void> {
    return this.#life.start(this.#options.transport, this.#options.curve, (transport) => this.#start(transport));
  }

  /** Ends all sessions, after their work or at once; resolves when no socket is open and no handler runs. May be repeated. */
  async finish(how: 'drain' | 'close'): Promise<void> {
    // A start that is still loading notices by itself: it has opened nothing yet.
    this.#life.end();
    await Promise.all(this.#runners.map((runner) => runner.finish(how)));
  }

  on<Name extends keyof WorkerEvents<unknown>>(
    name: Name,
    listener: (event: WorkerEvents<WorkerNote<Drop, Leave>>[Name]) => void,
  ): () => void {
    return this.#life.on(name, listener);
  }

  /** A copy of the counters since construction. */
  stats(): WorkerStats<Drop> {
    const sum = { requests: 0, replies: 0, partials: 0, failures: 0, busy: 0 };
    for (const { counts, isBusy } of this.#runners) {
      sum.requests += counts.requests;
      sum.replies += counts.replies;
      sum.partials += counts.partials;
      sum.failures += counts.failures;
      if (isBusy) sum.busy++;
    }
    return { ...sum, ...this.#counts, lost: { ...this.#lost }, dropped: { ...this.#dropped } };
  }

  async #start(transport: Transport): Promise<void> {
    for (let session = 0; session < this.#options.concurrency; session++)
      this.#runners.push(this.#runner(session, transport));
    try {
      for (const runner of this.#runners) runner.start();
      if (this.#options.binds) await Promise.all(this.#runners.map((runner) => runner.bound()));
    } catch (error) {
      await this.finish('close');
      throw error;
    }
  }

  #runner(session: number, transport: Transport): WorkerRunner<Incoming, Outgoing, WorkerNote<Drop, Leave>> {
    const onError = (error: unknown): void => {
      this.#life.fail({ session, error });
    };
    return new WorkerRunner<Incoming, Outgoing, WorkerNote<Drop, Leave>>(
      {
        codec: this.#program,
        session: this.#program.session(() => transport.entropy.random(), session),
        handle: this.#program.handle(onError),
        tracing: this.#program.tracing,
        plan: this.#program.plan,
        onNote: (note) => {
          this.#onNote(session, note);
        },
        onRefused: (refusal) => {
          this.#life.emit('refused', { session, refusal });
        },
        onError,
      },
      this.#options,
      transport,
    );
  }

  #onNote(session: number, note: WorkerNote<Drop, Leave>): void {
    switch (note.code) {
      case 'ready':
        this.#counts.conversations++;
        this.#life.emit('ready', { session, endpoint: note.endpoint });
        break;
      case 'lost': {
        const { code: _code, ...lost } = note;
        this.#lost[note.reason] = (this.#lost[note.reason] ?? 0) + 1;
        this.#life.emit('lost', { session, ...lost });
        break;
      }
      case 'message-dropped':
      case 'request-dropped':
        this.#dropped[note.reason] = (this.#dropped[note.reason] ?? 0) + 1;
        break;
      case 'result-discarded':
        this.#counts.discarded++;
        break;
      case 'left':
        break;
    }
    this.#life.emit('note', { session, note });
  }
}
