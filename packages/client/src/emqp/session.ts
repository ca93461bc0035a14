/** EventMQ client, the engine: each command is sent once, and ends once. Section 9 of docs/protocols/emqp.md. */
import type { EmqpMalformedReason, EmqpRequest, EmqpResult, EmqpScheduling, EmqpToClient } from '@proj/frames/emqp';
import { Deadline, DeadlineList, oncePerMinute } from '@proj/heartbeat';
import type { Engine, RejectReason, TimerEvent } from '@proj/transport';

/** Settings of an {@link EmqpClientSession}. */
export interface EmqpClientSessionOptions {
  /** Brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  /** Most commands without outcome, awaited results included. At least 1. */
  readonly openMax: number;
  /** How long a command may be untaken: milliseconds, at least 1. */
  readonly timeoutMs: number;
  /** How long the result of an accepted job may take: milliseconds, at least 1. */
  readonly resultTimeoutMs: number;
}

/** A command to send, and whose it is: `Ticket` comes back with the outcome. */
export interface EmqpOrder<Ticket> {
  readonly ticket: Ticket;
  /** Its id is not that of another command that has no outcome yet. */
  readonly command: EmqpRequest | EmqpScheduling;
  /** Whether a result follows the acceptance. Only of a REQUEST. */
  readonly wantsResult: boolean;
  /** Whether it may be sent again when nobody knows whether it arrived. Only of a REQUEST. */
  readonly mayRepeat: boolean;
}

/** A fact reported to a client's session. Events of a socket that was closed are ignored. */
export type EmqpClientEvent<Ticket> =
  | { readonly kind: 'order'; readonly order: EmqpOrder<Ticket> }
  /** The caller has lost interest. The job may run all the same. */
  | { readonly kind: 'abort'; readonly id: string }
  | { readonly kind: 'message'; readonly socket: number; readonly message: EmqpToClient }
  /** A message over the limits of the socket was dropped. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  /** The transport has taken the command with this id over. */
  | { readonly kind: 'sent'; readonly socket: number; readonly id: string }
  /** The command with this id did not go out. */
  | { readonly kind: 'unsent'; readonly socket: number; readonly id: string }
  /** Its connection ended, or it broke. */
  | { readonly kind: 'lost'; readonly socket: number }
  /** It could not be opened. */
  | { readonly kind: 'refused'; readonly socket: number; readonly cause: unknown }
  | { readonly kind: 'close' };

/** Why a command has no good outcome, as far as we know. `QUEUE_FULL` alone tells that it was not sent. */
export type EmqpClientFailure = 'TIMEOUT' | 'QUEUE_FULL' | 'PEER_LOST' | 'UNREACHABLE' | 'CLOSED';

/** Why something a broker sent was dropped. */
export type EmqpClientDropReason = EmqpMalformedReason | RejectReason;

/** Something worth a log line. */
export type EmqpClientNote =
  /** The connection ended, and with it so many commands without outcome. */
  | { readonly code: 'connection-lost'; readonly endpoint: string; readonly commands: number }
  /** The broker said farewell, and with it went so many commands; or it told us to disconnect, and they go on. New ones go to the next endpoint. */
  | { readonly code: 'broker-left'; readonly endpoint: string; readonly commands: number; readonly told: boolean }
  /** It brought nothing for `timeoutMs`: new commands go to the next endpoint. */
  | { readonly code: 'connection-silent'; readonly endpoint: string }
  /** What a broker sent is no answer. Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: EmqpClientDropReason; readonly endpoint: string };

/** What a session wants done. */
export type EmqpClientEffect<Ticket> =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** `linger`: what was given to it may still go out, else not. */
  | { readonly kind: 'close'; readonly socket: number; readonly linger: boolean }
  | { readonly kind: 'send'; readonly socket: number; readonly command: EmqpRequest | EmqpScheduling }
  /** Say KBAI there. */
  | { readonly kind: 'bye'; readonly socket: number }
  /** The REQUEST was accepted, or the transport has SCHEDULE or UNSCHEDULE. */
  | { readonly kind: 'taken'; readonly ticket: Ticket }
  /** Always behind `taken`. */
  | { readonly kind: 'result'; readonly ticket: Ticket; readonly result: Uint8Array }
  /** Instead of `taken`, or behind it instead of `result`. */
  | { readonly kind: 'failed'; readonly ticket: Ticket; readonly code: EmqpClientFailure; readonly cause: unknown }
  | { readonly kind: 'note'; readonly note: EmqpClientNote };

/** Counters since construction and gauges of now. */
export interface EmqpClientStats {
  /** Gauge: commands that were not taken yet. */
  readonly untaken: number;
  /** Gauge: accepted jobs whose result is awaited. */
  readonly awaitingResult: number;
  /** Commands the broker accepted, or the transport took where no acceptance exists. */
  readonly taken: number;
  readonly results: number;
  readonly aborts: number;
  /** Connections opened. */
  readonly connections: number;
  /** Answers to commands that are over or unknown. */
  readonly lateReplies: number;
  readonly failures: Readonly<Record<EmqpClientFailure, number>>;
  readonly dropped: Readonly<Partial<Record<EmqpClientDropReason, number>>>;
}

interface Connection {
  readonly socket: number;
  readonly endpoint: string;
  /** When it brought a reply last; before that, when it was opened. */
  heardAt: number;
  /** Commands that end with it. */
  open: number;
  /** It said DISCONNECT: our farewell follows the last of them. */
  isTold: boolean;
}

/** A command without outcome. */
class Command<Ticket> {
  readonly order: EmqpOrder<Ticket>;
  connection: Connection;
  /** In the list of the untaken, then in that of the results. */
  readonly end = new Deadline<Command<Ticket>>(this);

  constructor(order: EmqpOrder<Ticket>, connection: Connection) {
    this.order = order;
    this.connection = connection;
  }
}

/**
 * The engine of a client. No command is sent twice, since a broker takes a second REQUEST for a second job, but those that may be.
 *
 * New commands go to one connection, the current one. When a command on it times out and nothing at all has come from it for
 * `timeoutMs`, the next command opens one to the next endpoint; the silent one is kept as long as somebody waits for its
 * replies. A connection that ends takes its commands with it: their replies would go to a routing id that is gone. A step
 * costs O(1), but for a connection that ends, which costs O(commands).
 */
export class EmqpClientSession<Ticket> implements Engine<EmqpClientEvent<Ticket>, EmqpClientEffect<Ticket>> {
  readonly #options: EmqpClientSessionOptions;
  /** By message id. */
  readonly #commands = new Map<string, Command<Ticket>>();
  readonly #untaken: DeadlineList<Command<Ticket>>;
  readonly #results: DeadlineList<Command<Ticket>>;
  readonly #connections = new Map<number, Connection>();
  readonly #noted = oncePerMinute();
  readonly #counts = { taken: 0, results: 0, aborts: 0, connections: 0, lateReplies: 0 };
  readonly #failures = { TIMEOUT: 0, QUEUE_FULL: 0, PEER_LOST: 0, UNREACHABLE: 0, CLOSED: 0 };
  readonly #dropped = new Map<EmqpClientDropReason, number>();
  #effects: EmqpClientEffect<Ticket>[] = [];
  #current: Connection | undefined;
  #endpoint = 0;
  /** The present silence was excused once already. */
  #excused = false;
  #closed = false;

  constructor(options: EmqpClientSessionOptions) {
    this.#options = options;
    this.#untaken = new DeadlineList(options.timeoutMs);
    this.#results = new DeadlineList(options.resultTimeoutMs);
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    return Math.min(this.#untaken.deadline, this.#results.deadline);
  }

  /** Counters and gauges, as a copy. */
  get stats(): EmqpClientStats {
    return {
      untaken: this.#untaken.size,
      awaitingResult: this.#results.size,
      ...this.#counts,
      failures: { ...this.#failures },
      dropped: Object.fromEntries(this.#dropped),
    };
  }

  /** See {@link Engine.step}. Throws only for an order whose id is in use. */
  step(event: EmqpClientEvent<Ticket> | TimerEvent, now: number): readonly EmqpClientEffect<Ticket>[] {
    this.#effects = [];
    switch (event.kind) {
      case 'order':
        this.#onOrder(event.order, now);
        break;
      case 'abort':
        this.#onAbort(event.id);
        break;
      case 'close':
        this.#onClose();
        break;
      case 'timer':
        this.#onTimer(event.lateMs, now);
        break;
      default: {
        const connection = this.#connections.get(event.socket);
        if (connection !== undefined) this.#onSocket(event, connection, now);
      }
    }
    return this.#effects;
  }

  #onSocket(event: Extract<EmqpClientEvent<Ticket>, { socket: number }>, connection: Connection, now: number): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.message, connection, now);
        break;
      case 'rejected':
        this.#drop(event.reason, connection, now);
        break;
      case 'sent': {
        const command = this.#commands.get(event.id);
        // A REQUEST is taken when the broker says so.
        if (command !== undefined && command.order.command.kind !== 'request') this.#onTaken(command, now);
        break;
      }
      case 'unsent': {
        const command = this.#commands.get(event.id);
        if (command !== undefined) this.#fail(command, 'QUEUE_FULL');
        break;
      }
      case 'lost':
        this.#note({ code: 'connection-lost', endpoint: connection.endpoint, commands: connection.open });
        this.#onLost(connection, now);
        break;
      case 'refused':
        this.#end(connection, 'UNREACHABLE', event.cause);
        break;
    }
  }

  #onOrder(order: EmqpOrder<Ticket>, now: number): void {
    const { id } = order.command;
    if (this.#commands.has(id)) throw new Error('order: a command of this id has no outcome yet');
    if (this.#closed) this.#refuse(order, 'CLOSED');
    else if (this.#commands.size >= this.#options.openMax) this.#refuse(order, 'QUEUE_FULL');
    else {
      const connection = (this.#current ??= this.#connect(now));
      const command = new Command(order, connection);
      connection.open++;
      this.#commands.set(id, command);
      this.#untaken.renew(command.end, now);
      this.#effects.push({ kind: 'send', socket: connection.socket, command: order.command });
    }
  }

  #connect(now: number): Connection {
    const socket = ++this.#counts.connections;
    const endpoint = this.#options.endpoints[this.#endpoint] as string;
    const connection = { socket, endpoint, heardAt: now, open: 0, isTold: false };
    this.#connections.set(socket, connection);
    this.#effects.push({ kind: 'open', socket, endpoint });
    return connection;
  }

  #onAbort(id: string): void {
    const command = this.#commands.get(id);
    if (command === undefined) return;
    this.#counts.aborts++;
    this.#forget(command);
  }

  #onMessage(message: EmqpToClient, connection: Connection, now: number): void {
    if (message.kind === 'malformed') {
      this.#drop(message.reason, connection, now);
      return;
    }
    connection.heardAt = now;
    this.#excused = false;
    if (message.kind === 'bye') {
      this.#noteLeft(connection, false);
      this.#end(connection, 'PEER_LOST');
      return;
    }
    if (message.kind === 'disconnect') {
      this.#onTold(connection);
      return;
    }
    const command = message.of === undefined ? undefined : this.#commands.get(message.of);
    if (command?.connection !== connection || command.order.command.kind !== 'request') this.#counts.lateReplies++;
    else if (message.kind === 'result') this.#onResult(command, message, now);
    else if (this.#isTaken(command)) this.#counts.lateReplies++;
    else this.#onTaken(command, now);
  }

  /** DISCONNECT: nothing new goes there, and what is open may end. */
  #onTold(connection: Connection): void {
    if (connection.isTold) return;
    this.#noteLeft(connection, true);
    connection.isTold = true;
    this.#leave(connection);
    if (connection.open === 0) this.#dismiss(connection);
  }

  #noteLeft({ endpoint, open: commands }: Connection, told: boolean): void {
    this.#note({ code: 'broker-left', endpoint, commands, told });
  }

  /** Nobody needs the connection any more. What it has not sent yet is over: it must not go out, but for our farewell. */
  #dismiss({ socket, isTold }: Connection): void {
    if (!this.#connections.delete(socket)) return;
    if (isTold) this.#effects.push({ kind: 'bye', socket });
    this.#effects.push({ kind: 'close', socket, linger: isTold });
  }

  #isTaken(command: Command<Ticket>): boolean {
    return command.end.list === this.#results;
  }

  #onTaken(command: Command<Ticket>, now: number): void {
    this.#counts.taken++;
    this.#effects.push({ kind: 'taken', ticket: command.order.ticket });
    if (command.order.wantsResult) this.#results.renew(command.end, now);
    else this.#forget(command);
  }

  /** A result says more than an acceptance, and says that too. */
  #onResult(command: Command<Ticket>, { result }: EmqpResult, now: number): void {
    if (!this.#isTaken(command)) this.#onTaken(command, now);
    if (!command.order.wantsResult) return;
    this.#counts.results++;
    this.#effects.push({ kind: 'result', ticket: command.order.ticket, result });
    this.#forget(command);
  }

  #drop(reason: EmqpClientDropReason, { endpoint }: Connection, now: number): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + 1);
    if (this.#noted.allow(reason, now)) this.#note({ code: 'message-dropped', reason, endpoint });
  }

  #onClose(): void {
    this.#closed = true;
    for (const command of this.#commands.values()) this.#fail(command, 'CLOSED');
    this.#current = undefined;
    // What needs no answer has its good outcome already: it must go out.
    for (const { socket } of this.#connections.values()) this.#effects.push({ kind: 'close', socket, linger: true });
    this.#connections.clear();
  }

  #onTimer(lateMs: number, now: number): void {
    if (lateMs > 0 && !this.#excused) {
      // Replies may lie unread in the socket: docs/adr/0004. Once, and no longer than a timeout, or a busy process waits for ever.
      this.#excused = true;
      const { timeoutMs, resultTimeoutMs } = this.#options;
      this.#untaken.postpone(Math.min(lateMs, timeoutMs), now);
      this.#results.postpone(Math.min(lateMs, resultTimeoutMs), now);
    }
    for (const list of [this.#untaken, this.#results])
      for (let command = list.takeDue(now); command !== undefined; command = list.takeDue(now))
        this.#onTimeout(command, now);
  }

  #onTimeout(command: Command<Ticket>, now: number): void {
    const { connection } = command;
    if (connection === this.#current && now - connection.heardAt >= this.#options.timeoutMs) {
      this.#leave(connection);
      this.#note({ code: 'connection-silent', endpoint: connection.endpoint });
    }
    this.#fail(command, 'TIMEOUT');
  }

  /** New commands go to the next endpoint. */
  #leave(connection: Connection): void {
    if (connection !== this.#current) return;
    this.#current = undefined;
    this.#endpoint = (this.#endpoint + 1) % this.#options.endpoints.length;
  }

  /** What was not accepted and may run twice goes out again elsewhere; it has the time it had. */
  #onLost(connection: Connection, now: number): void {
    const again = [...this.#commands.values()].filter(
      (command) => command.connection === connection && command.order.mayRepeat && !this.#isTaken(command),
    );
    for (const command of again) {
      this.#commands.delete(command.order.command.id);
      connection.open--;
    }
    this.#end(connection, 'PEER_LOST');
    for (const command of again) {
      const next = (this.#current ??= this.#connect(now));
      command.connection = next;
      next.open++;
      this.#commands.set(command.order.command.id, command);
      this.#effects.push({ kind: 'send', socket: next.socket, command: command.order.command });
    }
  }

  /** Closes the connection and fails what is open there. */
  #end(connection: Connection, code: EmqpClientFailure, cause?: unknown): void {
    this.#leave(connection);
    this.#connections.delete(connection.socket);
    this.#effects.push({ kind: 'close', socket: connection.socket, linger: false });
    for (const command of this.#commands.values())
      if (command.connection === connection) this.#fail(command, code, cause);
  }

  /** Strikes the command off the books, and with the last one a connection that is not the current one. */
  #forget({ order, connection, end }: Command<Ticket>): void {
    this.#commands.delete(order.command.id);
    end.list?.remove(end);
    connection.open--;
    if (connection === this.#current || connection.open > 0 || this.#closed) return;
    this.#dismiss(connection);
  }

  #fail(command: Command<Ticket>, code: EmqpClientFailure, cause?: unknown): void {
    this.#forget(command);
    this.#refuse(command.order, code, cause);
  }

  #refuse({ ticket }: EmqpOrder<Ticket>, code: EmqpClientFailure, cause?: unknown): void {
    this.#failures[code]++;
    this.#effects.push({ kind: 'failed', ticket, code, cause });
  }

  #note(note: EmqpClientNote): void {
    this.#effects.push({ kind: 'note', note });
  }

  /** See {@link Engine.assertInvariants}. */
  assertInvariants(): void {
    const open = new Map<Connection, number>();
    for (const { connection } of this.#commands.values()) open.set(connection, (open.get(connection) ?? 0) + 1);
    for (const [connection, count] of open)
      if (this.#connections.get(connection.socket) !== connection || count !== connection.open)
        throw new Error(`socket ${connection.socket} has ${count} commands`);
    for (const connection of this.#connections.values())
      if (connection !== this.#current && connection.open === 0)
        throw new Error(`socket ${connection.socket} is open for nobody`);
    if (this.#commands.size !== this.#untaken.size + this.#results.size) throw new Error('a command waits for ever');
    if (this.#commands.size > this.#options.openMax) throw new Error(`${this.#commands.size} commands are open`);
    if (this.#closed && this.#connections.size > 0) throw new Error('something is left after the close');
  }
}
