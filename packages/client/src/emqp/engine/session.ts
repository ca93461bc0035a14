/** EventMQ client, the engine: each command ends once, and is sent once unless it may run twice. Section 9 of docs/protocols/emqp.md. */
import type { EmqpResult, EmqpToClient } from '@proj/frames/emqp';
import { DeadlineList, oncePerMinute } from '@proj/heartbeat';
import type { Engine, TimerEvent } from '@proj/transport';
import { Command, type Connection } from './command.js';
import type {
  EmqpClientDropReason,
  EmqpClientEffect,
  EmqpClientEvent,
  EmqpClientFailure,
  EmqpClientNote,
  EmqpClientSessionOptions,
  EmqpClientStats,
  EmqpOrder,
} from './events.js';

/** A connection that ended before is replaced no sooner, where only commands that go out again need one. */
const REST_MS = 500;

/**
 * The engine of a client. No command is sent twice, since a broker takes a second REQUEST for a second job, but those that may run
 * twice: they go out again when their connection ends, and, until the result is here, when the next broker does not accept them.
 *
 * New commands go to one connection, the current one. When a command on it times out and nothing at all has come from it for
 * `timeoutMs`, the next command opens one to the next endpoint; the silent one is kept as long as somebody waits for its
 * replies. A connection that ends takes the other commands with it: their replies would go to a routing id that is gone. A step
 * costs O(1), but for a connection that ends, which costs O(commands).
 */
export class EmqpClientSession<Ticket> implements Engine<EmqpClientEvent<Ticket>, EmqpClientEffect<Ticket>> {
  readonly #options: EmqpClientSessionOptions;
  /** By message id. */
  readonly #commands = new Map<string, Command<Ticket>>();
  readonly #untaken: DeadlineList<Command<Ticket>>;
  readonly #results: DeadlineList<Command<Ticket>>;
  /** Accepted jobs that have gone out again and were not accepted again. */
  readonly #repeated: DeadlineList<Command<Ticket>>;
  /** What goes out again at `#restUntil`. */
  readonly #resting = new Set<Command<Ticket>>();
  #restUntil = Infinity;
  readonly #connections = new Map<number, Connection>();
  readonly #noted = oncePerMinute();
  readonly #counts = { taken: 0, results: 0, aborts: 0, connections: 0, repeats: 0, lateReplies: 0 };
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
    this.#repeated = new DeadlineList(options.timeoutMs);
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    return Math.min(this.#untaken.deadline, this.#results.deadline, this.#repeated.deadline, this.#restUntil);
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
        // An accepted job has time to go out again.
        if (command?.connection === connection && !this.#isTaken(command)) this.#fail(command, 'QUEUE_FULL');
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
      const command = new Command(order);
      this.#commands.set(id, command);
      this.#untaken.renew(command.end, now);
      this.#send(command, now);
    }
  }

  /** Over the current connection. */
  #send(command: Command<Ticket>, now: number): void {
    const connection = (this.#current ??= this.#connect(now));
    command.connection = connection;
    connection.open++;
    this.#effects.push({ kind: 'send', socket: connection.socket, command: command.order.command });
  }

  #connect(now: number): Connection {
    const socket = ++this.#counts.connections;
    const endpoint = this.#options.endpoints[this.#endpoint] as string;
    const connection = { socket, endpoint, openedAt: now, heardAt: now, open: 0, isTold: false };
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
      this.#onLost(connection, now);
      return;
    }
    if (message.kind === 'disconnect') {
      this.#onTold(connection);
      return;
    }
    const command = message.of === undefined ? undefined : this.#commands.get(message.of);
    if (command?.connection !== connection || command.order.command.kind !== 'request') this.#counts.lateReplies++;
    else if (message.kind === 'result') this.#onResult(command, message, now);
    else if (!this.#isTaken(command)) this.#onTaken(command, now);
    else if (!this.#isAcceptedAgain(command)) this.#counts.lateReplies++;
  }

  #isAcceptedAgain({ again }: Command<Ticket>): boolean {
    const isDue = again.list !== undefined;
    again.list?.remove(again);
    return isDue;
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
    this.#restUntil = Infinity;
  }

  #onTimer(lateMs: number, now: number): void {
    if (lateMs > 0 && !this.#excused) {
      // Replies may lie unread in the socket: docs/adr/0004. Once, and no longer than a timeout, or a busy process waits for ever.
      this.#excused = true;
      const { timeoutMs, resultTimeoutMs } = this.#options;
      this.#untaken.postpone(Math.min(lateMs, timeoutMs), now);
      this.#repeated.postpone(Math.min(lateMs, timeoutMs), now);
      this.#results.postpone(Math.min(lateMs, resultTimeoutMs), now);
    }
    for (const list of [this.#untaken, this.#results])
      for (let command = list.takeDue(now); command !== undefined; command = list.takeDue(now))
        this.#onTimeout(command, now);
    for (let command = this.#repeated.takeDue(now); command !== undefined; command = this.#repeated.takeDue(now)) {
      this.#leaveSilent(command.connection, now);
      this.#detach(command);
      this.#repeat(command, now);
    }
    if (now >= this.#restUntil) this.#wake(now);
  }

  #onTimeout(command: Command<Ticket>, now: number): void {
    this.#leaveSilent(command.connection, now);
    this.#fail(command, 'TIMEOUT');
  }

  /** New commands go to the next endpoint if nothing at all has come from this one. */
  #leaveSilent(connection: Connection | undefined, now: number): void {
    if (connection === undefined || connection !== this.#current) return;
    if (now - connection.heardAt < this.#options.timeoutMs) return;
    this.#leave(connection);
    this.#note({ code: 'connection-silent', endpoint: connection.endpoint });
  }

  /** New commands go to the next endpoint. */
  #leave(connection: Connection): void {
    if (connection !== this.#current) return;
    this.#current = undefined;
    this.#endpoint = (this.#endpoint + 1) % this.#options.endpoints.length;
  }

  /** What may run twice goes out again elsewhere, accepted or not; it has the time it had. */
  #onLost(connection: Connection, now: number): void {
    const again = [...this.#commands.values()].filter(
      (command) => command.connection === connection && command.order.mayRepeat,
    );
    this.#end(connection, 'PEER_LOST', undefined, again);
    const isShort = now - connection.openedAt < REST_MS;
    if (isShort && again.length > 0) this.#restUntil = Math.min(this.#restUntil, connection.openedAt + REST_MS);
    for (const command of again)
      if (isShort) this.#resting.add(command);
      else this.#repeat(command, now);
  }

  #wake(now: number): void {
    this.#restUntil = Infinity;
    for (const command of this.#resting) this.#repeat(command, now);
    this.#resting.clear();
  }

  /** Sends what is nowhere once more. */
  #repeat(command: Command<Ticket>, now: number): void {
    this.#counts.repeats++;
    if (this.#isTaken(command)) this.#repeated.renew(command.again, now);
    this.#send(command, now);
  }

  /** Closes the connection, detaches those of its commands that are to go out again, and fails the others. */
  #end(connection: Connection, code: EmqpClientFailure, cause?: unknown, again: readonly Command<Ticket>[] = []): void {
    this.#leave(connection);
    this.#connections.delete(connection.socket);
    this.#effects.push({ kind: 'close', socket: connection.socket, linger: false });
    for (const command of again) this.#detach(command);
    for (const command of this.#commands.values())
      if (command.connection === connection) this.#fail(command, code, cause);
  }

  /** Strikes the command off the books. */
  #forget(command: Command<Ticket>): void {
    const { order, end } = command;
    this.#commands.delete(order.command.id);
    end.list?.remove(end);
    if (this.#resting.delete(command) && this.#resting.size === 0) this.#restUntil = Infinity;
    this.#detach(command);
  }

  /** Takes the command from its connection; with the last one a connection goes that is not the current one. */
  #detach(command: Command<Ticket>): void {
    const { connection, again } = command;
    again.list?.remove(again);
    if (connection === undefined) return;
    command.connection = undefined;
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
    for (const command of this.#commands.values()) {
      const { connection } = command;
      if ((connection === undefined) !== this.#resting.has(command)) throw new Error('a command is nowhere, or twice');
      if (connection !== undefined) open.set(connection, (open.get(connection) ?? 0) + 1);
    }
    if (this.#resting.size > 0 !== this.#restUntil < Infinity)
      throw new Error('what rests never wakes, or nothing does');
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
