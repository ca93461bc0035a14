/** A socket whose answers the test controls: what libzmq does rarely, this does on demand. */
import { ManualClock } from '@proj/heartbeat';
import type { MemoryBudget } from '../../memory-budget.js';
import type { Peer, PortListener } from '../../port.js';
import { resolvePortOptions } from '../../port-options.js';
import { ZmqPort } from '../port.js';
import type { ZmqSocket } from '../socket.js';

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

function deferred<Value>(): Deferred<Value> {
  const settle: Partial<Deferred<Value>> = {};
  const promise = new Promise<Value>((resolve, reject) => Object.assign(settle, { resolve, reject }));
  return { promise, ...settle } as Deferred<Value>;
}

/** An error as zeromq.js throws it. */
export function errno(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** The frames of a message as text, whatever kind of bytes they are. */
export function textOf(frames: readonly Uint8Array[], separator = ','): string {
  return frames.map((frame) => Buffer.from(frame.buffer, frame.byteOffset, frame.length).toString()).join(separator);
}

export class FakeSocket {
  linger = -1;
  closed = false;
  /** The endpoint that `bind` reports. */
  lastEndpoint = '';
  /** Messages given to `send`, as the same objects. */
  readonly sent: (readonly Uint8Array[])[] = [];
  /** Thrown synchronously by the next `send`. */
  throwOnSend: Error | undefined;
  /** If set, `receive` returns it at once, for ever. */
  endless: (() => Buffer[]) | undefined;
  receives = 0;
  /** If set, a closed socket is released only by {@link letGo}. */
  lingers = false;
  readonly #over = deferred<undefined>();
  readonly #sending: Deferred<void>[] = [];
  #receiving: Deferred<Buffer[]> | undefined;

  /** None, until libzmq has finished with it. */
  get events(): AsyncIterable<never> {
    const end = this.#over.promise.then(() => ({ done: true, value: undefined }) as const);
    return { [Symbol.asyncIterator]: () => ({ next: () => end }) };
  }

  /** libzmq has finished with it. */
  letGo(): void {
    this.#over.resolve(undefined);
  }

  bind(): Promise<void> {
    return Promise.resolve();
  }

  send(frames: readonly Uint8Array[]): Promise<void> {
    if (this.throwOnSend !== undefined) throw this.throwOnSend;
    this.sent.push(frames);
    const sending: Deferred<void> = deferred();
    this.#sending.push(sending);
    return sending.promise;
  }

  receive(): Promise<Buffer[]> {
    if (this.closed) throw errno('EBADF');
    if (this.#receiving !== undefined) throw errno('EBUSY');
    this.receives++;
    if (this.endless !== undefined) return Promise.resolve(this.endless());
    this.#receiving = deferred();
    return this.#receiving.promise;
  }

  close(): void {
    this.closed = true;
    this.failReceive('EAGAIN');
    if (!this.lingers) this.letGo();
  }

  /** Completes the oldest `send` under way and lets the port notice. */
  async settleSend(code?: string): Promise<void> {
    const sending = this.#sending.shift();
    if (code === undefined) sending?.resolve();
    else sending?.reject(errno(code));
    await turn();
  }

  /** Delivers a message. */
  async deliver(...frames: (string | Buffer)[]): Promise<void> {
    const receiving = this.#receiving;
    this.#receiving = undefined;
    receiving?.resolve(frames.map((frame) => Buffer.from(frame)));
    await turn();
  }

  failReceive(code: string): void {
    const receiving = this.#receiving;
    this.#receiving = undefined;
    receiving?.reject(errno(code));
  }
}

/** Lets promises and immediates run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A listener that records one line per call. */
export class Journal implements PortListener {
  readonly lines: string[] = [];
  onEach: ((peer: Peer, frames: Uint8Array[]) => void) | undefined;

  onMessage(peer: Peer, frames: Uint8Array[]): void {
    this.lines.push(`message ${peer.key} ${textOf(frames, '|')}`);
    this.onEach?.(peer, frames);
  }

  onPeerGone(peer: Peer): void {
    this.lines.push(`gone ${peer.key}`);
  }

  onUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: string): void {
    this.lines.push(`${reason} ${peer.key} ${textOf(frames, '|')}`);
  }

  onRejected(peer: Peer, reason: string): void {
    this.lines.push(`rejected ${peer.key} ${reason}`);
  }

  onBroken(error: Error): void {
    this.lines.push(`broken ${error.message}`);
  }
}

/** The notice of lost connections that {@link fakePort} expects. */
export const NOTICE = Buffer.from('0123456789abcdef');

/** A started router port on a fake socket. */
export function fakePort(options: object = {}, memory?: MemoryBudget) {
  const socket = new FakeSocket();
  const clock = new ManualClock();
  const journal = new Journal();
  const open = { socket: socket as unknown as ZmqSocket, goneNotice: NOTICE };
  const port = new ZmqPort(open, true, resolvePortOptions(options), clock, undefined, memory);
  port.start(journal);
  return { socket, clock, journal, port };
}

/** A peer by its name. */
export function peer(key: string): Peer {
  return { key, id: Buffer.from(key) };
}
