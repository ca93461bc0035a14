/** EventMQ client: the engine's state of each command and connection. */
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { EmqpClientSessionOptions, EmqpOrder } from './events.js';
import type { CommandState } from './legality.js';

/** A socket to one broker. */
export interface Connection {
  readonly socket: number;
  readonly endpoint: string;
  readonly openedAt: number;
  /** When its last reply arrived; before that, when it was opened. */
  heardAt: number;
  /** Commands that await replies from it. */
  open: number;
  /** It said DISCONNECT: our farewell follows its last command. */
  isTold: boolean;
}

/** A command without an outcome. */
export class Command<Ticket> {
  readonly order: EmqpOrder<Ticket>;
  /** The connection its replies come from; `undefined` while it waits to be sent again. */
  connection: Connection | undefined;
  isAccepted = false;
  /** When it times out, before or after its acceptance. */
  readonly end = new Deadline<Command<Ticket>>(this);
  /** Until when a job that was accepted and sent again must be accepted again. */
  readonly again = new Deadline<Command<Ticket>>(this);

  constructor(order: EmqpOrder<Ticket>) {
    this.order = order;
  }

  get state(): CommandState {
    if (this.connection === undefined) return 'resting';
    if (!this.isAccepted) return 'sent';
    return this.again.list === undefined ? 'accepted' : 'repeated';
  }
}

/** All commands without an outcome, with their timeouts. Each call costs O(1). */
export class CommandTable<Ticket> {
  readonly #options: EmqpClientSessionOptions;
  readonly #byId = new Map<string, Command<Ticket>>();
  /** Not accepted yet. */
  readonly unaccepted: DeadlineList<Command<Ticket>>;
  /** Accepted, with the result awaited. */
  readonly results: DeadlineList<Command<Ticket>>;
  /** Accepted, sent again, and not accepted again. */
  readonly repeated: DeadlineList<Command<Ticket>>;
  /** Those to be sent again at `restUntil`. */
  readonly resting = new Set<Command<Ticket>>();
  restUntil = Infinity;

  constructor(options: EmqpClientSessionOptions) {
    this.#options = options;
    this.unaccepted = new DeadlineList(options.timeoutMs);
    this.results = new DeadlineList(options.resultTimeoutMs);
    this.repeated = new DeadlineList(options.timeoutMs);
  }

  get size(): number {
    return this.#byId.size;
  }

  get deadline(): number {
    return Math.min(this.unaccepted.deadline, this.results.deadline, this.repeated.deadline, this.restUntil);
  }

  get(id: string): Command<Ticket> | undefined {
    return this.#byId.get(id);
  }

  values(): Command<Ticket>[] {
    return [...this.#byId.values()];
  }

  add(command: Command<Ticket>, now: number): void {
    this.#byId.set(command.order.command.id, command);
    this.unaccepted.renew(command.end, now);
  }

  /** Its result is awaited from now on. */
  accept(command: Command<Ticket>, now: number): void {
    command.isAccepted = true;
    this.results.renew(command.end, now);
  }

  remove(command: Command<Ticket>): void {
    this.#byId.delete(command.order.command.id);
    for (const deadline of [command.end, command.again]) deadline.list?.remove(deadline);
    if (this.resting.delete(command) && this.resting.size === 0) this.restUntil = Infinity;
  }

  /** Our process was busy for `lateMs`, so replies may not be late. Limited to one timeout, or a busy process would wait for ever. */
  postpone(lateMs: number, now: number): void {
    const { timeoutMs, resultTimeoutMs } = this.#options;
    this.unaccepted.postpone(Math.min(lateMs, timeoutMs), now);
    this.repeated.postpone(Math.min(lateMs, timeoutMs), now);
    this.results.postpone(Math.min(lateMs, resultTimeoutMs), now);
  }
}
