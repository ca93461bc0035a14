/** One TCP connection of an attacker: writes whatever it is told to, reads if told to, and follows no rules. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { GREETING, message, MessageSplitter, ready } from './wire.js';

/** What a connection announces first. */
export interface RawPeerOptions {
  /** Default `DEALER`; `none` announces nothing. */
  readonly type?: 'DEALER' | 'ROUTER' | 'SUB' | 'none';
  readonly identity?: Uint8Array | string;
  /** Default true. If false, its side of the connection fills up. */
  readonly reads?: boolean;
}

/** A connection that is open, or was. */
export class AttackingPeer {
  readonly #socket: Socket;
  readonly #reader = new MessageSplitter();
  readonly #waiting = new Set<() => void>();
  #received: Buffer[][] = [];
  /** Unrequested messages beyond this many are dropped. */
  static readonly #KEPT = 10_000;
  isClosed = false;
  /** Received messages. */
  heard = 0;

  private constructor(socket: Socket, reads: boolean) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    const wake = (): void => {
      for (const look of this.#waiting) look();
    };
    socket.on('close', () => {
      this.isClosed = true;
      wake();
    });
    socket.on('drain', wake);
    if (!reads) socket.pause();
    else
      socket.on('data', (bytes) => {
        for (const frames of this.#reader.read(bytes)) {
          this.heard++;
          if (this.#received.length < AttackingPeer.#KEPT) this.#received.push(frames);
        }
        wake();
      });
  }

  /** Resolves when the connection is open, or has failed and is closed. */
  static async open(endpoint: string, options: RawPeerOptions = {}): Promise<AttackingPeer> {
    const { type = 'DEALER', identity = '', reads = true } = options;
    const { hostname, port } = new URL(endpoint);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const peer = new AttackingPeer(socket, reads);
    await new Promise<void>((resolve) => {
      socket.once('connect', resolve);
      socket.once('close', () => resolve());
    });
    if (type !== 'none') await peer.write(GREETING, ready(type, identity));
    return peer;
  }

  /** Resolves when the kernel has taken these bytes, or the connection is gone. */
  async write(...pieces: readonly Uint8Array[]): Promise<void> {
    if (this.isClosed) return;
    let flows = true;
    this.#socket.cork();
    for (const bytes of pieces) flows = this.#socket.write(bytes);
    this.#socket.uncork();
    if (!flows) await this.#until(() => this.isClosed || !this.#socket.writableNeedDrain);
  }

  /** Like {@link AttackingPeer.write}, for one message. */
  send(...frames: readonly (Uint8Array | string)[]): Promise<void> {
    return this.write(message(frames));
  }

  /** Resolves when the other side has also sent READY, or the connection is gone. libzmq closes a connection that sends a command before that. */
  met(): Promise<void> {
    return this.#until(() => this.isClosed || this.#reader.commands > 0);
  }

  /** The next message; none once the connection is gone. */
  async next(): Promise<Buffer[] | undefined> {
    await this.#until(() => this.isClosed || this.#received.length > 0);
    return this.#received.shift();
  }

  /** All received messages that were not taken yet. */
  take(): Buffer[][] {
    return this.#received.splice(0);
  }

  /** Stops reading. */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads what has arrived meanwhile, and continues. */
  resume(): void {
    this.#socket.resume();
  }

  /** Resolves when the other side has closed the connection. */
  closed(): Promise<void> {
    return this.#until(() => this.isClosed);
  }

  /** Closes the connection at once, without leaving state in the kernel. */
  destroy(): void {
    this.#socket.resetAndDestroy();
  }

  #until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }
}
