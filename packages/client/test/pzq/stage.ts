/** Producers and consumers, and a scripted queue for them: its sockets, and functions that answer. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodePzqAtReceive, decodePzqAtSend, encodePzq } from '@proj/frames/pzq';
import type { PzqFromConsumer, PzqProduce } from '@proj/frames/pzq';
import { ROUTER_PEER } from '@proj/transport';
import type { Peer, SocketPort, Transport } from '@proj/transport';
import { PzqConsumer } from '../../src/pzq/consumer.js';
import type { PzqConsumerOptions, PzqProducerOptions } from '../../src/pzq/options.js';
import { PzqProducer } from '../../src/pzq/producer.js';
import { listener, ScriptedServer, AwaitedCount } from '../scripted-server.js';
import { A, ClientWorld } from '../world.js';

/** One message as the queue sees it. */
export class Produced {
  readonly peer: Peer;
  readonly message: PzqProduce;
  readonly #port: SocketPort;

  constructor(port: SocketPort, peer: Peer, message: PzqProduce) {
    this.#port = port;
    this.peer = peer;
    this.message = message;
  }

  /** The body as text, frames separated by `|`. */
  get text(): string {
    return this.message.body.map(latin1).join('|');
  }

  get id(): string {
    return latin1(this.message.id);
  }

  stored(): void {
    this.raw(encodePzq({ kind: 'producer-ack', id: this.message.id, stored: true, reason: '' }));
  }

  refused(reason: string): void {
    this.raw(encodePzq({ kind: 'producer-ack', id: this.message.id, stored: false, reason }));
  }

  raw(frames: readonly (string | Uint8Array)[]): void {
    this.#port.send(
      this.peer,
      frames.map((frame) => (typeof frame === 'string' ? fromLatin1(frame) : frame)),
    );
  }
}

/** A receive socket. */
export class ScriptedReceiver extends ScriptedServer<Produced> {
  static start(
    transport: Transport,
    endpoint: string,
    answer: (produced: Produced) => void,
  ): Promise<ScriptedReceiver> {
    return new ScriptedReceiver(answer).listen(transport, endpoint);
  }

  get produced(): readonly Produced[] {
    return this.asked;
  }

  get texts(): string[] {
    return this.asked.map(({ text }) => text);
  }

  protected read(port: SocketPort, peer: Peer, frames: Uint8Array[]): Produced {
    const message = decodePzqAtReceive(frames);
    if (message.kind !== 'produce') throw new Error(`a producer sent ${message.kind}`);
    return new Produced(port, peer, message);
  }
}

/** Stores everything. */
export const storing = (produced: Produced): void => {
  produced.stored();
};

/** Answers nothing. */
export const silence = (): void => {};

/** A send socket: deals messages out and collects what consumers say. */
export class ScriptedSender {
  readonly said: PzqFromConsumer[] = [];
  endpoint = '';
  readonly #port: SocketPort;
  readonly #tally = new AwaitedCount();
  readonly #transport: Transport;

  private constructor(port: SocketPort, transport: Transport) {
    this.#port = port;
    this.#transport = transport;
  }

  static async start(transport: Transport, endpoint: string): Promise<ScriptedSender> {
    await transport.load();
    // Waits for consumers as a queue does: what is dealt out before one is there is not lost.
    const port = transport.dealer({ highWaterMark: 1, sendWaitMs: 100, peerQueueMax: 10_000 });
    const sender = new ScriptedSender(port, transport);
    sender.endpoint = await port.bind(endpoint);
    port.start(
      listener((_, frames) => {
        sender.said.push(decodePzqAtSend(frames));
        sender.#tally.add();
      }),
    );
    return sender;
  }

  /** What consumers said, as lines such as `+key` (done), `-key` (given back), `key` (still at it). */
  get lines(): string[] {
    return this.said.map((said) => {
      if (said.kind === 'malformed') return said.reason;
      if (said.kind === 'lease-extension') return latin1(said.key);
      return `${said.positive ? '+' : '-'}${latin1(said.key)}`;
    });
  }

  /** Sends a delivery of now. */
  deliver(key: string, body: string, { agoMs = 0, timeoutMs = 5000 } = {}): void {
    const sentMicros = this.#transport.entropy.wallMicros() - agoMs * 1000;
    this.raw(
      encodePzq({
        kind: 'delivery',
        key: fromLatin1(key),
        sentMicros,
        ackTimeoutMicros: timeoutMs * 1000,
        body: body.split('|').map(fromLatin1),
      }),
    );
  }

  raw(frames: readonly Uint8Array[]): void {
    this.#port.send(ROUTER_PEER, frames);
  }

  /** Resolves when consumers have said so many things in all. */
  heard(count: number): Promise<void> {
    return this.#tally.reached(count);
  }

  /** Deliveries that no consumer had room for yet. */
  get waiting(): number {
    return this.#port.pending;
  }

  close(): Promise<void> {
    return this.#port.close({ lingerMs: 0 });
  }
}

/** The world with a queue in it. */
export class Stage extends ClientWorld {
  receiver(
    answer: (produced: Produced) => void = storing,
    endpoint = A,
    process = endpoint,
  ): Promise<ScriptedReceiver> {
    return ScriptedReceiver.start(this.network.transport(process), endpoint, answer);
  }

  sender(endpoint = A, process = endpoint): Promise<ScriptedSender> {
    return ScriptedSender.start(this.network.transport(process), endpoint);
  }

  producer(options: PzqProducerOptions = {}): PzqProducer {
    return new PzqProducer({ endpoints: [A], transport: this.transport, ...options });
  }

  consumer(options: PzqConsumerOptions = {}): PzqConsumer {
    return new PzqConsumer({ endpoints: [A], transport: this.transport, ...options });
  }
}
