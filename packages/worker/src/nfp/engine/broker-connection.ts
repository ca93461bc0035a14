/** NFP worker: its conversations with brokers, one at a time. Worker rules 1 to 3 of docs/protocols/nfp.md. */
import { decodeNfpOpenInfo, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpBrokerOpen } from '@proj/frames/nfp';
import { BrokerConnection } from '../../shared/broker-connection.js';
import type { BrokerConnectionDue } from '../../shared/broker-connection.js';
import type { LossReason } from '../../shared/events.js';
import type { NfpFromWorker, NfpWorkerLeaveReason, NfpWorkerSessionOptions, NfpOutput } from './events.js';

/** Half-width of the jitter of the back-off. */
const SPREAD = 0.2;

/** The protocol version in OPEN, the one that the headers stand for. */
const VERSION = '0.1';

/** Opens and ends conversations and follows the agreed terms. */
export class BrokerConversation {
  readonly #options: NfpWorkerSessionOptions;
  readonly #out: NfpOutput;
  readonly #connection: BrokerConnection;
  #heardAt: number | undefined;
  #keepalives = { interval: 0, multiplier: 0 };

  /** `random` returns a number in [0, 1) and spreads the back-off. */
  constructor(options: NfpWorkerSessionOptions, out: NfpOutput, random: () => number) {
    this.#options = options;
    this.#out = out;
    const { keepaliveIntervalMs: heartbeatIntervalMs, keepaliveMultiplier: liveness } = options;
    this.#connection = new BrokerConnection({ ...options, heartbeatIntervalMs, liveness, spread: SPREAD }, random);
  }

  /** When {@link act} next has something to do. */
  get deadline(): number {
    return this.#connection.deadline;
  }

  /** True while messages can be sent. */
  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  /** Number of conversations; 0 before the first one. */
  get number(): number {
    return this.#out.socket;
  }

  isCurrent(socket: number): boolean {
    return this.#connection.isOpen && socket === this.#out.socket;
  }

  /** A conversation begins with OPEN, unless the options say otherwise, and READY. */
  open(): void {
    const { keepaliveIntervalMs: interval, keepaliveMultiplier: multiplier, sendOpen, service, name } = this.#options;
    const { endpoint } = this.#connection;
    const form = this.#options.commandForm;
    this.#connection.open(this.#out.now);
    this.#keepalives = { interval, multiplier };
    this.#out.push({ kind: 'open', socket: ++this.#out.socket, endpoint });
    const about = { name, version: VERSION, keepalive: this.#keepalives };
    if (sendOpen) this.send({ kind: 'worker-open', form, body: encodeNfpJson(about) });
    this.send({ kind: 'worker-ready', form, service });
  }

  heard(): void {
    const { now } = this.#out;
    this.#heardAt = now;
    if (this.#connection.heard(now)) this.#out.report({ code: 'ready', endpoint: this.#connection.endpoint });
  }

  /** The broker's OPEN: its terms apply, within bounds, until the end of the conversation. */
  agree(open: NfpBrokerOpen): void {
    const keepalive = decodeNfpOpenInfo(open.body)?.keepalive;
    if (keepalive === undefined) return;
    const interval = Math.min(Math.max(Math.round(keepalive.interval), 100), 600_000);
    const multiplier = Math.min(Math.max(Math.round(keepalive.multiplier), 2), 20);
    this.#keepalives = { interval, multiplier };
    this.#connection.agree(interval, multiplier, this.#out.now);
  }

  /** The conversation was lost; the next one goes to the next endpoint, after a while. */
  lose(reason: LossReason): void {
    const { endpoint } = this.#connection;
    // A broker that is merely slow learns that we are gone; one that told us so already knows.
    const isSilent = reason === 'silent';
    if (isSilent) this.#disconnect();
    this.#out.close(isSilent);
    const retryInMs = this.#connection.lost(this.#out.now, false);
    this.#out.report({ code: 'lost', endpoint, reason, retryInMs });
  }

  /** Ends the conversation, and begins another one after a while. */
  renew(): void {
    this.#leave('management');
    this.#connection.lost(this.#out.now, false);
  }

  stop(reason: NfpWorkerLeaveReason): void {
    this.#leave(reason);
    this.#connection.stop();
  }

  send(command: NfpFromWorker): void {
    this.#out.send(command);
  }

  /** Our process was late by `lateMs`: silence meanwhile proves nothing about the broker. */
  credit(lateMs: number): void {
    this.#connection.credit(lateMs, this.#out.now);
  }

  act(): void {
    this.#connection.act(this.#out.now, this.#due);
  }

  /** What `show_broker` shows. */
  describe(): object {
    const { now } = this.#out;
    return {
      endpoint: this.#connection.endpoint,
      state: this.isOpen ? 'connected' : 'reconnecting',
      'last seen (s)': this.#heardAt === undefined ? '' : Math.floor((now - this.#heardAt) / 1000).toString(),
      keepalives: this.#keepalives,
    };
  }

  /** `resting`: not begun yet, or stopped. */
  assertInvariants(resting: boolean): void {
    this.#connection.assertInvariants(resting);
  }

  readonly #due: BrokerConnectionDue = {
    open: this.open.bind(this),
    heartbeat: () => {
      this.send({ kind: 'worker-keepalive', form: this.#options.commandForm, service: this.#options.service });
    },
    silent: this.lose.bind(this, 'silent'),
  };

  #leave(reason: NfpWorkerLeaveReason): void {
    if (!this.isOpen) return;
    this.#disconnect();
    this.#out.close(true);
    this.#out.report({ code: 'left', endpoint: this.#connection.endpoint, reason });
  }

  #disconnect(): void {
    const { commandForm: form, service } = this.#options;
    this.send({ kind: 'worker-disconnect', form, service, body: [] });
  }
}
