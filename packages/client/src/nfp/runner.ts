/** NFP client: the half that has the socket and the clock. What is sent when is the engine's business. */
import { EMPTY_FRAME } from '@proj/frames';
import { decodeNfpAtClient, encodeNfp, nfpNameOf, nfpRoutingId } from '@proj/frames/nfp';
import { Dealers, Driver } from '@proj/transport';
import type { HandshakeRefusal, PortListener, PortOptions, Transport } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import { loadTransport } from '@proj/zmtp';
import type { NfpClientSettings } from './options.js';
import type { NfpClientEffect, NfpClientEvent } from './session-events.js';
import type { NfpClientSession } from './session.js';

/** Effects that are not for sockets. */
export type NfpNews<Ticket> = Exclude<NfpClientEffect<Ticket>, { kind: 'open' | 'close' | 'send' }>;

const MESSAGE_FRAMES = 64;
const UUID_FRAME = 5;

/** Runs one session: opens its connections, carries its calls, hands everything else to `onNews`. */
export class NfpRunner<Ticket> {
  readonly #settings: NfpClientSettings;
  readonly #session: NfpClientSession<Ticket>;
  readonly #onNews: (news: NfpNews<Ticket>) => void;
  readonly #onRefused: (refusal: HandshakeRefusal) => void;
  readonly #dealers = new Dealers();
  #transport: Transport | undefined;
  #name = EMPTY_FRAME;
  #driver: Driver<NfpClientEvent<Ticket>, NfpClientEffect<Ticket>> | undefined;

  constructor(
    settings: NfpClientSettings,
    session: NfpClientSession<Ticket>,
    onNews: (news: NfpNews<Ticket>) => void,
    onRefused: (refusal: HandshakeRefusal) => void,
  ) {
    this.#settings = settings;
    this.#session = session;
    this.#onNews = onNews;
    this.#onRefused = onRefused;
  }

  /** What it runs on, once it is loaded. */
  get transport(): Transport | undefined {
    return this.#transport;
  }

  /** Makes it ready for events. Rejects with `UNAVAILABLE` where ZeroMQ cannot run. */
  async load(): Promise<void> {
    const transport = await loadTransport(this.#settings.transport);
    this.#name = nfpRoutingId(this.#settings.name ?? `proj-${transport.entropy.uuid()}`);
    this.#transport = transport;
    this.#driver = new Driver(this.#session, transport, this.#perform);
  }

  /** Does nothing before `load`, and after `close`. */
  dispatch(event: NfpClientEvent<Ticket>): void {
    this.#driver?.dispatch(event);
  }

  /** Ends the session; resolves when the socket is closed. */
  async close(): Promise<void> {
    this.dispatch({ kind: 'close' });
    // The driver delivers the event when the current step, if any, is done: not later than this.
    await Promise.resolve();
    this.#driver?.stop();
    await this.#dealers.over();
  }

  readonly #perform = (effect: NfpClientEffect<Ticket>): void => {
    switch (effect.kind) {
      case 'open':
        this.#open(effect.socket, effect.endpoint);
        break;
      case 'close':
        this.#dealers.close(effect.socket, effect.linger);
        break;
      case 'send':
        this.#dealers.send(effect.socket, encodeNfp(effect.command));
        break;
      default:
        this.#onNews(effect);
    }
  };

  #open(socket: number, endpoint: string): void {
    const plan = { endpoint, options: this.#portOptions(), listener: this.#listenerOf(socket) };
    const cause = this.#dealers.open(socket, this.#transport as Transport, plan);
    if (cause !== undefined) this.dispatch({ kind: 'refused', socket, cause });
  }

  #portOptions(): PortOptions {
    const { lingerMs, maxMessageBytes, openMax, openMaxBytes, curve } = this.#settings;
    return {
      lingerMs,
      maxMessageFrames: MESSAGE_FRAMES,
      maxMessageBytes,
      // Each order has a call on its way at the most, and perhaps a GET and a DELETE.
      peerQueueMax: openMax * 3,
      queueMax: openMax * 3,
      peerQueueMaxBytes: openMaxBytes * 3,
      queueMaxBytes: openMaxBytes * 3,
      routingId: this.#name,
      ...clientCurve(curve),
    };
  }

  #listenerOf(socket: number): PortListener {
    const lost = () => {
      this.dispatch({ kind: 'lost', socket });
    };
    return {
      onMessage: (_peer, frames) => {
        this.dispatch({ kind: 'message', socket, message: decodeNfpAtClient(frames) });
      },
      onRejected: (_peer, reason) => {
        this.dispatch({ kind: 'rejected', socket, reason });
      },
      onUndeliverable: (_peer, frames) => {
        // The uuid in the frames of a call of ours.
        this.dispatch({ kind: 'unsent', socket, uuid: nfpNameOf(frames[UUID_FRAME] ?? EMPTY_FRAME) });
      },
      onRefused: this.#onRefused,
      onPeerGone: lost,
      onBroken: lost,
    };
  }
}
