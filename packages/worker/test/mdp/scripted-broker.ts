/** The broker's side of a conversation, played by a test: a ROUTER, the codec, and a record of what workers said. */
import { fromLatin1 } from '@proj/frames';
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import type { MdpToBroker, MdpVersion, MdpWorkerFinal, MdpWorkerPartial } from '@proj/frames/mdp';
import type { Peer, SocketPort, Transport } from '@proj/transport';

/** One message as the broker sees it. */
export interface Said<Command extends MdpToBroker = MdpToBroker> {
  readonly peer: Peer;
  readonly command: Command;
}

/**
 * Listens at an endpoint. Heartbeats are counted and answered, those of strangers with DISCONNECT; everything else is kept
 * in order until a test takes it.
 */
export class ScriptedBroker {
  endpoint = '';
  heartbeats = 0;
  version: MdpVersion = '0.2';
  readonly said: Said[] = [];
  readonly #registered = new Set<string>();
  readonly #port: SocketPort;
  readonly #waiters: { wanted: (said: Said) => boolean; resolve: (said: Said) => void }[] = [];

  private constructor(port: SocketPort) {
    this.#port = port;
  }

  static async start(transport: Transport, endpoint: string): Promise<ScriptedBroker> {
    await transport.load();
    const port = transport.router();
    const broker = new ScriptedBroker(port);
    broker.endpoint = await port.bind(endpoint);
    port.start({
      onMessage: (peer, frames) => broker.#onMessage({ peer, command: decodeMdpAtBroker(frames) }),
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: (error) => {
        throw error;
      },
    });
    return broker;
  }

  /** The next message of this kind. What others say meanwhile stays: between two connections there is no order. */
  async next<K extends MdpToBroker['kind']>(kind: K): Promise<Said<Extract<MdpToBroker, { kind: K }>>> {
    const { peer, command } = await this.#take(({ command }) => command.kind === kind);
    return { peer, command: command as Extract<MdpToBroker, { kind: K }> };
  }

  /** The text of the next message, which should be a reply: frames separated by `|`, its kind in front: `PARTIAL a|b`. */
  async reply(): Promise<string> {
    return describe((await this.#take(() => true)).command);
  }

  request(peer: Peer, ...body: (string | Uint8Array)[]): void {
    const frames = body.map((frame) => (typeof frame === 'string' ? fromLatin1(frame) : frame));
    this.send(
      peer,
      encodeMdp({ kind: 'worker-request', version: this.version, client: fromLatin1('c1'), body: frames }),
    );
  }

  disconnect(peer: Peer): void {
    this.send(peer, encodeMdp({ kind: 'disconnect', version: this.version }));
  }

  /** Sends any frames at all. */
  send(peer: Peer, frames: readonly Uint8Array[]): void {
    this.#port.send(peer, frames);
  }

  close(): Promise<void> {
    return this.#port.close({ lingerMs: 0 });
  }

  #onMessage(said: Said): void {
    const { peer, command } = said;
    if (command.kind === 'heartbeat') {
      this.heartbeats++;
      const kind = this.#registered.has(peer.key) ? 'heartbeat' : 'disconnect';
      this.send(peer, encodeMdp({ kind, version: this.version }));
      return;
    }
    if (command.kind === 'worker-ready') this.#registered.add(peer.key);
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

function describe(command: MdpToBroker): string {
  if (command.kind !== 'worker-partial' && command.kind !== 'worker-final') return command.kind;
  const { client, body }: MdpWorkerPartial | MdpWorkerFinal = command;
  if (Buffer.from(client).toString() !== 'c1') throw new Error('a reply to somebody else');
  const text = body.map((frame) => Buffer.from(frame).toString()).join('|');
  return `${command.kind === 'worker-partial' ? 'PARTIAL' : 'FINAL'} ${text}`;
}
