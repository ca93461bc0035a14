/** The SUB of 29/PUBSUB: sends its subscriptions to every publisher it connects to, and receives only. */
import type { HandshakeRefusal, RejectReason, SubscriberListener, SubscriberPort } from '@proj/transport';
import type { ResolvedPortOptions } from '@proj/transport/adapter';
import type { Connection } from './connection.js';
import { Prefixes } from './engine/prefixes.js';
import type { Pipe } from './pipe.js';
import { ZmtpSocket } from './socket.js';
import type { World } from './world.js';

/** A subscriber over ZMTP. Peers are PUB and XPUB of ZMTP 3.0 and 3.1. */
export class ZmtpSubscriber extends ZmtpSocket implements SubscriberPort {
  /** How often each prefix is subscribed; as Latin-1. */
  readonly #wanted = new Map<string, number>();
  readonly #prefixes = new Prefixes<true>();
  /** For each established connection, the changes its publisher does not know yet. A subscription canceled before it was sent leaves no trace. */
  readonly #untold = new Map<Connection, Map<string, boolean>>();
  #listener: SubscriberListener | undefined;
  /** Counts matches; a message is delivered if it increases this. */
  #fits = 0;

  constructor(world: World, options: ResolvedPortOptions) {
    super(world, options, 'SUB');
  }

  subscribe(prefix: Uint8Array): void {
    if (this.isClosing) return;
    const key = latin1(prefix);
    const count = this.#wanted.get(key) ?? 0;
    this.#wanted.set(key, count + 1);
    if (count > 0) return;
    this.#prefixes.add(prefix, true);
    this.#change(key, true);
  }

  unsubscribe(prefix: Uint8Array): void {
    const key = latin1(prefix);
    const count = this.#wanted.get(key);
    if (this.isClosing || count === undefined) return;
    if (count > 1) this.#wanted.set(key, count - 1);
    else {
      this.#wanted.delete(key);
      this.#prefixes.remove(prefix, true);
      this.#change(key, false);
    }
  }

  start(listener: SubscriberListener): void {
    if (this.#listener !== undefined) throw new Error('start: the port was already started');
    this.#listener = listener;
    this.begin();
  }

  override close(): Promise<void> {
    return super.close({ lingerMs: 0 });
  }

  onReady(link: Connection): void {
    const { connector } = link;
    if (connector === undefined) return;
    connector.up();
    link.join(connector.pipe);
    const untold = new Map<string, boolean>();
    for (const key of this.#wanted.keys()) untold.set(key, true);
    this.#untold.set(link, untold);
    this.#tell(link);
  }

  override onMessage(_link: Connection, frames: Uint8Array[]): void {
    const before = this.#fits;
    this.#prefixes.match(frames[0] as Uint8Array, this.#onFit);
    if (this.#fits > before) this.#hearing()?.onMessage(frames);
  }

  override onRejected(_link: Connection, reason: RejectReason): void {
    this.#hearing()?.onRejected(reason);
  }

  protected override onRoom({ link }: Pipe): void {
    if (link !== undefined) this.#tell(link);
  }

  protected override onGone(link: Connection): void {
    this.#untold.delete(link);
  }

  protected onRefused(refusal: HandshakeRefusal): void {
    this.#hearing()?.onRefused?.(refusal);
  }

  readonly #onFit = (): void => {
    this.#fits++;
  };

  #change(key: string, wanted: boolean): void {
    for (const [link, untold] of this.#untold) {
      if (untold.get(key) === !wanted) untold.delete(key);
      else untold.set(key, wanted);
      this.#tell(link);
    }
  }

  /** Waits while a write is under way, so that for a publisher that does not read only the difference piles up. */
  #tell(link: Connection): void {
    const untold = this.#untold.get(link);
    if (untold === undefined || link.writing) return;
    for (const [key, wanted] of untold) link.subscribe(Buffer.from(key, 'latin1'), wanted);
    untold.clear();
  }

  #hearing(): SubscriberListener | undefined {
    return this.isClosing ? undefined : this.#listener;
  }
}

function latin1(prefix: Uint8Array): string {
  return Buffer.from(prefix.buffer, prefix.byteOffset, prefix.byteLength).toString('latin1');
}
