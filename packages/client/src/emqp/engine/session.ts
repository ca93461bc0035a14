/**
 * EventMQ client, the engine: each command ends once, and is sent once unless it may run twice. Section 9 of docs/protocols/emqp.md.
 * `legality.ts` decides what an event means for a command, `broker-connections.ts` which broker it goes to.
 */
import type { EmqpToClient } from '@proj/frames/emqp';
import type { Engine, TimerEvent } from '@proj/transport';
import { BrokerConnections } from './broker-connections.js';
import type {
  EmqpClientEffect,
  EmqpClientEvent,
  EmqpClientFailure,
  EmqpClientSessionOptions,
  EmqpClientStats,
  EmqpOrder,
} from './events.js';
import { LEGALITY } from './legality.js';
import type { CommandEvent } from './legality.js';
import { Output } from './output.js';
import { Command, CommandTable } from './state.js';
import type { Connection } from './state.js';

/** Minimum time between two connections that are needed only to send commands again. */
const REST_MS = 500;

/**
 * The engine of a client. Brokers treat a second REQUEST as a second job, so no command is sent twice, except those that may run twice: they are
 * sent again when their connection ends and, until the result has arrived, when the next broker does not accept them.
 *
 * If a command times out and its connection has delivered nothing at all for `timeoutMs`, later commands go to the next endpoint. When a
 * connection ends, its other commands fail: their replies would go to a routing id that is gone. A step costs O(1), except for a connection that
 * ends, which costs O(commands).
 */
export class EmqpClientSession<Ticket> implements Engine<EmqpClientEvent<Ticket>, EmqpClientEffect<Ticket>> {
  readonly #options: EmqpClientSessionOptions;
  readonly #out = new Output<Ticket>();
  readonly #commands: CommandTable<Ticket>;
  readonly #connections: BrokerConnections<Ticket>;
  /** The current silence was already excused once. */
  #isExcused = false;
  #isClosed = false;

  constructor(options: EmqpClientSessionOptions) {
    this.#options = options;
    this.#commands = new CommandTable(options);
    this.#connections = new BrokerConnections(options, this.#out);
  }

  get deadline(): number {
    return this.#commands.deadline;
  }

  /** A copy of the counters and gauges. */
  get stats(): EmqpClientStats {
    const { unaccepted, results } = this.#commands;
    return { untaken: unaccepted.size, awaitingResult: results.size, ...this.#out.totals };
  }

  /** See {@link Engine.step}. Throws only for an order whose id is in use. */
  step(event: EmqpClientEvent<Ticket> | TimerEvent, now: number): readonly EmqpClientEffect<Ticket>[] {
    this.#out.begin(now);
    switch (event.kind) {
      case 'order':
        this.#onOrder(event.order);
        break;
      case 'abort':
        this.#onAbort(this.#commands.get(event.id));
        break;
      case 'close':
        this.#onClose();
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      default: {
        const connection = this.#connections.get(event.socket);
        if (connection !== undefined) this.#onSocket(event, connection);
      }
    }
    return this.#out.effects;
  }

  assertInvariants(): void {
    const { size, unaccepted, results, resting, restUntil } = this.#commands;
    const commands = this.#commands.values();
    this.#connections.assertInvariants(commands);
    for (const command of commands)
      if ((command.state === 'resting') !== resting.has(command)) throw new Error('a command is nowhere, or twice');
    if (resting.size > 0 !== restUntil < Infinity) throw new Error('a resting command never wakes, or none rests');
    if (size !== unaccepted.size + results.size) throw new Error('a command waits for ever');
    if (size > this.#options.openMax) throw new Error(`${size} commands are open`);
    if (this.#isClosed && size > 0) throw new Error('a command is open after the close');
  }

  #onOrder(order: EmqpOrder<Ticket>): void {
    const { id } = order.command;
    if (this.#commands.get(id) !== undefined) throw new Error(`order: a command with id ${id} has no outcome yet`);
    if (this.#isClosed) this.#out.fail(order, 'CLOSED');
    else if (this.#commands.size >= this.#options.openMax) this.#out.fail(order, 'QUEUE_FULL');
    else {
      const command = new Command(order);
      this.#commands.add(command, this.#out.now);
      this.#connections.send(command);
    }
  }

  #onAbort(command: Command<Ticket> | undefined): void {
    if (command === undefined || this.#verdict(command, 'abort') === 'ignore') return;
    this.#out.counters.aborts++;
    this.#forget(command);
  }

  #onSocket(event: Extract<EmqpClientEvent<Ticket>, { socket: number }>, connection: Connection): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.message, connection);
        break;
      case 'rejected':
        this.#out.drop(event.reason, connection.endpoint);
        break;
      case 'sent': {
        const command = this.#commands.get(event.id);
        // A REQUEST is accepted when the broker says so.
        if (command === undefined || command.order.command.kind === 'request') break;
        if (this.#verdict(command, 'handed over') === 'accept') this.#onAccepted(command);
        break;
      }
      case 'unsent': {
        const command = this.#commands.get(event.id);
        if (command?.connection !== connection) break;
        if (this.#verdict(command, 'undeliverable') === 'fail') this.#fail(command, 'QUEUE_FULL');
        break;
      }
      case 'lost':
        this.#out.report({ code: 'connection-lost', endpoint: connection.endpoint, commands: connection.open });
        this.#onLost(connection);
        break;
      case 'refused':
        this.#connections.end(connection);
        for (const command of this.#commands.values())
          if (command.connection === connection) this.#fail(command, 'UNREACHABLE', event.cause);
        break;
    }
  }

  #onMessage(message: EmqpToClient, connection: Connection): void {
    if (message.kind === 'malformed') {
      this.#out.drop(message.reason, connection.endpoint);
      return;
    }
    connection.heardAt = this.#out.now;
    this.#isExcused = false;
    switch (message.kind) {
      case 'bye':
        this.#connections.reportLeft(connection, false);
        this.#onLost(connection);
        break;
      case 'disconnect':
        this.#connections.leaveTold(connection);
        break;
      default:
        this.#onReply(message, connection);
    }
  }

  /** Replies match their commands by the REQUEST's id, on the connection that sent it. */
  #onReply(message: Extract<EmqpToClient, { of: unknown }>, connection: Connection): void {
    const found = message.of === undefined ? undefined : this.#commands.get(message.of);
    const isOurs = found?.connection === connection && found.order.command.kind === 'request';
    const command = isOurs ? found : undefined;
    const verdict = this.#verdict(command, message.kind === 'result' ? 'result' : 'acceptance');
    if (command === undefined || verdict === 'late') this.#out.counters.lateReplies++;
    else if (verdict === 'settle') command.again.list?.remove(command.again);
    else {
      // A result is also an acceptance.
      if (!command.isAccepted) this.#onAccepted(command);
      if (message.kind === 'result' && command.order.wantsResult) this.#onResult(command, message.result);
    }
  }

  #onAccepted(command: Command<Ticket>): void {
    this.#out.counters.taken++;
    this.#out.effects.push({ kind: 'taken', ticket: command.order.ticket });
    if (command.order.wantsResult) this.#commands.accept(command, this.#out.now);
    else this.#forget(command);
  }

  #onResult(command: Command<Ticket>, result: Uint8Array): void {
    this.#out.counters.results++;
    this.#out.effects.push({ kind: 'result', ticket: command.order.ticket, result });
    this.#forget(command);
  }

  #onClose(): void {
    this.#isClosed = true;
    for (const command of this.#commands.values()) {
      this.#commands.remove(command);
      this.#out.fail(command.order, 'CLOSED');
    }
    this.#connections.close();
  }

  #onTimer(lateMs: number): void {
    const { now } = this.#out;
    if (lateMs > 0 && !this.#isExcused) {
      // Replies may be unread in the socket: docs/adr/0004.
      this.#isExcused = true;
      this.#commands.postpone(lateMs, now);
    }
    const { unaccepted, results, repeated } = this.#commands;
    for (const list of [unaccepted, results])
      for (let command = list.takeDue(now); command !== undefined; command = list.takeDue(now)) {
        this.#connections.leaveSilent(command.connection);
        if (this.#verdict(command, 'timeout') === 'fail') this.#fail(command, 'TIMEOUT');
      }
    for (let command = repeated.takeDue(now); command !== undefined; command = repeated.takeDue(now)) {
      this.#connections.leaveSilent(command.connection);
      this.#connections.detach(command);
      this.#repeat(command);
    }
    if (now >= this.#commands.restUntil) this.#wake();
  }

  /** Commands that may run twice are sent again elsewhere, accepted or not, within their remaining time. */
  #onLost(connection: Connection): void {
    this.#connections.end(connection);
    const again: Command<Ticket>[] = [];
    for (const command of this.#commands.values()) {
      if (command.connection !== connection) continue;
      if (this.#verdict(command, command.order.mayRepeat ? 'lost, may run twice' : 'lost') === 'repeat')
        again.push(command);
      else this.#fail(command, 'PEER_LOST');
    }
    const { resting } = this.#commands;
    const restUntil = connection.openedAt + REST_MS;
    const isShort = this.#out.now < restUntil;
    if (isShort && again.length > 0) this.#commands.restUntil = Math.min(this.#commands.restUntil, restUntil);
    for (const command of again) {
      this.#connections.detach(command);
      if (isShort) resting.add(command);
      else this.#repeat(command);
    }
  }

  #wake(): void {
    const { resting } = this.#commands;
    this.#commands.restUntil = Infinity;
    for (const command of resting) this.#repeat(command);
    resting.clear();
  }

  #repeat(command: Command<Ticket>): void {
    this.#out.counters.repeats++;
    if (command.isAccepted) this.#commands.repeated.renew(command.again, this.#out.now);
    this.#connections.send(command);
  }

  #verdict(command: Command<Ticket> | undefined, event: CommandEvent) {
    return LEGALITY[command?.state ?? 'over'][event][0];
  }

  #forget(command: Command<Ticket>): void {
    this.#commands.remove(command);
    this.#connections.detach(command);
  }

  #fail(command: Command<Ticket>, code: EmqpClientFailure, cause?: unknown): void {
    this.#forget(command);
    this.#out.fail(command.order, code, cause);
  }
}
