/**
 * A socket that sends what it is told to and counts what it receives, without a facade between the test and the wire.
 */
import { decodeMdpAtClient, encodeMdp } from '@proj/frames/mdp';
import type { MdpVersion } from '@proj/frames/mdp';
import { ROUTER_PEER } from '@proj/transport';
import type { SocketPort } from '@proj/transport';
import { Tally } from '../tally.js';
import { transport } from '../../transport.js';

/** A DEALER connected to a broker. */
export class RawPeer {
  readonly #port: SocketPort;
  /** Messages that the transport returned. */
  undelivered = 0;

  private constructor(port: SocketPort, endpoint: string, onMessage: (frames: Uint8Array[]) => void) {
    this.#port = port;
    port.connect(endpoint);
    port.start({
      onMessage: (_peer, frames) => onMessage(frames),
      onPeerGone: () => undefined,
      onUndeliverable: () => {
        this.undelivered++;
      },
      onRejected: () => undefined,
      onBroken: (error) => {
        throw error;
      },
    });
  }

  /** Connects in the background; calls `onMessage` for every message. */
  static async connect(endpoint: string, onMessage: (frames: Uint8Array[]) => void): Promise<RawPeer> {
    await transport.load();
    return new RawPeer(transport.dealer({ lingerMs: 0 }), endpoint, onMessage);
  }

  /** Sends one message. */
  send(frames: readonly Uint8Array[]): void {
    this.#port.send(ROUTER_PEER, frames);
  }

  /** Messages that the transport has not taken yet. */
  get pending(): number {
    return this.#port.pending;
  }

  /** Closes the socket; pending messages are discarded. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#port.close();
  }
}

/** A client that sends each request once, and counts every reply by its first body frame. */
export class CountingClient extends Tally {
  readonly #version: MdpVersion;
  readonly #service: string;
  #peer: RawPeer | undefined;

  private constructor(version: MdpVersion, service: string) {
    super();
    this.#version = version;
    this.#service = service;
  }

  /** A client of one service. */
  static async connect(endpoint: string, service: string, version: MdpVersion = '0.2'): Promise<CountingClient> {
    const client = new CountingClient(version, service);
    client.#peer = await RawPeer.connect(endpoint, (frames) => {
      const reply = decodeMdpAtClient(frames);
      client.count(reply.kind === 'client-final' ? Buffer.from(reply.body[0] ?? []).toString() : reply.kind);
    });
    return client;
  }

  /** Sends a request with this text as its body. */
  ask(text: string): void {
    const body = [Buffer.from(text)];
    this.#peer?.send(encodeMdp({ kind: 'client-request', version: this.#version, service: this.#service, body }));
  }

  /** Closes the socket. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#peer?.[Symbol.asyncDispose]();
  }
}
