/** EventMQ clients, and a scripted broker for them: its frontend, and functions that answer. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeEmqpAtBroker, encodeEmqp } from '@proj/frames/emqp';
import type { EmqpRequest, EmqpScheduling } from '@proj/frames/emqp';
import type { Peer, SocketPort, Transport } from '@proj/transport';
import { EmqpClient } from '../../src/emqp/client.js';
import type { EmqpClientOptions } from '../../src/emqp/options.js';
import { A, World } from '../world.js';

/** One command as the broker sees it. */
export class Asked {
  readonly peer: Peer;
  readonly frames: readonly Uint8Array[];
  readonly command: EmqpRequest | EmqpScheduling;
  readonly #port: SocketPort;

  constructor(port: SocketPort, peer: Peer, frames: readonly Uint8Array[]) {
    const command = decodeEmqpAtBroker(frames);
    if (command.kind !== 'request' && command.kind !== 'schedule' && command.kind !== 'unschedule')
      throw new Error(`a client sent ${command.kind}`);
    this.#port = port;
    this.peer = peer;
    this.frames = frames;
    this.command = command;
  }

  /** The frames behind the id, as text. */
  get texts(): string[] {
    return this.frames.slice(4).map(latin1);
  }

  accept(): void {
    this.#port.send(this.peer, encodeEmqp({ kind: 'accepted', id: 'a', of: this.command.id }));
  }

  result(json: string): void {
    this.#port.send(this.peer, encodeEmqp({ kind: 'result', id: 'r', result: fromLatin1(json), of: this.command.id }));
  }

  raw(...frames: readonly string[]): void {
    this.#port.send(this.peer, frames.map(fromLatin1));
  }
}

/** Accepts everything. */
export const accepting = (asked: Asked): void => {
  if (asked.command.kind === 'request') asked.accept();
};

/** Answers nothing. */
export const silence = (): void => {};

/** A frontend: hands each command to `answer`. */
export class ScriptedBroker {
  readonly asked: Asked[] = [];
  endpoint = '';
  answer: (asked: Asked) => void;
  readonly #port: SocketPort;
  readonly #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  private constructor(port: SocketPort, answer: (asked: Asked) => void) {
    this.#port = port;
    this.answer = answer;
  }

  static async start(transport: Transport, endpoint: string, answer: (asked: Asked) => void): Promise<ScriptedBroker> {
    await transport.load();
    // It answers whatever it is asked at once.
    const port = transport.router({ peerQueueMax: 100_000 });
    const broker = new ScriptedBroker(port, answer);
    broker.endpoint = await port.bind(endpoint);
    port.start({
      onMessage: (peer, frames) => broker.#onMessage(peer, frames),
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: (error) => {
        throw error;
      },
    });
    return broker;
  }

  /** Resolves when so many commands have come in all. */
  async received(count: number): Promise<void> {
    if (this.asked.length < count) await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
  }

  close(): Promise<void> {
    return this.#port.close({ lingerMs: 0 });
  }

  #onMessage(peer: Peer, frames: Uint8Array[]): void {
    const asked = new Asked(this.#port, peer, frames);
    this.asked.push(asked);
    for (const { count, resolve } of this.#waiters) if (this.asked.length >= count) resolve();
    this.answer(asked);
  }
}

/** The world with a broker in it. */
export class Stage extends World {
  broker(answer: (asked: Asked) => void = accepting, endpoint = A, process = endpoint): Promise<ScriptedBroker> {
    return ScriptedBroker.start(this.network.transport(process), endpoint, answer);
  }

  client(options: EmqpClientOptions = {}): EmqpClient {
    return new EmqpClient({ endpoints: [A], transport: this.transport, ...options });
  }
}
