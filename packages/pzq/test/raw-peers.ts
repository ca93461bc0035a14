/** A producer, a consumer and a watcher that speak in frames, for tests of the facade: whatever they are told to send they send. */
import { fromLatin1, latin1 } from '@proj/frames';
import { type Peer, type PortListener, ROUTER_PEER, type SocketPort, type Transport } from '@proj/transport';

/** Frames as latin1 text, so that expectations read like the grammar. */
export type TextFrames = readonly string[];

/** What a peer has heard, and nobody has asked for yet. */
class Inbox implements PortListener {
  readonly #received: { readonly peer: Peer; readonly frames: TextFrames }[] = [];
  readonly #waiting: ((message: { readonly peer: Peer; readonly frames: TextFrames }) => void)[] = [];

  get waiting(): number {
    return this.#received.length;
  }

  next(): Promise<{ readonly peer: Peer; readonly frames: TextFrames }> {
    const received = this.#received.shift();
    return received === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(received);
  }

  onMessage(peer: Peer, frames: Uint8Array[]): void {
    const message = { peer, frames: frames.map(latin1) };
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#received.push(message);
    else waiting(message);
  }

  onPeerGone(): void {
    // Nobody asks.
  }

  onUndeliverable(): void {
    // Nobody asks.
  }

  onRejected(): void {
    // Nobody asks.
  }

  onBroken(): void {
    // Nobody asks.
  }
}

/** A DEALER at the receive or the monitor socket. The transport must be loaded. */
export class RawDealer {
  readonly #port: SocketPort;
  readonly #inbox = new Inbox();

  /** `deaf`, in memory only: reads nothing before {@link RawDealer.listen}. */
  constructor(transport: Transport, endpoint: string, deaf?: 'deaf') {
    this.#port = transport.dealer({ lingerMs: 0, peerQueueMax: 100_000 });
    this.#port.connect(endpoint);
    if (deaf === undefined) this.listen();
  }

  listen(): void {
    this.#port.start(this.#inbox);
  }

  send(...frames: string[]): void {
    this.#port.send(ROUTER_PEER, frames.map(fromLatin1));
  }

  async next(): Promise<TextFrames> {
    return (await this.#inbox.next()).frames;
  }

  /** Sends and waits for one answer. */
  ask(...frames: string[]): Promise<TextFrames> {
    this.send(...frames);
    return this.next();
  }

  close(): Promise<void> {
    return this.#port.close();
  }
}

/** A delivery as a consumer sees it. */
export interface Received {
  readonly from: Peer;
  readonly key: string;
  readonly sentMicros: number;
  readonly timeoutMicros: number;
  /** Everything behind the fourth frame, which is blank. */
  readonly body: TextFrames;
}

/** A ROUTER that connects to the send socket. The transport must be loaded. */
export class RawConsumer {
  readonly #port: SocketPort;
  readonly #inbox = new Inbox();

  constructor(transport: Transport, ...endpoints: string[]) {
    this.#port = transport.router({ lingerMs: 0 });
    for (const endpoint of endpoints) this.#port.connect(endpoint);
    this.#port.start(this.#inbox);
  }

  /** Deliveries that nobody has asked for yet. */
  get waiting(): number {
    return this.#inbox.waiting;
  }

  async next(): Promise<Received> {
    const { peer, frames } = await this.#inbox.next();
    const [key = '', sent = '', timeout = '', blank, ...body] = frames;
    if (blank !== '') throw new Error(`not a delivery: ${JSON.stringify(frames)}`);
    return { from: peer, key, sentMicros: Number(sent), timeoutMicros: Number(timeout), body };
  }

  /** Answers with these frames behind the key. */
  answer({ from, key }: Pick<Received, 'from' | 'key'>, ...frames: string[]): void {
    this.#port.send(from, [key, ...frames].map(fromLatin1));
  }

  /** Takes the next delivery, acknowledges it, and tells what it was. */
  async consume(): Promise<TextFrames> {
    const delivery = await this.next();
    this.answer(delivery, '1');
    return delivery.body;
  }

  close(): Promise<void> {
    return this.#port.close();
  }
}
