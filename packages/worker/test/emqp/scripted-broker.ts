/** The broker's side of a conversation, played by a test. */
import { decodeEmqpAtBroker, encodeEmqp, encodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpCommand, EmqpHeaders, EmqpToBroker } from '@proj/frames/emqp';
import type { Peer, Transport } from '@proj/transport';
import { ScriptedPeer } from '../scripted-peer.js';
import type { Said } from '../scripted-peer.js';
import { job } from './pool-rig.js';

/** Says ACK to every INFORM; all else is the test's. Heartbeats are not kept. */
export class ScriptedBroker extends ScriptedPeer<EmqpToBroker> {
  #ids = 0;

  static start(transport: Transport, endpoint: string): Promise<ScriptedBroker> {
    return new ScriptedBroker().listen(transport, endpoint);
  }

  /** The next result, of that REQUEST if it is named, as text. */
  async result(of?: string): Promise<string> {
    const { command } = await this.take(
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
    this.say(peer, { kind: 'request', id, queue: 'default', headers: head, body: Buffer.from(body) });
    return id;
  }

  say(peer: Peer, command: EmqpCommand): void {
    this.send(peer, encodeEmqp(command));
  }

  protected decode(frames: readonly Uint8Array[]): EmqpToBroker {
    return decodeEmqpAtBroker(frames);
  }

  protected keeps({ peer, command }: Said<EmqpToBroker>): boolean {
    if (command.kind === 'inform-worker') this.say(peer, { kind: 'ack', id: 'ack', of: command.id });
    return command.kind !== 'heartbeat';
  }
}
