/** Shared by the tests of this folder: a router and a dealer whose listeners record what they get. */
import type { Peer, PortListener, PortOptions, SocketPort } from '../../port.js';
import { ROUTER_PEER } from '../../port.js';
import type { VirtualTransport } from '../transport.js';

/** The endpoint every test binds. */
export const ENDPOINT = 'tcp://sim:5555';

/** One frame per text. */
export function frames(...texts: string[]): Uint8Array[] {
  return texts.map((text) => new TextEncoder().encode(text));
}

function text(message: readonly Uint8Array[]): string {
  return message.map((frame) => new TextDecoder().decode(frame)).join('|');
}

/** A listener that records a line per call, and the peers in the order they first appeared. */
export class PortRecorder implements PortListener {
  readonly lines: string[] = [];
  readonly peers: Peer[] = [];

  onMessage(peer: Peer, message: Uint8Array[]): void {
    this.#meet(peer);
    this.lines.push(text(message));
  }

  onPeerGone(peer: Peer): void {
    this.#meet(peer);
    this.lines.push('gone');
  }

  onUndeliverable(_peer: Peer, message: readonly Uint8Array[], reason: string): void {
    this.lines.push(`${reason}: ${text(message)}`);
  }

  onRejected(_peer: Peer, reason: string): void {
    this.lines.push(`rejected: ${reason}`);
  }

  onBroken(error: Error): void {
    this.lines.push(`broken: ${error.message}`);
  }

  #meet(peer: Peer): void {
    if (this.peers.at(-1)?.key !== peer.key) this.peers.push(peer);
  }
}

/** A socket and its listener's record. */
export interface VirtualTestPeer extends PortRecorder {
  readonly port: SocketPort;
}

/** A started router on {@link ENDPOINT}. */
export async function router(transport: VirtualTransport, options?: PortOptions): Promise<VirtualTestPeer> {
  const port = transport.router(options);
  await port.bind(ENDPOINT);
  return station(port);
}

/** A started dealer connected to {@link ENDPOINT}. */
export function dealer(transport: VirtualTransport, options?: PortOptions): VirtualTestPeer {
  const port = transport.dealer(options);
  port.connect(ENDPOINT);
  return station(port);
}

function station(port: SocketPort): VirtualTestPeer {
  const recorder = new PortRecorder();
  port.start(recorder);
  return Object.assign(recorder, { port });
}

/** Sends one message per text, from a dealer. */
export function say(from: VirtualTestPeer, ...texts: string[]): void {
  for (const item of texts) from.port.send(ROUTER_PEER, frames(item));
}

/** Sends one message per text from a router to its latest peer. */
export function answer(from: VirtualTestPeer, ...texts: string[]): void {
  const peer = from.peers.at(-1);
  if (peer === undefined) throw new Error('no peer has sent a message yet');
  for (const item of texts) from.port.send(peer, frames(item));
}
