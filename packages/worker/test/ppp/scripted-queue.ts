/** The queue's side of a conversation, played by a test: a ROUTER, the codec, and a record of what workers said. */
import { fromLatin1 } from '@proj/frames';
import { decodePppAtQueue, encodePpp } from '@proj/frames/ppp';
import type { PppReply, PppToQueue } from '@proj/frames/ppp';
import type { Peer, SocketPort, Transport } from '@proj/transport';

/** One message as the queue sees it. */
export interface Said<Command extends PppToQueue = PppToQueue> {
  readonly peer: Peer;
  readonly command: Command;
}

/**
 * Listens at an endpoint. Heartbeats are counted, and answered if their worker has said READY to this very queue; everything
 * else is kept in order until a test takes it.
 */
export class ScriptedQueue {
  endpoint = '';
  heartbeats = 0;
  readonly said: Said[] = [];
  readonly #registered = new Set<string>();
  readonly #port: SocketPort;
  readonly #waiters: { wanted: (said: Said) => boolean; resolve: (said: Said) => void }[] = [];

  private constructor(port: SocketPort) {
    this.#port = port;
  }

  static async start(transport: Transport, endpoint: string): Promise<ScriptedQueue> {
    await transport.load();
    const port = transport.router();
    const queue = new ScriptedQueue(port);
    queue.endpoint = await port.bind(endpoint);
    port.start({
      onMessage: (peer, frames) => queue.#onMessage({ peer, command: decodePppAtQueue(frames) }),
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: (error) => {
        throw error;
      },
    });
    return queue;
  }

  /** The next READY. What others say meanwhile stays: between two connections there is no order. */
  async ready(): Promise<Peer> {
    return (await this.#take(({ command }) => command.kind === 'ready')).peer;
  }

  /** The next message, which should be a reply, as text: addresses joined by `/`, a space, content joined by `|`. */
  async reply(): Promise<string> {
    const { command } = await this.next();
    if (command.kind !== 'reply') return command.kind;
    return `${text(command.addresses, '/')} ${text(command.content, '|')}`;
  }

  /** The next reply itself. */
  async replied(): Promise<PppReply> {
    return (await this.#take(({ command }) => command.kind === 'reply')).command as PppReply;
  }

  /** The next message that is no heartbeat. */
  next(): Promise<Said> {
    return this.#take(() => true);
  }

  /** A request of requester `c1`. */
  request(peer: Peer, ...content: (string | Uint8Array)[]): void {
    this.requestFrom(peer, ['c1'], ...content);
  }

  /** A request under any addresses. */
  requestFrom(peer: Peer, addresses: readonly (string | Uint8Array)[], ...content: (string | Uint8Array)[]): void {
    this.send(peer, encodePpp({ kind: 'request', addresses: addresses.map(bytes), content: content.map(bytes) }));
  }

  /** Sends any frames at all. */
  send(peer: Peer, frames: readonly Uint8Array[]): void {
    this.#port.send(peer, frames);
  }

  close(): Promise<void> {
    return this.#port.close({ lingerMs: 0 });
  }

  #onMessage(said: Said): void {
    const { peer, command } = said;
    if (command.kind === 'heartbeat') {
      this.heartbeats++;
      if (this.#registered.has(peer.key)) this.send(peer, encodePpp({ kind: 'heartbeat' }));
      return;
    }
    if (command.kind === 'ready') this.#registered.add(peer.key);
    const waiter = this.#waiters.findIndex(({ wanted }) => wanted(said));
    if (waiter === -1) this.said.push(said);
    else this.#waiters.splice(waiter, 1)[0]!.resolve(said);
  }

  async #take(wanted: (said: Said) => boolean): Promise<Said> {
    const found = this.said.findIndex(wanted);
    if (found !== -1) return this.said.splice(found, 1)[0]!;
    return new Promise((resolve) => this.#waiters.push({ wanted, resolve }));
  }
}

const bytes = (frame: string | Uint8Array): Uint8Array => (typeof frame === 'string' ? fromLatin1(frame) : frame);

const text = (frames: readonly Uint8Array[], separator: string): string =>
  frames.map((frame) => Buffer.from(frame).toString()).join(separator);
