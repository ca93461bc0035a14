/** A link that can be cut: bytes are forwarded to a broker until the open connections are reset. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Forwards bytes until it resets the open connections. */
export class CuttingRelay implements AsyncDisposable {
  readonly endpoint: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Socket>();
  /** So far. */
  connections = 0;

  private constructor(server: ReturnType<typeof createServer>, port: number) {
    this.#server = server;
    this.endpoint = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (near) => {
      this.connections++;
      const far = connect(port, '127.0.0.1');
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
      }
      near.pipe(far).pipe(near);
    });
  }

  /** On its own free port. */
  static async to(endpoint: string): Promise<CuttingRelay> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new CuttingRelay(server, Number(new URL(endpoint).port));
  }

  /** Sends an RST to both ends of each connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }
}
