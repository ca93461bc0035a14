/** What workers talk to, played by a test: a ROUTER, and a record of what workers said. No protocol. */
import type { Peer, SocketPort, Transport } from '@proj/transport';

/** One message as it was received. */
export interface Said<Command> {
  readonly peer: Peer;
  readonly command: Command;
}

/** Listens at an endpoint. What is not kept quiet about stays, in order, until a test takes it. */
export abstract class ScriptedPeer<Command extends { readonly kind: string }> {
  endpoint = '';
  readonly said: Said<Command>[] = [];
  readonly #waiters: { wanted: (said: Said<Command>) => boolean; resolve: (said: Said<Command>) => void }[] = [];
  #port: SocketPort | undefined;

  protected abstract decode(frames: readonly Uint8Array[]): Command;
  /** Reacts to a message; false when that is all there is to it, so that no test waits for it. */
  protected abstract keeps(said: Said<Command>): boolean;

  async listen(transport: Transport, endpoint: string): Promise<this> {
    await transport.load();
    const port = transport.router();
    this.#port = port;
    this.endpoint = await port.bind(endpoint);
    port.start({
      onMessage: (peer, frames) => this.#onMessage({ peer, command: this.decode(frames) }),
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: (error) => {
        throw error;
      },
    });
    return this;
  }

  /** The next message, or the next one that is wanted. What others say meanwhile stays: between two connections there is no order. */
  take(wanted: (said: Said<Command>) => boolean = () => true): Promise<Said<Command>> {
    const found = this.said.findIndex(wanted);
    if (found !== -1) return Promise.resolve(this.said.splice(found, 1)[0]!);
    return new Promise((resolve) => this.#waiters.push({ wanted, resolve }));
  }

  /** The next message of this kind. */
  async next<Kind extends Command['kind']>(kind: Kind): Promise<Said<Extract<Command, { kind: Kind }>>> {
    const { peer, command } = await this.take((said) => said.command.kind === kind);
    return { peer, command: command as Extract<Command, { kind: Kind }> };
  }

  /** Sends any frames at all. */
  send(peer: Peer, frames: readonly Uint8Array[]): void {
    this.#port?.send(peer, frames);
  }

  async close(): Promise<void> {
    await this.#port?.close({ lingerMs: 0 });
  }

  #onMessage(said: Said<Command>): void {
    if (!this.keeps(said)) return;
    const waiter = this.#waiters.findIndex(({ wanted }) => wanted(said));
    if (waiter === -1) this.said.push(said);
    else this.#waiters.splice(waiter, 1)[0]!.resolve(said);
  }
}
