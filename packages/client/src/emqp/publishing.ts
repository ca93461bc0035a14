/** PUBLISH of an EventMQ client: one DEALER to the pub-sub device, which answers nothing. Rule 31 of docs/protocols/emqp.md. */
import type { Timer } from '@proj/heartbeat';
import { encodeEmqp } from '@proj/frames/emqp';
import { ProjError, ROUTER_PEER } from '@proj/transport';
import type { Departures, PortOptions, SocketPort, Transport } from '@proj/transport';
import { onAbort } from '../shared/on-abort.js';
import { namedPort } from './command-runner.js';
import { idOf } from './job.js';
import type { EmqpClientSettings } from './options.js';

/** A message that the transport has not taken yet. */
interface Sending {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  timer: Timer | undefined;
  /** Stops listening to the caller's signal. */
  release: () => void;
}

const ignore = (): void => undefined;

/** Sends messages in order, and reports when the transport has taken them. */
export class EmqpPublishing {
  readonly #settings: EmqpClientSettings;
  readonly #portOptions: PortOptions;
  readonly #departures: Departures;
  readonly #open = new Map<string, Sending>();
  #port: SocketPort | undefined;
  /** Messages taken by the transport. */
  published = 0;

  /** `departures` takes over the socket at the end. */
  constructor(settings: EmqpClientSettings, port: PortOptions, departures: Departures) {
    this.#settings = settings;
    this.#portOptions = port;
    this.#departures = departures;
  }

  /** Resolves when the transport has taken the message. Rejects with `QUEUE_FULL`, `TIMEOUT`, `UNREACHABLE`, `CLOSED` or the signal's reason. */
  send(transport: Transport, topic: Uint8Array, body: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const { openMax, timeoutMs } = this.#settings;
      if (this.#open.size >= openMax) throw this.#error('QUEUE_FULL', `${openMax} messages are waiting to be sent`);
      const port = (this.#port ??= this.#connect(transport));
      const id = transport.entropy.uuid();
      const sending: Sending = { resolve, reject, timer: undefined, release: ignore };
      this.#open.set(id, sending);
      port.send(ROUTER_PEER, encodeEmqp({ kind: 'publish', id, topic, body }));
      // It has usually been sent by now.
      if (!this.#open.has(id)) return;
      if (signal !== undefined)
        sending.release = onAbort(signal, () => {
          this.#fail(id, signal.reason);
        });
      sending.timer = transport.clock.at(transport.clock.now() + timeoutMs, () => {
        this.#fail(id, this.#error('TIMEOUT', `not sent within ${timeoutMs} ms; is a device there?`));
      });
    });
  }

  /** Rejects unsent messages, which may still be sent. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.#fail(id, this.#error('CLOSED', 'the client is closed'));
    if (this.#port !== undefined) this.#departures.add(this.#port, this.#settings.lingerMs);
    this.#port = undefined;
  }

  #connect(transport: Transport): SocketPort {
    const port = transport.dealer(namedPort(this.#portOptions, transport));
    try {
      port.connect(this.#settings.publishEndpoint);
    } catch (cause) {
      this.#departures.add(port, 0);
      throw this.#error('UNREACHABLE', cause instanceof Error ? cause.message : String(cause), cause);
    }
    port.start({
      onMessage: ignore,
      onRejected: ignore,
      onPeerGone: ignore,
      onSent: (_peer, frames) => {
        this.#take(idOf(frames))?.resolve();
        this.published++;
      },
      onUndeliverable: (_peer, frames) => {
        this.#fail(idOf(frames), this.#error('QUEUE_FULL', 'the transport has no room; is a device there?'));
      },
      onBroken: (cause) => {
        this.#port = undefined;
        this.#departures.add(port, 0);
        for (const id of [...this.#open.keys()]) this.#fail(id, this.#error('UNREACHABLE', cause.message, cause));
      },
    });
    return port;
  }

  #fail(id: string, error: unknown): void {
    this.#take(id)?.reject(error);
  }

  #take(id: string): Sending | undefined {
    const sending = this.#open.get(id);
    this.#open.delete(id);
    sending?.timer?.cancel();
    sending?.release();
    return sending;
  }

  #error(code: 'QUEUE_FULL' | 'TIMEOUT' | 'UNREACHABLE' | 'CLOSED', why: string, cause?: unknown): ProjError {
    const text = `publish at ${this.#settings.publishEndpoint}: ${why}`;
    return new ProjError(code, text, cause === undefined ? {} : { cause });
  }
}
