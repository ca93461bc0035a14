/** PZQ producer, the engine: a window of messages, each sent until it is acknowledged. Rule 23 of docs/protocols/pzq.md. */
import { latin1 } from '@proj/frames';
import type { PzqBody, PzqMalformedReason, PzqProduce, PzqToProducer } from '@proj/frames/pzq';
import { Backoff, Deadline, DeadlineList, oncePerMinute } from '@proj/heartbeat';
import type { Engine, RejectReason, TimerEvent } from '@proj/transport';

/** Settings of a {@link PzqProducerSession}. */
export interface PzqProducerSessionOptions {
  /** Queues, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  /** Most messages sent and not acknowledged, at least 1. */
  readonly window: number;
  /** While they hold so many bytes, no further one is sent. */
  readonly windowBytes: number;
  /** Most messages that wait for a full window. */
  readonly waitingMax: number;
  /** Silence after which a message is sent again. Milliseconds, at least 1. */
  readonly ackTimeoutMs: number;
  /** How long a message may be without outcome, its waiting included. Milliseconds; `undefined` for ever. */
  readonly timeoutMs?: number | undefined;
}

/** A message to keep, and whose it is: `Ticket` comes back with the outcome. */
export interface PzqOrder<Ticket> {
  readonly ticket: Ticket;
  /** Not empty, and not that of another message that has no outcome yet. */
  readonly id: Uint8Array;
  readonly headers: readonly Uint8Array[];
  readonly body: PzqBody;
  /** Bytes of the body. */
  readonly bytes: number;
}

/** A fact reported to a producer's session. Events of a socket that was closed are ignored. */
export type PzqProducerEvent<Ticket> =
  | { readonly kind: 'produce'; readonly order: PzqOrder<Ticket> }
  /** The caller has lost interest. The message may have been stored. */
  | { readonly kind: 'abort'; readonly id: Uint8Array }
  | { readonly kind: 'message'; readonly socket: number; readonly message: PzqToProducer }
  /** A message over the limits of the socket was dropped. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  /** Its connection ended, or what was given to it did not go out, or it broke. */
  | { readonly kind: 'lost'; readonly socket: number }
  /** It could not be opened. */
  | { readonly kind: 'refused'; readonly socket: number; readonly cause: unknown }
  | { readonly kind: 'close' };

/** Why a message has no place in a queue, as far as we know. */
export type PzqProducerFailure = 'REJECTED' | 'TIMEOUT' | 'QUEUE_FULL' | 'UNREACHABLE' | 'CLOSED';

/** Why something a queue sent was dropped. */
export type PzqProducerDropReason = PzqMalformedReason | RejectReason;

/** Something worth a log line. */
export type PzqProducerNote =
  /** So many messages were sent again, to this endpoint: after silence, or since their connection ended. */
  | {
      readonly code: 'messages-resent';
      readonly cause: 'silence' | 'connection-lost';
      readonly endpoint: string;
      readonly messages: number;
    }
  | { readonly code: 'connection-lost'; readonly endpoint: string }
  /** What a queue sent is no answer. Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: PzqProducerDropReason; readonly endpoint: string };

/** What a session wants done. */
export type PzqProducerEffect<Ticket> =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** At once, together with what it has not sent yet. */
  | { readonly kind: 'close'; readonly socket: number }
  | { readonly kind: 'send'; readonly socket: number; readonly command: PzqProduce }
  | { readonly kind: 'stored'; readonly ticket: Ticket }
  | {
      readonly kind: 'failed';
      readonly ticket: Ticket;
      readonly code: PzqProducerFailure;
      /** The queue's own words, for `REJECTED`. */
      readonly reason: string;
      readonly sends: number;
      readonly cause: unknown;
    }
  | { readonly kind: 'note'; readonly note: PzqProducerNote };

/** Counters since construction and gauges of now. */
export interface PzqProducerStats {
  /** Gauge: sent and not acknowledged. */
  readonly unacknowledged: number;
  /** Gauge: waiting for the window. */
  readonly waiting: number;
  /** Sends, repeated ones included. */
  readonly sends: number;
  /** Messages the queue has stored. */
  readonly stored: number;
  readonly aborts: number;
  /** Connections opened. */
  readonly connections: number;
  /** Answers to messages that have their outcome already: what a message sent twice brings. */
  readonly lateAcks: number;
  readonly failures: Readonly<Record<PzqProducerFailure, number>>;
  readonly dropped: Readonly<Partial<Record<PzqProducerDropReason, number>>>;
}

/** A message without outcome: it waits for the window, or was sent. */
class Message<Ticket> {
  readonly order: PzqOrder<Ticket>;
  readonly key: string;
  readonly command: PzqProduce;
  readonly place = new Deadline<Message<Ticket>>(this);
  readonly end = new Deadline<Message<Ticket>>(this);
  sends = 0;

  constructor(order: PzqOrder<Ticket>, key: string) {
    const { id, headers, body } = order;
    this.order = order;
    this.key = key;
    this.command = { kind: 'produce', id, headers, body };
  }
}

/** The one connection. */
interface Connection {
  readonly socket: number;
  /** When it brought an answer last; before that, when it was opened. */
  heardAt: number;
}

const RECONNECT = { minMs: 100, maxMs: 5000, minUptimeMs: 1000 };

/**
 * The engine of a producer. One connection at a time; messages leave in the order they came and stay until answered.
 *
 * A message unanswered for `ackTimeoutMs` is sent again under the same id: on the same connection while others are answered
 * there; else on a new one, to the next endpoint, and with it whatever else is unanswered, in the old order. A connection that
 * ends has the same effect, after a pause that grows when it happens again and again. A step costs O(1), but for a new
 * connection, which costs O(window).
 */
export class PzqProducerSession<Ticket> implements Engine<PzqProducerEvent<Ticket>, PzqProducerEffect<Ticket>> {
  readonly #options: PzqProducerSessionOptions;
  /** By id, as Latin-1. */
  readonly #messages = new Map<string, Message<Ticket>>();
  /** The delay of 0 makes the list a queue that callers can leave in O(1). */
  readonly #waiting = new DeadlineList<Message<Ticket>>(0);
  /** In the order of their last sends; also while there is no connection. */
  readonly #sent: DeadlineList<Message<Ticket>>;
  #sentBytes = 0;
  readonly #ends: DeadlineList<Message<Ticket>> | undefined;
  readonly #backoff: Backoff;
  readonly #noted = oncePerMinute();
  readonly #counts = { sends: 0, stored: 0, aborts: 0, connections: 0, lateAcks: 0 };
  readonly #failures = { REJECTED: 0, TIMEOUT: 0, QUEUE_FULL: 0, UNREACHABLE: 0, CLOSED: 0 };
  readonly #dropped = new Map<PzqProducerDropReason, number>();
  #effects: PzqProducerEffect<Ticket>[] = [];
  #connection: Connection | undefined;
  /** When to connect again; `Infinity` while connected or while there is nothing to send. */
  #openAt = Infinity;
  /** No new connection before this. */
  #pausedUntil = -Infinity;
  #endpoint = 0;
  /** Why there is no connection. */
  #cause: 'silence' | 'connection-lost' = 'silence';
  /** Endpoints that could not even be opened, one after the other. */
  #refusals = 0;
  /** The present silence was excused once already. */
  #excused = false;
  #closed = false;

  /** `random` returns a number in [0, 1). */
  constructor(options: PzqProducerSessionOptions, random: () => number) {
    this.#options = options;
    this.#sent = new DeadlineList(options.ackTimeoutMs);
    this.#ends = options.timeoutMs === undefined ? undefined : new DeadlineList(options.timeoutMs);
    this.#backoff = new Backoff(RECONNECT, random);
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    const next = this.#connection === undefined ? this.#openAt : this.#sent.deadline;
    return this.#ends === undefined ? next : Math.min(next, this.#ends.deadline);
  }

  /** Counters and gauges, as a copy. */
  get stats(): PzqProducerStats {
    return {
      unacknowledged: this.#sent.size,
      waiting: this.#waiting.size,
      ...this.#counts,
      failures: { ...this.#failures },
      dropped: Object.fromEntries(this.#dropped),
    };
  }

  /** True while a message of this id has no outcome. */
  has(id: Uint8Array): boolean {
    return this.#messages.has(latin1(id));
  }

  /** See {@link Engine.step}. Throws only for a message whose id is in use: see {@link has}. */
  step(event: PzqProducerEvent<Ticket> | TimerEvent, now: number): readonly PzqProducerEffect<Ticket>[] {
    this.#effects = [];
    switch (event.kind) {
      case 'produce':
        this.#onProduce(event.order, now);
        break;
      case 'abort':
        this.#onAbort(event.id, now);
        break;
      case 'close':
        this.#onClose();
        break;
      case 'timer':
        this.#onTimer(event.lateMs, now);
        break;
      default:
        if (event.socket === this.#connection?.socket) this.#onSocket(event, this.#connection, now);
    }
    return this.#effects;
  }

  #onSocket(event: Extract<PzqProducerEvent<Ticket>, { socket: number }>, connection: Connection, now: number): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.message, connection, now);
        break;
      case 'rejected':
        this.#drop(event.reason, now);
        break;
      case 'lost':
        this.#onLost(now);
        break;
      case 'refused':
        this.#onRefused(event.cause, now);
        break;
    }
  }

  #onProduce(order: PzqOrder<Ticket>, now: number): void {
    const message = new Message(order, latin1(order.id));
    if (this.#messages.has(message.key)) throw new Error('produce: a message of this id has no outcome yet');
    if (this.#closed) this.#fail(message, 'CLOSED');
    else if (this.#messages.size >= this.#options.window + this.#options.waitingMax) this.#fail(message, 'QUEUE_FULL');
    else {
      this.#messages.set(message.key, message);
      this.#waiting.renew(message.place, now);
      this.#ends?.renew(message.end, now);
      this.#feed(now);
    }
  }

  #onAbort(id: Uint8Array, now: number): void {
    const message = this.#messages.get(latin1(id));
    if (message === undefined) return;
    this.#counts.aborts++;
    this.#forget(message);
    this.#feed(now);
  }

  #onMessage(ack: PzqToProducer, connection: Connection, now: number): void {
    if (ack.kind === 'malformed') {
      this.#drop(ack.reason, now);
      return;
    }
    connection.heardAt = now;
    this.#excused = false;
    this.#refusals = 0;
    this.#backoff.up(now);
    const message = this.#messages.get(latin1(ack.id));
    if (message === undefined || message.sends === 0) {
      this.#counts.lateAcks++;
      return;
    }
    if (ack.stored) {
      this.#counts.stored++;
      this.#forget(message);
      this.#effects.push({ kind: 'stored', ticket: message.order.ticket });
    } else this.#end(message, 'REJECTED', ack.reason);
    this.#feed(now);
  }

  #drop(reason: PzqProducerDropReason, now: number): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + 1);
    if (this.#noted.allow(reason, now)) this.#note({ code: 'message-dropped', reason, endpoint: this.#endpointName });
  }

  #onLost(now: number): void {
    this.#note({ code: 'connection-lost', endpoint: this.#endpointName });
    this.#pausedUntil = now + this.#backoff.down(now);
    this.#leave('connection-lost');
    this.#feed(now);
  }

  /** Where no endpoint can be opened, waiting would not help: the fault is ours. */
  #onRefused(cause: unknown, now: number): void {
    this.#leave('connection-lost');
    if (++this.#refusals >= this.#options.endpoints.length) {
      this.#refusals = 0;
      for (const message of this.#messages.values()) this.#end(message, 'UNREACHABLE', '', cause);
    }
    this.#feed(now);
  }

  #onClose(): void {
    this.#closed = true;
    for (const message of this.#messages.values()) this.#end(message, 'CLOSED');
    if (this.#connection !== undefined) this.#leave('silence');
    this.#openAt = Infinity;
  }

  #onTimer(lateMs: number, now: number): void {
    const excuse = lateMs > 0 && !this.#excused;
    if (excuse) {
      // Answers may lie unread in the socket: docs/adr/0004. Once, and no longer than a timeout, or a busy process waits for ever.
      this.#excused = true;
      const credit = Math.min(lateMs, this.#options.ackTimeoutMs);
      this.#sent.postpone(credit, now);
      this.#ends?.postpone(credit, now);
    }
    for (let over = this.#ends?.takeDue(now); over !== undefined; over = this.#ends?.takeDue(now))
      this.#end(over, 'TIMEOUT');
    if (this.#connection !== undefined && this.#sent.deadline <= now) this.#onSilence(this.#connection, now);
    this.#feed(now);
  }

  #onSilence(connection: Connection, now: number): void {
    if (now - connection.heardAt >= this.#options.ackTimeoutMs) {
      this.#leave('silence');
      return;
    }
    // Others are answered, these were forgotten: a queue does not store what it could not acknowledge.
    let messages = 0;
    for (let message = this.#sent.takeDue(now); message !== undefined; message = this.#sent.takeDue(now)) {
      this.#transmit(message, connection, now);
      messages++;
    }
    this.#noteResent('silence', messages);
  }

  /** Sends what there is room for; connects first where need be. */
  #feed(now: number): void {
    if (this.#messages.size === 0) {
      this.#openAt = Infinity;
      return;
    }
    const connection = this.#connection ?? this.#connect(now);
    if (connection === undefined) return;
    while (this.#hasRoom) {
      const message = this.#waiting.takeDue(now);
      if (message === undefined) return;
      this.#sentBytes += message.order.bytes;
      this.#transmit(message, connection, now);
    }
  }

  get #hasRoom(): boolean {
    const { window, windowBytes } = this.#options;
    return this.#sent.size === 0 || (this.#sent.size < window && this.#sentBytes < windowBytes);
  }

  /** Opens a connection and sends on it what was sent on an earlier one; `undefined` while it is too early for that. */
  #connect(now: number): Connection | undefined {
    if (now < this.#pausedUntil) {
      this.#openAt = this.#pausedUntil;
      return undefined;
    }
    const connection: Connection = { socket: ++this.#counts.connections, heardAt: now };
    this.#connection = connection;
    this.#openAt = Infinity;
    this.#excused = false;
    this.#effects.push({ kind: 'open', socket: connection.socket, endpoint: this.#endpointName });
    const again = [...this.#sent.values()];
    for (const message of again) this.#transmit(message, connection, now);
    this.#noteResent(this.#cause, again.length);
    return connection;
  }

  /** Gives the connection up; the next one goes to the next endpoint. */
  #leave(cause: 'silence' | 'connection-lost'): void {
    const { socket } = this.#connection as Connection;
    this.#connection = undefined;
    this.#cause = cause;
    this.#endpoint = (this.#endpoint + 1) % this.#options.endpoints.length;
    this.#effects.push({ kind: 'close', socket });
  }

  #transmit(message: Message<Ticket>, { socket }: Connection, now: number): void {
    message.sends++;
    this.#counts.sends++;
    this.#sent.renew(message.place, now);
    this.#effects.push({ kind: 'send', socket, command: message.command });
  }

  /** Strikes the message off the books. */
  #forget(message: Message<Ticket>): void {
    this.#messages.delete(message.key);
    this.#ends?.remove(message.end);
    this.#waiting.remove(message.place);
    if (message.sends > 0) this.#sentBytes -= message.order.bytes;
    this.#sent.remove(message.place);
  }

  #end(message: Message<Ticket>, code: PzqProducerFailure, reason = '', cause?: unknown): void {
    this.#forget(message);
    this.#fail(message, code, reason, cause);
  }

  #fail({ order, sends }: Message<Ticket>, code: PzqProducerFailure, reason = '', cause?: unknown): void {
    this.#failures[code]++;
    this.#effects.push({ kind: 'failed', ticket: order.ticket, code, reason, sends, cause });
  }

  get #endpointName(): string {
    return this.#options.endpoints[this.#endpoint] as string;
  }

  #noteResent(cause: 'silence' | 'connection-lost', messages: number): void {
    if (messages > 0) this.#note({ code: 'messages-resent', cause, endpoint: this.#endpointName, messages });
  }

  #note(note: PzqProducerNote): void {
    this.#effects.push({ kind: 'note', note });
  }

  /** See {@link Engine.assertInvariants}. */
  assertInvariants(): void {
    const { window, waitingMax, timeoutMs } = this.#options;
    let bytes = 0;
    for (const message of this.#sent.values()) {
      bytes += message.order.bytes;
      if (message.sends === 0) throw new Error('a message counts as sent and was not');
      if (this.#messages.get(message.key) !== message) throw new Error('a message is over but still sent');
    }
    if (bytes !== this.#sentBytes) throw new Error(`${this.#sentBytes} bytes are said to be out, and ${bytes} are`);
    if (this.#messages.size !== this.#sent.size + this.#waiting.size)
      throw new Error('a message neither waits nor is sent');
    if (this.#sent.size > window) throw new Error(`${this.#sent.size} messages are out`);
    if (this.#messages.size > window + waitingMax) throw new Error(`${this.#messages.size} messages have no outcome`);
    if (timeoutMs !== undefined && this.#ends?.size !== this.#messages.size)
      throw new Error('a message waits for ever');
    if (this.#connection === undefined && this.#messages.size > 0 && this.#openAt === Infinity)
      throw new Error('there are messages and nothing leads to a connection');
    if (this.#connection !== undefined && this.#waiting.size > 0 && this.#hasRoom)
      throw new Error('a message waits although there is room');
    if (this.#messages.size === 0 && this.deadline !== Infinity)
      throw new Error('something is due although all is done');
    if (this.#closed && (this.#messages.size > 0 || this.#connection !== undefined))
      throw new Error('something is left after the close');
  }
}
