/** PZQ producer: the messages without an outcome, and the window of those that are sent. */
import { latin1 } from '@proj/frames';
import type { PzqProduce } from '@proj/frames/pzq';
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { PzqOrder, PzqProducerSessionOptions } from './producer-events.js';
import type { MessageState } from './producer-legality.js';

/** A message without an outcome. */
export class Message<Ticket> {
  readonly order: PzqOrder<Ticket>;
  readonly key: string;
  readonly command: PzqProduce;
  /** Its place among the waiting, then among the sent messages. */
  readonly place = new Deadline<Message<Ticket>>(this);
  readonly end = new Deadline<Message<Ticket>>(this);
  sends = 0;

  constructor(order: PzqOrder<Ticket>) {
    const { id, headers, body } = order;
    this.order = order;
    this.key = latin1(id);
    this.command = { kind: 'produce', id, headers, body };
  }

  get state(): MessageState {
    return this.sends === 0 ? 'waiting' : 'sent';
  }
}

/** All messages without an outcome, in order, within the window's limits. Each call costs O(1), except for listings. */
export class MessageWindow<Ticket> {
  readonly #options: PzqProducerSessionOptions;
  /** By id, as Latin-1. */
  readonly #messages = new Map<string, Message<Ticket>>();
  /** The delay of 0 makes the list a queue that messages can leave in O(1). */
  readonly #waiting = new DeadlineList<Message<Ticket>>(0);
  /** In the order of their last sends; also while there is no connection. */
  readonly #sent: DeadlineList<Message<Ticket>>;
  #sentBytes = 0;
  readonly #ends: DeadlineList<Message<Ticket>> | undefined;

  constructor(options: PzqProducerSessionOptions) {
    this.#options = options;
    this.#sent = new DeadlineList(options.ackTimeoutMs);
    this.#ends = options.timeoutMs === undefined ? undefined : new DeadlineList(options.timeoutMs);
  }

  /** When the oldest sent message has been silent for too long, or the time of a message is over. */
  get deadlines(): { readonly silence: number; readonly end: number } {
    return { silence: this.#sent.deadline, end: this.#ends?.deadline ?? Infinity };
  }

  get size(): number {
    return this.#messages.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get sent(): number {
    return this.#sent.size;
  }

  get isFull(): boolean {
    return this.#messages.size >= this.#options.window + this.#options.waitingMax;
  }

  /** Whether another message may be sent. */
  get hasRoom(): boolean {
    const { window, windowBytes } = this.#options;
    return this.#sent.size === 0 || (this.#sent.size < window && this.#sentBytes < windowBytes);
  }

  get(id: Uint8Array): Message<Ticket> | undefined {
    return this.#messages.get(latin1(id));
  }

  values(): Message<Ticket>[] {
    return [...this.#messages.values()];
  }

  /** The sent messages, in the order of their last sends. */
  unacknowledged(): Message<Ticket>[] {
    return [...this.#sent.values()];
  }

  add(message: Message<Ticket>, now: number): void {
    this.#messages.set(message.key, message);
    this.#waiting.renew(message.place, now);
    this.#ends?.renew(message.end, now);
  }

  /** The next waiting message, if the window has room. The caller sends it. */
  takeWaiting(now: number): Message<Ticket> | undefined {
    const message = this.hasRoom ? this.#waiting.takeDue(now) : undefined;
    if (message !== undefined) this.#sentBytes += message.order.bytes;
    return message;
  }

  /** A message that has been silent for too long. The caller sends it again. */
  takeSilent(now: number): Message<Ticket> | undefined {
    return this.#sent.takeDue(now);
  }

  /** A message whose time is over. The caller ends it. */
  takeEnded(now: number): Message<Ticket> | undefined {
    return this.#ends?.takeDue(now);
  }

  /** It was sent, for the first time or again. */
  renew(message: Message<Ticket>, now: number): void {
    message.sends++;
    this.#sent.renew(message.place, now);
  }

  remove(message: Message<Ticket>): void {
    this.#messages.delete(message.key);
    this.#ends?.remove(message.end);
    this.#waiting.remove(message.place);
    if (message.sends > 0) this.#sentBytes -= message.order.bytes;
    this.#sent.remove(message.place);
  }

  /** Our process was busy for `lateMs`, so answers may not be late. Limited to one timeout, or a busy process would wait for ever. */
  postpone(lateMs: number, now: number): void {
    const credit = Math.min(lateMs, this.#options.ackTimeoutMs);
    this.#sent.postpone(credit, now);
    this.#ends?.postpone(credit, now);
  }

  assertInvariants(): void {
    const { window, waitingMax, timeoutMs } = this.#options;
    let bytes = 0;
    for (const message of this.#sent.values()) {
      bytes += message.order.bytes;
      if (message.sends === 0) throw new Error('a message counts as sent and was not');
      if (this.#messages.get(message.key) !== message) throw new Error('a message is over but still sent');
    }
    if (bytes !== this.#sentBytes) throw new Error(`${this.#sentBytes} bytes are said to be out, and ${bytes} are`);
    if (this.size !== this.sent + this.waiting) throw new Error('a message neither waits nor is sent');
    if (this.sent > window) throw new Error(`${this.sent} messages are out`);
    if (this.size > window + waitingMax) throw new Error(`${this.size} messages have no outcome`);
    if (timeoutMs !== undefined && this.#ends?.size !== this.size) throw new Error('a message waits for ever');
  }
}
