/** The Majordomo engine and its codec, in words: peers have names, effects are lines of text. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeMdpAtBroker, encodeMdp, type MdpFraming, type MdpToBroker, type MdpVersion } from '@proj/frames/mdp';
import type { RejectReason, UndeliverableReason } from '@proj/transport';
import type { MdpBrokerEffect, MdpBrokerEvent, MdpFromBroker } from '../../src/mdp/engine/events.js';
import { MdpBrokerEngine } from '../../src/mdp/engine/engine.js';
import { mdpBrokerOptions, type MdpBrokerOptions } from '../../src/mdp/options.js';
import { EngineUnderTest } from '../engine-under-test.js';
import { peerNamed } from '../keyed.js';

/** The framing of a peer. */
export type Framing = MdpVersion | 'behind-empty';

/** A broker. */
export class BrokerUnderTest extends EngineUnderTest<MdpBrokerEvent, MdpBrokerEffect, MdpBrokerEngine> {
  readonly #acceptLeadingEmpty: boolean;
  #served = 0;
  readonly #lastSent = new Map<string, MdpFromBroker>();

  constructor(options: MdpBrokerOptions = {}) {
    const settings = mdpBrokerOptions.parse(options);
    super(new MdpBrokerEngine(settings));
    this.#acceptLeadingEmpty = settings.acceptLeadingEmpty;
  }

  /** Delivers frames, each given as latin1 text. */
  frames(name: string, ...frames: string[]): string[] {
    const command = decodeMdpAtBroker(frames.map(fromLatin1), { acceptLeadingEmpty: this.#acceptLeadingEmpty });
    return this.message(name, command);
  }

  message(name: string, command: MdpToBroker): string[] {
    return this.step({ kind: 'message', peer: peerNamed(name), command });
  }

  ready(worker: string, service = 'echo', framing: Framing = '0.2'): string[] {
    return this.message(worker, { kind: 'worker-ready', ...framed(framing), service });
  }

  heartbeat(worker: string, framing: Framing = '0.2'): string[] {
    return this.message(worker, { kind: 'heartbeat', ...framed(framing) });
  }

  disconnect(worker: string, framing: Framing = '0.2'): string[] {
    return this.message(worker, { kind: 'disconnect', ...framed(framing) });
  }

  partial(worker: string, client: string, body: string): string[] {
    return this.message(worker, {
      kind: 'worker-partial',
      version: '0.2',
      client: fromLatin1(client),
      body: [fromLatin1(body)],
    });
  }

  final(worker: string, client: string, body: string, framing: Framing = '0.2'): string[] {
    const reply = { client: fromLatin1(client), body: [fromLatin1(body)] };
    return this.message(worker, { kind: 'worker-final', ...framed(framing), ...reply });
  }

  request(client: string, body: string, service = 'echo', framing: Framing = '0.2'): string[] {
    return this.message(client, { kind: 'client-request', ...framed(framing), service, body: [fromLatin1(body)] });
  }

  /** Adds a service inside the broker. Services are numbered from 1. */
  serve(name: string, concurrency = 1, versions: readonly MdpVersion[] = ['0.2', '0.1']): string[] {
    return this.step({ kind: 'serve', services: [{ id: ++this.#served, name, versions, concurrency }] });
  }

  withdraw(service: number): string[] {
    return this.step({ kind: 'withdraw', service });
  }

  ownPartial(run: number, body: string): string[] {
    return this.step({ kind: 'own-partial', run, body: [fromLatin1(body)] });
  }

  ownFinal(run: number, body: string): string[] {
    return this.step({ kind: 'own-final', run, body: [fromLatin1(body)] });
  }

  ownFailed(run: number): string[] {
    return this.step({ kind: 'own-failed', run });
  }

  gone(name: string): string[] {
    return this.step({ kind: 'peer-gone', peer: peerNamed(name) });
  }

  /** The last message to the peer could not be delivered. */
  undeliverable(name: string, reason: UndeliverableReason = 'unreachable'): string[] {
    const command = this.#lastSent.get(name);
    if (command === undefined) throw new Error(`nothing was sent to ${name}`);
    return this.step({ kind: 'undeliverable', peer: peerNamed(name), command, reason });
  }

  rejected(name: string, reason: RejectReason): string[] {
    return this.step({ kind: 'rejected', peer: peerNamed(name), reason });
  }

  protected override describe(effect: MdpBrokerEffect): string {
    switch (effect.kind) {
      case 'send':
        encodeMdp(effect.command);
        this.#lastSent.set(effect.peer.key, effect.command);
        return `-> ${effect.peer.key} ${describeCommand(effect.command)}`;
      case 'worker-ready':
        return `worker-ready ${effect.peer.key} ${effect.service}${effect.version === '0.1' ? ' 0.1' : ''}`;
      case 'worker-lost':
        return `worker-lost ${effect.peer.key} ${effect.service} ${effect.reason}`;
      case 'note':
        return describeNote(effect);
      case 'release':
        return `release ${latin1(effect.body[0] as Uint8Array)}`;
      case 'run': {
        const { run, service, client, version, body } = effect;
        return `run ${run} of ${service} for ${client.key}${version === '0.1' ? ' 0.1' : ''} ${quoted(body)}`;
      }
      case 'cancel':
        return `cancel ${effect.run} ${effect.reason}`;
      case 'drained':
        return 'drained';
    }
  }
}

function framed(framing: Framing): MdpFraming {
  return framing === 'behind-empty' ? { version: '0.2', leadingEmpty: true } : { version: framing };
}

function describeCommand(command: MdpFromBroker): string {
  const framing = command.version === '0.1' ? '0.1 ' : command.leadingEmpty === true ? 'behind-empty ' : '';
  switch (command.kind) {
    case 'worker-request':
      return `${framing}REQUEST ${latin1(command.client)} ${quoted(command.body)}`;
    case 'client-partial':
      return `${framing}PARTIAL ${command.service} ${quoted(command.body)}`;
    case 'client-final':
      return `${framing}FINAL ${command.service} ${quoted(command.body)}`;
    case 'heartbeat':
      return `${framing}HEARTBEAT`;
    case 'disconnect':
      return `${framing}DISCONNECT`;
  }
}

function describeNote(note: MdpBrokerEffect & { kind: 'note' }): string {
  switch (note.code) {
    case 'message-dropped':
      return `note ${note.code} ${note.reason} ${note.peer.key}`;
    case 'request-dropped':
    case 'reply-dropped':
      return `note ${note.code} ${note.reason} ${note.peer.key} ${note.service}`;
    case 'spacing-hint':
      return `note ${note.code} ${note.peer.key} ${note.service} ${note.silentMs}ms of ${note.expiryMs}ms`;
    case 'running-late':
      return `note ${note.code} ${note.lateMs}ms`;
  }
}

function quoted(body: readonly Uint8Array[]): string {
  return body.map((frame) => JSON.stringify(latin1(frame))).join(' ');
}
