/** What clients talk to, played by a test: a ROUTER and a function that answers. No protocol. */
import type { Peer, PortListener, PortOptions, SocketPort, Transport } from '@proj/transport';

/** Awaits that a count is reached, however fast. */
export class AwaitedCount {
  readonly #waiters: { readonly count: number; readonly resolve: () => void }[] = [];
  #count = 0;

  add(): void {
    this.#count++;
    for (const { count, resolve } of this.#waiters) if (this.#count >= count) resolve();
  }

  async reached(count: number): Promise<void> {
    if (this.#count < count) await new Promise<void>((resolve) => this.#waiters.push({ count, resolve }));
  }
}

/** Of what a socket reports only messages matter; a broken one fails the test. */
export function listener(
  onMessage: PortListener['onMessage'],
  onRejected: PortListener['onRejected'] = () => {},
): PortListener {
  return {
    onMessage,
    onRejected,
    onPeerGone: () => {},
    onUndeliverable: () => {},
    onBroken: (error) => {
      throw error;
    },
  };
}

/** Listens at an endpoint and hands each request to `answer`. */
export abstract class ScriptedServer<Asked> {
  readonly asked: Asked[] = [];
  /** Messages that were no request, and why others were not even read. */
  readonly nonsense: unknown[] = [];
  endpoint = '';
  answer: (asked: Asked) => void;
  readonly #tally = new AwaitedCount();
  #port: SocketPort | undefined;

  constructor(answer: (asked: Asked) => void) {
    this.answer = answer;
  }

  /** A message as a request; `undefined` for nonsense. Throws what fails the test. */
  protected abstract read(port: SocketPort, peer: Peer, frames: Uint8Array[]): Asked | undefined;

  async listen(transport: Transport, endpoint: string, options?: PortOptions): Promise<this> {
    await transport.load();
    const port = transport.router(options);
    this.#port = port;
    this.endpoint = await port.bind(endpoint);
    port.start(
      listener(
        (peer, frames) => this.#onMessage(port, peer, frames),
        (_, reason) => this.nonsense.push(reason),
      ),
    );
    return this;
  }

  /** Resolves when so many requests have come in all. */
  received(count: number): Promise<void> {
    return this.#tally.reached(count);
  }

  async close(): Promise<void> {
    await this.#port?.close({ lingerMs: 0 });
  }

  #onMessage(port: SocketPort, peer: Peer, frames: Uint8Array[]): void {
    const asked = this.read(port, peer, frames);
    if (asked === undefined) this.nonsense.push(frames);
    else {
      this.asked.push(asked);
      this.#tally.add();
      this.answer(asked);
    }
  }
}
