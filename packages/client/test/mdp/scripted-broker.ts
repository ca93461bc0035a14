/** The broker's side of a conversation, played by a test: a ROUTER, the codec and a function that answers. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import type { MdpClientRequest } from '@proj/frames/mdp';
import type { Peer, SocketPort, Transport } from '@proj/transport';

/** One request as the broker sees it. */
export class Asked {
  readonly peer: Peer;
  readonly request: MdpClientRequest;
  readonly #port: SocketPort;

  constructor(port: SocketPort, peer: Peer, request: MdpClientRequest) {
    this.#port = port;
    this.peer = peer;
    this.request = request;
  }

  get service(): string {
    return this.request.service;
  }

  /** The body as text, frames separated by `|`. */
  get text(): string {
    return this.request.body.map(latin1).join('|');
  }

  partial(...texts: string[]): void {
    const { service } = this.request;
    this.raw(encodeMdp({ kind: 'client-partial', version: '0.2', service, body: texts.map(fromLatin1) }));
  }

  final(...body: (string | Uint8Array)[]): void {
    const { version, service } = this.request;
    const frames = body.map((frame) => (typeof frame === 'string' ? fromLatin1(frame) : frame));
    this.raw(encodeMdp({ kind: 'client-final', version, service, body: frames }));
  }

  /** Sends any frames at all to the one who asked. */
  raw(frames: readonly Uint8Array[]): void {
    this.#port.send(this.peer, frames);
  }
}

/** Listens at an endpoint and hands each request to `answer`. Everything else a client could send is an error of the test. */
export class ScriptedBroker {
  readonly asked: Asked[] = [];
  /** Messages that were no request. */
  readonly nonsense: unknown[] = [];
  endpoint = '';
  answer: (asked: Asked) => void;
  readonly #port: SocketPort;
  readonly #waiters: { count: number; resolve: () => void }[] = [];

  private constructor(port: SocketPort, answer: (asked: Asked) => void) {
    this.#port = port;
    this.answer = answer;
  }

  static async start(
    transport: Transport,
    endpoint: string,
    answer: (asked: Asked) => void = () => {},
  ): Promise<ScriptedBroker> {
    await transport.load();
    const port = transport.router();
    const broker = new ScriptedBroker(port, answer);
    broker.endpoint = await port.bind(endpoint);
    port.start({
      onMessage: (peer, frames) => broker.#onMessage(peer, frames),
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: (_, reason) => broker.nonsense.push(reason),
      onBroken: (error) => {
        throw error;
      },
    });
    return broker;
  }

  /** Resolves when so many requests have come in all. */
  async received(count: number): Promise<void> {
    if (this.asked.length < count) await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
  }

  close(): Promise<void> {
    return this.#port.close({ lingerMs: 0 });
  }

  #onMessage(peer: Peer, frames: Uint8Array[]): void {
    const request = decodeMdpAtBroker(frames);
    if (request.kind !== 'client-request') {
      this.nonsense.push(request);
      return;
    }
    const asked = new Asked(this.#port, peer, request);
    this.asked.push(asked);
    for (const { count, resolve } of this.#waiters) if (this.asked.length >= count) resolve();
    this.answer(asked);
  }
}
