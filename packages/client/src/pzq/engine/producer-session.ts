/**
 * PZQ producer, the engine: a window of messages, each sent until it is acknowledged. `producer-legality.ts` decides what an event means for a
 * message. The rules are those of docs/protocols/pzq.md.
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 23 | a producer | producer-session.ts, producer-state.ts, queue-connection.ts, producer.ts |
 */
import type { PzqToProducer } from '@proj/frames/pzq';
import type { Engine, TimerEvent } from '@proj/transport';
import { ProducerOutput } from './output.js';
import type {
  PzqOrder,
  PzqProducerEffect,
  PzqProducerEvent,
  PzqProducerSessionOptions,
  PzqProducerStats,
} from './producer-events.js';
import { LEGALITY } from './producer-legality.js';
import type { MessageEvent } from './producer-legality.js';
import { Message, MessageWindow } from './producer-state.js';
import { QueueConnection } from './queue-connection.js';

/**
 * The engine of a producer. One connection at a time; messages are sent in order and kept until answered.
 *
 * A message unanswered for `ackTimeoutMs` is sent again under the same id: on the same connection while others are answered there; otherwise on
 * a new one, to the next endpoint, together with all unanswered messages, in the old order. A connection that ends has the same effect, after a
 * pause that grows each time. A step costs O(1), except for a new connection, which costs O(window).
 */
export class PzqProducerSession<Ticket> implements Engine<PzqProducerEvent<Ticket>, PzqProducerEffect<Ticket>> {
  readonly #options: PzqProducerSessionOptions;
  readonly #out = new ProducerOutput<Ticket>();
  readonly #messages: MessageWindow<Ticket>;
  readonly #connection: QueueConnection;
  /** The current silence was already excused once. */
  #isExcused = false;
  #isClosed = false;

  /** `random` returns a number in [0, 1). */
  constructor(options: PzqProducerSessionOptions, random: () => number) {
    this.#options = options;
    this.#messages = new MessageWindow(options);
    this.#connection = new QueueConnection(options, this.#out, random);
  }

  get deadline(): number {
    const { silence, end } = this.#messages.deadlines;
    return Math.min(this.#connection.socket === undefined ? this.#connection.deadline : silence, end);
  }

  /** A copy of the counters and gauges. */
  get stats(): PzqProducerStats {
    const { sent: unacknowledged, waiting } = this.#messages;
    return { unacknowledged, waiting, ...this.#out.totals };
  }

  /** True while a message with this id has no outcome. */
  has(id: Uint8Array): boolean {
    return this.#messages.get(id) !== undefined;
  }

  /** See {@link Engine.step}. Throws only for a message whose id is in use: see {@link has}. */
  step(event: PzqProducerEvent<Ticket> | TimerEvent, now: number): readonly PzqProducerEffect<Ticket>[] {
    this.#out.begin(now);
    switch (event.kind) {
      case 'produce':
        this.#onProduce(event.order);
        break;
      case 'abort':
        this.#onAbort(event.id);
        break;
      case 'close':
        this.#isClosed = true;
        for (const message of this.#messages.values()) this.#fail(message, 'close', 'CLOSED');
        this.#connection.leave('silence');
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      default:
        if (event.socket === this.#connection.socket) this.#onSocket(event);
    }
    this.#feed();
    return this.#out.effects;
  }

  assertInvariants(): void {
    this.#messages.assertInvariants();
    const { size, waiting, hasRoom } = this.#messages;
    const isConnected = this.#connection.socket !== undefined;
    if (!isConnected && size > 0 && this.#connection.deadline === Infinity)
      throw new Error('there are messages and nothing leads to a connection');
    if (isConnected && waiting > 0 && hasRoom) throw new Error('a message waits although there is room');
    if (size === 0 && this.deadline !== Infinity) throw new Error('something is due although all is done');
    if (this.#isClosed && (size > 0 || isConnected)) throw new Error('something is left after the close');
  }

  #onProduce(order: PzqOrder<Ticket>): void {
    if (this.has(order.id)) throw new Error('produce: a message with this id has no outcome yet');
    if (this.#isClosed) this.#out.fail(order, 'CLOSED');
    else if (this.#messages.isFull) this.#out.fail(order, 'QUEUE_FULL');
    else this.#messages.add(new Message(order), this.#out.now);
  }

  #onAbort(id: Uint8Array): void {
    const message = this.#messages.get(id);
    if (message === undefined || this.#verdict(message, 'abort') === 'ignore') return;
    this.#out.counters.aborts++;
    this.#messages.remove(message);
  }

  #onSocket(event: Extract<PzqProducerEvent<Ticket>, { socket: number }>): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.message);
        break;
      case 'rejected':
        this.#out.drop(event.reason, this.#connection.endpoint);
        break;
      case 'lost':
        this.#connection.lost();
        break;
      case 'refused':
        if (this.#connection.refused())
          for (const message of this.#messages.values())
            this.#fail(message, 'unreachable', 'UNREACHABLE', { cause: event.cause });
        break;
    }
  }

  #onMessage(ack: PzqToProducer): void {
    if (ack.kind === 'malformed') {
      this.#out.drop(ack.reason, this.#connection.endpoint);
      return;
    }
    this.#connection.heard();
    this.#isExcused = false;
    const message = this.#messages.get(ack.id);
    const verdict = this.#verdict(message, ack.stored ? 'stored' : 'refused');
    if (message === undefined || verdict === 'late') this.#out.counters.lateAcks++;
    else if (verdict === 'accept') {
      this.#out.counters.stored++;
      this.#messages.remove(message);
      this.#out.effects.push({ kind: 'stored', ticket: message.order.ticket });
    } else this.#fail(message, 'refused', 'REJECTED', { reason: ack.stored ? '' : ack.reason });
  }

  #onTimer(lateMs: number): void {
    const { now } = this.#out;
    if (lateMs > 0 && !this.#isExcused) {
      // Answers may be unread in the socket: docs/adr/0004.
      this.#isExcused = true;
      this.#messages.postpone(lateMs, now);
    }
    for (let over = this.#messages.takeEnded(now); over !== undefined; over = this.#messages.takeEnded(now))
      this.#fail(over, 'timeout', 'TIMEOUT');
    if (this.#connection.socket !== undefined && this.#messages.deadlines.silence <= now) this.#onSilence();
  }

  #onSilence(): void {
    if (this.#connection.isSilent(this.#options.ackTimeoutMs)) {
      this.#connection.leave('silence');
      return;
    }
    // Others are answered, these were forgotten: a queue does not store a message that it could not acknowledge.
    const { now } = this.#out;
    let messages = 0;
    for (
      let message = this.#messages.takeSilent(now);
      message !== undefined;
      message = this.#messages.takeSilent(now)
    ) {
      this.#transmit(message);
      messages++;
    }
    this.#reportResent('silence', messages);
  }

  /** Sends as much as there is room for; connects first if necessary. */
  #feed(): void {
    if (this.#messages.size === 0) this.#connection.rest();
    else if (this.#connection.socket !== undefined || this.#reconnect())
      for (
        let message = this.#messages.takeWaiting(this.#out.now);
        message !== undefined;
        message = this.#messages.takeWaiting(this.#out.now)
      )
        this.#transmit(message);
  }

  /** Opens a connection and resends on it what was sent on an earlier one; false while it is too early for that. */
  #reconnect(): boolean {
    if (!this.#connection.open()) return false;
    this.#isExcused = false;
    const again = this.#messages.unacknowledged();
    for (const message of again) this.#transmit(message);
    this.#reportResent(this.#connection.cause, again.length);
    return true;
  }

  #transmit(message: Message<Ticket>): void {
    this.#out.counters.sends++;
    this.#messages.renew(message, this.#out.now);
    const { command, order } = message;
    this.#out.effects.push({
      kind: 'send',
      socket: this.#connection.socket as number,
      ticket: order.ticket,
      command,
    });
  }

  #verdict(message: Message<Ticket> | undefined, event: MessageEvent) {
    return LEGALITY[message?.state ?? 'over'][event][0];
  }

  #fail(
    message: Message<Ticket>,
    event: MessageEvent,
    code: Parameters<ProducerOutput<Ticket>['fail']>[1],
    why: { reason?: string; cause?: unknown } = {},
  ): void {
    if (this.#verdict(message, event) !== 'fail') return;
    this.#messages.remove(message);
    this.#out.fail(message.order, code, { sends: message.sends, ...why });
  }

  #reportResent(cause: 'silence' | 'connection-lost', messages: number): void {
    if (messages > 0)
      this.#out.report({ code: 'messages-resent', cause, endpoint: this.#connection.endpoint, messages });
  }
}
