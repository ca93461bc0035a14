/** A Lazy Pirate client and a scripted queue: the frontend's ROUTER and a function that answers. */
import { latin1 } from '@proj/frames';
import { decodePppAtFrontend, encodePpp } from '@proj/frames/ppp';
import type { PppClientRequest } from '@proj/frames/ppp';
import type { Peer, SocketPort, Transport } from '@proj/transport';
import { LazyPirateClient } from '../../src/ppp/client.js';
import type { LazyPirateOptions } from '../../src/ppp/options.js';
import { A, World } from '../world.js';

/** One request as the queue sees it. */
export class Asked {
  readonly peer: Peer;
  readonly request: PppClientRequest;
  readonly #port: SocketPort;

  constructor(port: SocketPort, peer: Peer, request: PppClientRequest) {
    this.#port = port;
    this.peer = peer;
    this.request = request;
  }

  /** The content as text, frames separated by `|`. */
  get text(): string {
    return this.request.content.map(latin1).join('|');
  }

  /** Answers as a queue does. */
  reply(...content: (string | Uint8Array)[]): void {
    this.raw(encodePpp({ kind: 'client-reply', hops: [], content: content.map(bytes) }));
  }

  /** Sends any frames at all to the one who asked. */
  raw(frames: readonly (string | Uint8Array)[]): void {
    this.#port.send(this.peer, frames.map(bytes));
  }
}

/** Listens at an endpoint and hands each request to `answer`. */
export class ScriptedQueue {
  readonly asked: Asked[] = [];
  /** Messages that were no request of a REQ socket. */
  readonly nonsense: unknown[] = [];
  endpoint = '';
  answer: (asked: Asked) => void;
  readonly #port: SocketPort;
  readonly #waiters: { count: number; resolve: () => void }[] = [];

  private constructor(port: SocketPort, answer: (asked: Asked) => void) {
    this.#port = port;
    this.answer = answer;
  }

  static async start(transport: Transport, endpoint: string, answer: (asked: Asked) => void): Promise<ScriptedQueue> {
    await transport.load();
    const port = transport.router();
    const queue = new ScriptedQueue(port, answer);
    queue.endpoint = await port.bind(endpoint);
    port.start({
      onMessage: (peer, frames) => queue.#onMessage(peer, frames),
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: (_, reason) => queue.nonsense.push(reason),
      onBroken: (error) => {
        throw error;
      },
    });
    return queue;
  }

  /** Resolves when so many requests have come in all. */
  async received(count: number): Promise<void> {
    if (this.asked.length < count) await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
  }

  close(): Promise<void> {
    return this.#port.close({ lingerMs: 0 });
  }

  #onMessage(peer: Peer, frames: Uint8Array[]): void {
    const request = decodePppAtFrontend(frames);
    if (request.kind !== 'client-request' || request.hops.length > 0) {
      this.nonsense.push(request);
      return;
    }
    const asked = new Asked(this.#port, peer, request);
    this.asked.push(asked);
    for (const { count, resolve } of this.#waiters) if (this.asked.length >= count) resolve();
    this.answer(asked);
  }
}

/** Answers with the content that came. */
export const echo = (asked: Asked): void => {
  asked.reply(...asked.request.content);
};

/** Answers nothing. */
export const silence = (): void => {};

/** The world with a queue in it. */
export class Stage extends World {
  queue(answer: (asked: Asked) => void, endpoint = A, process = endpoint): Promise<ScriptedQueue> {
    return ScriptedQueue.start(this.network.transport(process), endpoint, answer);
  }

  client(options: LazyPirateOptions = {}): LazyPirateClient {
    return new LazyPirateClient({ endpoints: [A], transport: this.transport, ...options });
  }
}

const bytes = (frame: string | Uint8Array): Uint8Array => (typeof frame === 'string' ? Buffer.from(frame) : frame);
