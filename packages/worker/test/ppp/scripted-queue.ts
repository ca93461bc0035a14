/** The queue's side of a conversation, played by a test. */
import { fromLatin1 } from '@proj/frames';
import { decodePppAtQueue, encodePpp } from '@proj/frames/ppp';
import type { PppReply, PppToQueue } from '@proj/frames/ppp';
import type { Peer, Transport } from '@proj/transport';
import { ScriptedPeer } from '../scripted-peer.js';
import type { Said } from '../scripted-peer.js';

/** Heartbeats are counted, and answered if their worker has said READY to this very queue. */
export class ScriptedQueue extends ScriptedPeer<PppToQueue> {
  heartbeats = 0;
  readonly #registered = new Set<string>();

  static start(transport: Transport, endpoint: string): Promise<ScriptedQueue> {
    return new ScriptedQueue().listen(transport, endpoint);
  }

  /** Who says READY next. */
  async ready(): Promise<Peer> {
    return (await this.next('ready')).peer;
  }

  /** The next message, which should be a reply, as text: addresses joined by `/`, a space, content joined by `|`. */
  async reply(): Promise<string> {
    const { command } = await this.take();
    if (command.kind !== 'reply') return command.kind;
    return `${text(command.addresses, '/')} ${text(command.content, '|')}`;
  }

  /** The next reply itself. */
  async replied(): Promise<PppReply> {
    return (await this.next('reply')).command;
  }

  /** A request of requester `c1`. */
  request(peer: Peer, ...content: (string | Uint8Array)[]): void {
    this.requestFrom(peer, ['c1'], ...content);
  }

  /** A request under any addresses. */
  requestFrom(peer: Peer, addresses: readonly (string | Uint8Array)[], ...content: (string | Uint8Array)[]): void {
    this.send(peer, encodePpp({ kind: 'request', addresses: addresses.map(bytes), content: content.map(bytes) }));
  }

  protected decode(frames: readonly Uint8Array[]): PppToQueue {
    return decodePppAtQueue(frames);
  }

  protected keeps({ peer, command }: Said<PppToQueue>): boolean {
    if (command.kind === 'heartbeat') {
      this.heartbeats++;
      if (this.#registered.has(peer.key)) this.send(peer, encodePpp({ kind: 'heartbeat' }));
      return false;
    }
    if (command.kind === 'ready') this.#registered.add(peer.key);
    return true;
  }
}

const bytes = (frame: string | Uint8Array): Uint8Array => (typeof frame === 'string' ? fromLatin1(frame) : frame);

const text = (frames: readonly Uint8Array[], separator: string): string =>
  frames.map((frame) => Buffer.from(frame).toString()).join(separator);
