/** EventMQ client: the broker for each command, and the lifetime of connections. Section 9 of docs/protocols/emqp.md. */
import type { EmqpClientSessionOptions } from './events.js';
import type { Output } from './output.js';
import type { Command, Connection } from './state.js';

/** New commands go to the current connection. A previous one stays open while replies are awaited there, because they would not reach another one. */
export class BrokerConnections<Ticket> {
  readonly #options: EmqpClientSessionOptions;
  readonly #out: Output<Ticket>;
  readonly #open = new Map<number, Connection>();
  #current: Connection | undefined;
  #endpoint = 0;

  constructor(options: EmqpClientSessionOptions, out: Output<Ticket>) {
    this.#options = options;
    this.#out = out;
  }

  get(socket: number): Connection | undefined {
    return this.#open.get(socket);
  }

  /** Sends the command over the current connection, opening it if necessary. */
  send(command: Command<Ticket>): void {
    const connection = (this.#current ??= this.#connect());
    command.connection = connection;
    connection.open++;
    const { ticket, command: content } = command.order;
    this.#out.effects.push({ kind: 'send', socket: connection.socket, ticket, command: content });
  }

  /** Removes the command from its connection. A previous connection closes with its last command. */
  detach(command: Command<Ticket>): void {
    const { connection, again } = command;
    again.list?.remove(again);
    if (connection === undefined) return;
    command.connection = undefined;
    connection.open--;
    if (connection !== this.#current && connection.open === 0) this.#dismiss(connection);
  }

  /** DISCONNECT: new commands go elsewhere; open ones may end here. */
  leaveTold(connection: Connection): void {
    if (connection.isTold) return;
    this.reportLeft(connection, true);
    connection.isTold = true;
    this.#leave(connection);
    if (connection.open === 0) this.#dismiss(connection);
  }

  /** Switches new commands to the next endpoint if this one has sent nothing at all for `timeoutMs`. */
  leaveSilent(connection: Connection | undefined): void {
    if (connection === undefined || connection !== this.#current) return;
    if (this.#out.now - connection.heardAt < this.#options.timeoutMs) return;
    this.#leave(connection);
    this.#out.report({ code: 'connection-silent', endpoint: connection.endpoint });
  }

  /** The connection has ended, or could not be opened. The caller must detach its commands. */
  end(connection: Connection): void {
    this.#leave(connection);
    this.#open.delete(connection.socket);
    this.#out.effects.push({ kind: 'close', socket: connection.socket, linger: false });
  }

  /** Closes all of them. Commands without an answer have already succeeded, so they are still sent. */
  close(): void {
    this.#current = undefined;
    for (const { socket } of this.#open.values()) this.#out.effects.push({ kind: 'close', socket, linger: true });
    this.#open.clear();
  }

  reportLeft({ endpoint, open: commands }: Connection, told: boolean): void {
    this.#out.report({ code: 'broker-left', endpoint, commands, told });
  }

  #connect(): Connection {
    const socket = ++this.#out.counters.connections;
    const endpoint = this.#options.endpoints[this.#endpoint] as string;
    const { now } = this.#out;
    const connection = { socket, endpoint, openedAt: now, heardAt: now, open: 0, isTold: false };
    this.#open.set(socket, connection);
    this.#out.effects.push({ kind: 'open', socket, endpoint });
    return connection;
  }

  #leave(connection: Connection): void {
    if (connection !== this.#current) return;
    this.#current = undefined;
    this.#endpoint = (this.#endpoint + 1) % this.#options.endpoints.length;
  }

  /** The connection is no longer needed. Whatever is unsent must not be sent now, except our farewell. */
  #dismiss({ socket, isTold }: Connection): void {
    if (!this.#open.delete(socket)) return;
    if (isTold) this.#out.effects.push({ kind: 'bye', socket });
    this.#out.effects.push({ kind: 'close', socket, linger: isTold });
  }

  /** Throws unless these commands match the connections. */
  assertInvariants(commands: readonly Command<Ticket>[]): void {
    const counts = new Map<Connection, number>();
    for (const { connection } of commands)
      if (connection !== undefined) counts.set(connection, (counts.get(connection) ?? 0) + 1);
    for (const [connection, count] of counts)
      if (this.#open.get(connection.socket) !== connection || count !== connection.open)
        throw new Error(`socket ${connection.socket} has ${count} commands`);
    for (const connection of this.#open.values())
      if (connection !== this.#current && connection.open === 0)
        throw new Error(`socket ${connection.socket} is open for nobody`);
  }
}
