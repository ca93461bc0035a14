/** NFP client: runs the session over sockets. Decisions: engine/session.ts. */
import { EMPTY_FRAME } from '@proj/frames';
import { decodeNfpAtClient, encodeNfp, nfpNameOf, nfpRoutingId } from '@proj/frames/nfp';
import { SessionHost } from '@proj/transport';
import type { HandshakeRefusal, PortOptions, Transport } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import { loadTransport } from '@proj/zmtp';
import { unanswered } from '../unanswered.js';
import type { Unanswered } from '../unanswered.js';
import { isThere } from './calls.js';
import type { NfpClientSettings } from './options.js';
import type { NfpClientEffect, NfpClientEvent, NfpClientFailure } from './engine/events.js';
import type { NfpClientSession } from './engine/session.js';

/** Effects that do not concern sockets. */
export type NfpNews<Ticket> = Exclude<NfpClientEffect<Ticket>, { kind: 'open' | 'close' | 'send' }>;

const MESSAGE_FRAMES = 64;
const UUID_FRAME = 5;

/** Runs one session: opens its connections, sends its calls, passes everything else to `onNews`. */
export class NfpRunner<Ticket> {
  readonly #settings: NfpClientSettings;
  readonly #host: SessionHost<NfpClientEvent<Ticket>, NfpClientEffect<Ticket>>;
  readonly #onNews: (news: NfpNews<Ticket>) => void;
  #name = EMPTY_FRAME;

  constructor(
    settings: NfpClientSettings,
    session: NfpClientSession<Ticket>,
    onNews: (news: NfpNews<Ticket>) => void,
    onRefused: (refusal: HandshakeRefusal) => void,
  ) {
    this.#settings = settings;
    this.#onNews = onNews;
    this.#host = new SessionHost<NfpClientEvent<Ticket>, NfpClientEffect<Ticket>>(
      {
        engine: session,
        perform: this.#perform,
        onMessage: (socket, frames) => ({ kind: 'message', socket, message: decodeNfpAtClient(frames) }),
        onRejected: (socket, reason) => ({ kind: 'rejected', socket, reason }),
        onLost: (socket) => ({ kind: 'lost', socket }),
        // The uuid in the frames of our own calls.
        onUndeliverable: (socket, frames) => ({
          kind: 'unsent',
          socket,
          uuid: nfpNameOf(frames[UUID_FRAME] ?? EMPTY_FRAME),
        }),
        onUnopened: (socket, cause) => ({ kind: 'refused', socket, cause }),
        onRefused,
      },
      () => loadTransport(settings.transport, settings.curve),
    );
  }

  get transport(): Transport | undefined {
    return this.#host.transport;
  }

  /** What is known about the brokers, for a call that failed with this code. */
  known(code: NfpClientFailure): Unanswered | undefined {
    if (code !== 'TIMEOUT') return undefined;
    return unanswered(this.#host, this.#settings.endpoints, isThere(this.#settings));
  }

  /** Loads the transport. Rejects with `UNAVAILABLE` if ZeroMQ cannot run. */
  async load(): Promise<void> {
    const { entropy } = await this.#host.load();
    this.#name = nfpRoutingId(this.#settings.name ?? `proj-${entropy.uuid()}`);
  }

  /** No effect before `load` and after `close`. */
  dispatch(event: NfpClientEvent<Ticket>): void {
    this.#host.dispatch(event);
  }

  /** Ends the session; resolves when its socket is closed. */
  close(): Promise<void> {
    return this.#host.close({ kind: 'close' });
  }

  readonly #perform = (effect: NfpClientEffect<Ticket>): void => {
    switch (effect.kind) {
      case 'open':
        this.#host.open(effect.socket, { endpoints: [effect.endpoint], port: this.#portOptions() });
        break;
      case 'close':
        this.#host.closeSocket(effect.socket, effect.linger);
        break;
      case 'send':
        this.#host.send(effect.socket, encodeNfp(effect.command));
        break;
      default:
        this.#onNews(effect);
    }
  };

  #portOptions(): PortOptions {
    const { lingerMs, maxMessageBytes, openMax, openMaxBytes, curve } = this.#settings;
    return {
      lingerMs,
      maxMessageFrames: MESSAGE_FRAMES,
      maxMessageBytes,
      // Each order has at most one call under way, and perhaps a GET and a DELETE.
      peerQueueMax: openMax * 3,
      queueMax: openMax * 3,
      peerQueueMaxBytes: openMaxBytes * 3,
      queueMaxBytes: openMaxBytes * 3,
      routingId: this.#name,
      ...clientCurve(curve),
    };
  }
}
