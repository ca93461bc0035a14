/** EventMQ clients, and a scripted broker for them: its frontend, and functions that answer. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeEmqpAtBroker, encodeEmqp } from '@proj/frames/emqp';
import type { EmqpRequest, EmqpScheduling } from '@proj/frames/emqp';
import type { Peer, SocketPort, Transport } from '@proj/transport';
import { EmqpClient } from '../../src/emqp/client.js';
import type { EmqpClientOptions } from '../../src/emqp/options.js';
import { ScriptedServer } from '../scripted-server.js';
import { A, ClientWorld } from '../world.js';

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

/** A frontend. */
export class ScriptedBroker extends ScriptedServer<Asked> {
  static start(transport: Transport, endpoint: string, answer: (asked: Asked) => void): Promise<ScriptedBroker> {
    // It answers whatever it is asked at once.
    return new ScriptedBroker(answer).listen(transport, endpoint, { peerQueueMax: 100_000 });
  }

  protected read(port: SocketPort, peer: Peer, frames: Uint8Array[]): Asked {
    return new Asked(port, peer, frames);
  }
}

/** The world with a broker in it. */
export class Stage extends ClientWorld {
  broker(answer: (asked: Asked) => void = accepting, endpoint = A, process = endpoint): Promise<ScriptedBroker> {
    return ScriptedBroker.start(this.network.transport(process), endpoint, answer);
  }

  client(options: EmqpClientOptions = {}): EmqpClient {
    return new EmqpClient({ endpoints: [A], transport: this.transport, ...options });
  }
}
