/** A connection of its own as a {@link Wire}: a Node socket, read through `data` events and written as a stream. */
import type { Socket } from 'node:net';
import type { Allocate } from './engine/framing/bytes.js';
import type { ByteSink, Wire, Written } from './wire.js';

const CUT = 'cut';

/** See {@link Wire}. */
export class NodeSocket implements Wire {
  protected readonly socket: Socket;
  /** Where the socket stores what it reads; absent if it emits `data`. */
  readonly #buffer: { sink: ByteSink | undefined };

  constructor(socket: Socket, buffer: { sink: ByteSink | undefined } = { sink: undefined }) {
    this.socket = socket;
    this.#buffer = buffer;
    socket.on('data', (chunk: Buffer) => {
      buffer.sink?.onBytes(chunk);
    });
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.socket.remotePort;
  }

  get remoteFamily(): string | undefined {
    return this.socket.remoteFamily;
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }

  get hasUnsent(): boolean {
    return this.socket.writableLength > 0;
  }

  get allocateOutput(): Allocate | undefined {
    return undefined;
  }

  feed(sink: ByteSink): void {
    this.#buffer.sink = sink;
  }

  on(event: 'error' | 'end' | 'close', listener: (value: never) => void): this {
    this.socket.on(event, listener as () => void);
    return this;
  }

  off(event: 'error' | 'end' | 'close', listener: (value: never) => void): this {
    this.socket.off(event, listener as () => void);
    return this;
  }

  send(parts: readonly Uint8Array[], done: Written): void {
    const last = parts.length - 1;
    if (last > 0) this.socket.cork();
    for (let index = 0; index < last; index++) this.socket.write(parts[index] as Uint8Array);
    this.socket.write(parts[last] as Uint8Array, (error) => {
      this.settle(done, error);
    });
    if (last > 0) this.socket.uncork();
  }

  /** Node reports no error if the socket was destroyed before the write. */
  protected settle(done: Written, error: Error | null | undefined): void {
    done(this.socket.destroyed ? (error ?? new Error(CUT)) : (error ?? undefined));
  }

  /** Queues a write behind the current one. No callback. */
  write(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  destroySoon(): void {
    this.socket.destroySoon();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  setKeepAlive(enable: boolean, initialDelayMs: number): void {
    this.socket.setKeepAlive(enable, initialDelayMs);
  }
}
