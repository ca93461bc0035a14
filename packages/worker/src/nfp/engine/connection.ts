/** NFP worker: its conversations with brokers, one at a time. Worker rules 1 to 3 of docs/protocols/nfp.md. */
import { decodeNfpOpenInfo, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpBrokerOpen } from '@proj/frames/nfp';
import type { LossReason } from '../../shared/events.js';
import { BrokerConnection } from '../../shared/broker-connection.js';
import type { BrokerConnectionDue } from '../../shared/broker-connection.js';
import type { NfpFromWorker, NfpWorkerLeaveReason } from './events.js';
import type { Output } from './output.js';
import type { NfpWorkerSessionOptions } from './session-options.js';

/** Half-width of the jitter of the back-off. */
const SPREAD = 0.2;

/** What OPEN says besides the name: the version of the protocol that the headers stand for. */
const VERSION = '0.1';

/** Owns the socket's number, its clockwork and the terms agreed on. */
export class BrokerConversation {
  readonly #options: NfpWorkerSessionOptions;
  readonly #output: Output;
  readonly #link: BrokerConnection;
  #socket = 0;
  #heardAt: number | undefined;
  #keepalives = { interval: 0, multiplier: 0 };

  /** `random` returns a number in [0, 1) and spreads the back-off. */
  constructor(options: NfpWorkerSessionOptions, output: Output, random: () => number) {
    this.#options = options;
    this.#output = output;
    const { keepaliveIntervalMs: heartbeatIntervalMs, keepaliveMultiplier: liveness } = options;
    this.#link = new BrokerConnection({ ...options, heartbeatIntervalMs, liveness, spread: SPREAD }, random);
  }

  /** When {@link act} next has something to do. */
  get deadline(): number {
    return this.#link.deadline;
  }

  /** True while messages go out. */
  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  /** Counts conversations; 0 before the first one. */
  get number(): number {
    return this.#socket;
  }

  /** True for the socket of this conversation. */
  isCurrent(socket: number): boolean {
    return this.#link.isOpen && socket === this.#socket;
  }

  /** A conversation begins with OPEN, unless the options say otherwise, and READY. */
  open(now: number): void {
    const { keepaliveIntervalMs: interval, keepaliveMultiplier: multiplier, sendOpen, service, name } = this.#options;
    const { endpoint } = this.#link;
    const form = this.#options.commandForm;
    this.#link.open(now);
    this.#keepalives = { interval, multiplier };
    this.#output.push({ kind: 'open', socket: ++this.#socket, endpoint });
    const about = { name, version: VERSION, keepalive: this.#keepalives };
    if (sendOpen) this.send({ kind: 'worker-open', form, body: encodeNfpJson(about) });
    this.send({ kind: 'worker-ready', form, service });
  }

  /** The broker gave a sign of life. */
  heard(now: number): void {
    this.#heardAt = now;
    if (this.#link.heard(now)) this.#output.note({ code: 'ready', endpoint: this.#link.endpoint });
  }

  /** The broker's OPEN: its terms hold, within bounds, until the end of the conversation. */
  agree(open: NfpBrokerOpen, now: number): void {
    const keepalive = decodeNfpOpenInfo(open.body)?.keepalive;
    if (keepalive === undefined) return;
    const interval = Math.min(Math.max(Math.round(keepalive.interval), 100), 600_000);
    const multiplier = Math.min(Math.max(Math.round(keepalive.multiplier), 2), 20);
    this.#keepalives = { interval, multiplier };
    this.#link.agree(interval, multiplier, now);
  }

  /** The conversation is over without our wish; the next one goes to the next endpoint, after a while. */
  lose(reason: LossReason, now: number): void {
    const { endpoint } = this.#link;
    // A broker that is merely slow learns that we are gone; one that has told us so does not.
    const isSilent = reason === 'silent';
    if (isSilent) this.#disconnect();
    this.#output.push({ kind: 'close', socket: this.#socket, flush: isSilent });
    const retryInMs = this.#link.lost(now, false);
    this.#output.note({ code: 'lost', endpoint, reason, retryInMs });
  }

  /** Ends the conversation by our own wish, and begins another one after a while. */
  renew(now: number): void {
    this.#leave('management');
    this.#link.lost(now, false);
  }

  /** Ends it for good. */
  stop(reason: NfpWorkerLeaveReason): void {
    this.#leave(reason);
    this.#link.stop();
  }

  /** Sends on the socket of this conversation. */
  send(command: NfpFromWorker): void {
    this.#output.push({ kind: 'send', socket: this.#socket, command });
  }

  /** Our own process was late by `lateMs`: silence meanwhile is not the broker's. */
  credit(lateMs: number, now: number): void {
    this.#link.credit(lateMs, now);
  }

  /** Does what is due. */
  act(now: number): void {
    for (let due = this.#link.takeDue(now); due !== undefined; due = this.#link.takeDue(now)) this.#do(due, now);
  }

  /** What `show_broker` shows. */
  describe(now: number): object {
    return {
      endpoint: this.#link.endpoint,
      state: this.#link.isOpen ? 'connected' : 'reconnecting',
      'last seen (s)': this.#heardAt === undefined ? '' : Math.floor((now - this.#heardAt) / 1000).toString(),
      keepalives: this.#keepalives,
    };
  }

  /** `resting`: not yet begun, or stopped. */
  assertInvariants(resting: boolean): void {
    this.#link.assertInvariants(resting);
  }

  #do(due: BrokerConnectionDue, now: number): void {
    switch (due) {
      case 'open':
        this.open(now);
        break;
      case 'heartbeat':
        this.send({ kind: 'worker-keepalive', form: this.#options.commandForm, service: this.#options.service });
        break;
      case 'silent':
        this.lose('silent', now);
        break;
    }
  }

  #leave(reason: NfpWorkerLeaveReason): void {
    if (!this.#link.isOpen) return;
    this.#disconnect();
    this.#output.push({ kind: 'close', socket: this.#socket, flush: true });
    this.#output.note({ code: 'left', endpoint: this.#link.endpoint, reason });
  }

  #disconnect(): void {
    const { commandForm: form, service } = this.#options;
    this.send({ kind: 'worker-disconnect', form, service, body: [] });
  }
}
