/** The broker's side of a conversation, played by a test: a ROUTER, the codec and a function that answers. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import type { MdpClientRequest } from '@proj/frames/mdp';
import type { Peer, SocketPort, Transport } from '@proj/transport';
import { ScriptedServer } from '../scripted-server.js';

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

/** Everything else a client could send is an error of the test. */
export class ScriptedBroker extends ScriptedServer<Asked> {
  static start(
    transport: Transport,
    endpoint: string,
    answer: (asked: Asked) => void = () => {},
  ): Promise<ScriptedBroker> {
    return new ScriptedBroker(answer).listen(transport, endpoint);
  }

  protected read(port: SocketPort, peer: Peer, frames: Uint8Array[]): Asked | undefined {
    const request = decodeMdpAtBroker(frames);
    return request.kind === 'client-request' ? new Asked(port, peer, request) : undefined;
  }
}
