/** A Lazy Pirate client and a scripted queue: the frontend's ROUTER and a function that answers. */
import { latin1 } from '@proj/frames';
import { decodePppAtFrontend, encodePpp } from '@proj/frames/ppp';
import type { PppClientRequest } from '@proj/frames/ppp';
import type { Peer, SocketPort, Transport } from '@proj/transport';
import { LazyPirateClient } from '../../src/ppp/client.js';
import type { LazyPirateOptions } from '../../src/ppp/options.js';
import { ScriptedServer } from '../scripted-server.js';
import { A, ClientWorld } from '../world.js';

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

export class ScriptedQueue extends ScriptedServer<Asked> {
  static start(transport: Transport, endpoint: string, answer: (asked: Asked) => void): Promise<ScriptedQueue> {
    return new ScriptedQueue(answer).listen(transport, endpoint);
  }

  /** Only what a REQ socket says is a request. */
  protected read(port: SocketPort, peer: Peer, frames: Uint8Array[]): Asked | undefined {
    const request = decodePppAtFrontend(frames);
    return request.kind === 'client-request' && request.hops?.length === 0 ? new Asked(port, peer, request) : undefined;
  }
}

/** Answers with the content that came. */
export const echo = (asked: Asked): void => {
  asked.reply(...asked.request.content);
};

/** Answers nothing. */
export const silence = (): void => {};

/** The world with a queue in it. */
export class Stage extends ClientWorld {
  queue(answer: (asked: Asked) => void, endpoint = A, process = endpoint): Promise<ScriptedQueue> {
    return ScriptedQueue.start(this.network.transport(process), endpoint, answer);
  }

  client(options: LazyPirateOptions = {}): LazyPirateClient {
    return new LazyPirateClient({ endpoints: [A], transport: this.transport, ...options });
  }
}

const bytes = (frame: string | Uint8Array): Uint8Array => (typeof frame === 'string' ? Buffer.from(frame) : frame);
