/** The broker's side of a conversation, played by a test. */
import { fromLatin1 } from '@proj/frames';
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import type { MdpToBroker, MdpVersion, MdpWorkerFinal, MdpWorkerPartial } from '@proj/frames/mdp';
import type { Peer, Transport } from '@proj/transport';
import { ScriptedPeer } from '../scripted-peer.js';
import type { Said } from '../scripted-peer.js';

/** Heartbeats are counted and answered, those of strangers with DISCONNECT. */
export class ScriptedBroker extends ScriptedPeer<MdpToBroker> {
  heartbeats = 0;
  version: MdpVersion = '0.2';
  readonly #registered = new Set<string>();

  static start(transport: Transport, endpoint: string): Promise<ScriptedBroker> {
    return new ScriptedBroker().listen(transport, endpoint);
  }

  /** The text of the next message, which should be a reply: frames separated by `|`, its kind in front: `PARTIAL a|b`. */
  async reply(): Promise<string> {
    return describe((await this.take()).command);
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

  protected decode(frames: readonly Uint8Array[]): MdpToBroker {
    return decodeMdpAtBroker(frames);
  }

  protected keeps({ peer, command }: Said<MdpToBroker>): boolean {
    if (command.kind === 'heartbeat') {
      this.heartbeats++;
      const kind = this.#registered.has(peer.key) ? 'heartbeat' : 'disconnect';
      this.send(peer, encodeMdp({ kind, version: this.version }));
      return false;
    }
    if (command.kind === 'worker-ready') this.#registered.add(peer.key);
    return true;
  }
}

function describe(command: MdpToBroker): string {
  if (command.kind !== 'worker-partial' && command.kind !== 'worker-final') return command.kind;
  const { client, body }: MdpWorkerPartial | MdpWorkerFinal = command;
  if (Buffer.from(client).toString() !== 'c1') throw new Error('a reply to somebody else');
  const text = body.map((frame) => Buffer.from(frame).toString()).join('|');
  return `${command.kind === 'worker-partial' ? 'PARTIAL' : 'FINAL'} ${text}`;
}
