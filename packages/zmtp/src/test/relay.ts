/** A TCP relay that records the bytes and can go silent. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Relays between its client and a port of this machine. */
export class ByteRelay {
  /** The bytes from the connecting side, and the bytes sent back, as Latin-1 text. */
  readonly heard = { there: '', back: '' };
  /** Number of connections so far. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #frozen = false;
  #waiters: { readonly condition: () => boolean; readonly resolve: () => void }[] = [];

  private constructor(port: number) {
    this.#server = createServer((near) => {
      this.connections++;
      const far = connect(port, '127.0.0.1');
      this.#pass(near, far, 'there');
      this.#pass(far, near, 'back');
    });
  }

  /** A relay to the port of this endpoint. */
  static async to(endpoint: string): Promise<ByteRelay> {
    const relay = new ByteRelay(Number(/:(\d+)$/.exec(endpoint)?.[1]));
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  get endpoint(): string {
    return `tcp://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Swallows everything from now on; connections stay open. */
  freeze(): void {
    this.#frozen = true;
  }

  /** Cuts all current connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  /** Resolves once one side has sent this text that many times. */
  says(direction: 'there' | 'back', text: string, count: number): Promise<void> {
    const condition = () => this.heard[direction].split(text).length > count;
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ condition, resolve }));
  }

  close(): Promise<void> {
    this.cut();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #pass(from: Socket, to: Socket, direction: 'there' | 'back'): void {
    this.#sockets.add(from);
    from.on('data', (chunk) => {
      if (this.#frozen) return;
      this.heard[direction] += chunk.toString('latin1');
      to.write(chunk);
      for (const waiter of this.#waiters.filter(({ condition }) => condition())) waiter.resolve();
    });
    from.on('error', () => undefined);
    from.on('close', () => to.destroy());
  }
}
