/** The Majordomo pool's engine, in words: peers have names, calls numbers, effects are lines of text. */
import { fromLatin1, latin1 } from '@proj/frames';
import { encodeMdp, type MdpToBroker, type MdpVersion } from '@proj/frames/mdp';
import { MdpPoolEngine, PoolCall } from '../../src/mdp/engine/pool-engine.js';
import { mdpPoolOptions, type MdpPoolOptions } from '../../src/mdp/options.js';
import type { MdpPoolEffect, MdpPoolEvent } from '../../src/mdp/engine/events.js';
import { EngineUnderTest } from '../engine-under-test.js';
import { peerNamed } from '../keyed.js';

/** The address of a call. */
export function addressOf(id: number): Uint8Array {
  return new PoolCall(id, 1).peer.id;
}

/** A pool. */
export class PoolUnderTest extends EngineUnderTest<MdpPoolEvent, MdpPoolEffect, MdpPoolEngine> {
  constructor(options: MdpPoolOptions = {}) {
    super(new MdpPoolEngine(mdpPoolOptions.parse(options)));
  }

  message(name: string, command: MdpToBroker): string[] {
    return this.step({ kind: 'message', peer: peerNamed(name), command });
  }

  ready(worker: string, service = 'echo', version: MdpVersion = '0.2'): string[] {
    return this.message(worker, { kind: 'worker-ready', version, service });
  }

  disconnect(worker: string): string[] {
    return this.message(worker, { kind: 'disconnect', version: '0.2' });
  }

  partial(worker: string, call: number, body: string): string[] {
    const client = addressOf(call);
    return this.message(worker, { kind: 'worker-partial', version: '0.2', client, body: [fromLatin1(body)] });
  }

  final(worker: string, call: number, body: string, version: MdpVersion = '0.2'): string[] {
    const client = addressOf(call);
    return this.message(worker, { kind: 'worker-final', version, client, body: [fromLatin1(body)] });
  }

  /** A message of a client, as the socket plan reports it. */
  client(name: string): string[] {
    return this.message(name, { kind: 'malformed', side: 'client', reason: 'wrong-direction' });
  }

  gone(name: string): string[] {
    return this.step({ kind: 'peer-gone', peer: peerNamed(name) });
  }

  request(id: number, body: string, service = 'echo', timeoutMs = 60_000): string[] {
    return this.step({ kind: 'request', id, service, body: [fromLatin1(body)], timeoutMs });
  }

  abort(id: number): string[] {
    return this.step({ kind: 'abort', id });
  }

  protected override describe(effect: MdpPoolEffect): string {
    switch (effect.kind) {
      case 'send':
        encodeMdp(effect.command);
        return `-> ${effect.peer.key} ${describeCommand(effect.command)}`;
      case 'partial':
      case 'answer':
        return `${effect.kind} ${effect.id} ${quoted(effect.body)}`;
      case 'fail':
        return `fail ${effect.id} ${effect.reason}`;
      case 'worker-ready':
        return `worker-ready ${effect.peer.key} ${effect.service}`;
      case 'worker-lost':
        return `worker-lost ${effect.peer.key} ${effect.service} ${effect.reason}`;
      case 'note': {
        if (effect.code === 'running-late') return `note ${effect.code} ${effect.lateMs}ms`;
        const reason = 'reason' in effect ? `${effect.reason} ` : '';
        return `note ${effect.code} ${reason}${effect.peer.key}`;
      }
      case 'drained':
        return 'drained';
    }
  }
}

function describeCommand(command: (MdpPoolEffect & { kind: 'send' })['command']): string {
  const version = command.version === '0.1' ? '0.1 ' : '';
  if (command.kind !== 'worker-request') return `${version}${command.kind.toUpperCase()}`;
  return `${version}REQUEST #${new DataView(command.client.buffer).getUint32(4)} ${quoted(command.body)}`;
}

function quoted(body: readonly Uint8Array[]): string {
  return body.map((frame) => JSON.stringify(latin1(frame))).join(' ');
}
