/** The broker's side of a conversation, played by a test: a ROUTER, the codec, and a record of what job managers said. */
import { decodeEmqpAtBroker, encodeEmqp, encodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpCommand, EmqpHeaders, EmqpToBroker } from '@proj/frames/emqp';
import type { Peer, SocketPort, Transport } from '@proj/transport';
import { job } from './pool-rig.js';

/** One message as the broker sees it. */
export interface Said {
  readonly peer: Peer;
  readonly command: EmqpToBroker;
}

/** Listens at an endpoint and says ACK to every INFORM; all else is the test's. Heartbeats are not kept. */
export class ScriptedBroker {
  endpoint = '';
  readonly said: Said[] = [];
  readonly #port: SocketPort;
  readonly #waiters: { wanted: (said: Said) => boolean; resolve: (said: Said) => void }[] = [];
  #ids = 0;

  private constructor(port: SocketPort) {
    this.#port = port;
  }

  static async start(transport: Transport, endpoint: string): Promise<ScriptedBroker> {
    await transport.load();
    const port = transport.router();
    const broker = new ScriptedBroker(port);
    broker.endpoint = await port.bind(endpoint);
    port.start({
      onMessage: (peer, frames) => broker.#onMessage({ peer, command: decodeEmqpAtBroker(frames) }),
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: (error) => {
        throw error;
      },
    });
    return broker;
  }

  /** The next command of this kind, with who said it. What else is said meanwhile stays. */
  async next<Kind extends EmqpToBroker['kind']>(
    kind: Kind,
  ): Promise<{ peer: Peer; command: Extract<EmqpToBroker, { kind: Kind }> }> {
    const { peer, command } = await this.#take((said) => said.command.kind === kind);
    return { peer, command: command as Extract<EmqpToBroker, { kind: Kind }> };
  }

  /** The next result, of that REQUEST if it is named, as text. */
  async result(of?: string): Promise<string> {
    const { command } = await this.#take(
      ({ command: said }) => said.kind === 'result' && (of === undefined || said.of === of),
    );
    if (command.kind !== 'result') throw new Error('unreachable');
    return `${String(command.of)} ${Buffer.from(command.result).toString()}`;
  }

  /** A job for that peer; returns the id of the REQUEST. */
  request(peer: Peer, headers: Partial<EmqpHeaders>, ...call: Parameters<typeof job>): string {
    return this.requestBody(peer, headers, job(...call));
  }

  /** A REQUEST with any body. */
  requestBody(peer: Peer, headers: Partial<EmqpHeaders>, body: string): string {
    const id = `job-${++this.#ids}`;
    const head = encodeEmqpHeaders(headers);
    this.send(peer, { kind: 'request', id, queue: 'default', headers: head, body: Buffer.from(body) });
    return id;
  }

  send(peer: Peer, command: EmqpCommand): void {
    this.#port.send(peer, encodeEmqp(command));
  }

  close(): Promise<void> {
    return this.#port.close({ lingerMs: 0 });
  }

  #onMessage(said: Said): void {
    const { peer, command } = said;
    if (command.kind === 'heartbeat') return;
    if (command.kind === 'inform-worker') this.send(peer, { kind: 'ack', id: 'ack', of: command.id });
    const waiter = this.#waiters.findIndex(({ wanted }) => wanted(said));
    if (waiter === -1) this.said.push(said);
    else this.#waiters.splice(waiter, 1)[0]!.resolve(said);
  }

  async #take(wanted: (said: Said) => boolean): Promise<Said> {
    const found = this.said.findIndex(wanted);
    if (found !== -1) return this.said.splice(found, 1)[0]!;
    return new Promise((resolve) => this.#waiters.push({ wanted, resolve }));
  }
}
