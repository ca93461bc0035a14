/** The NFP engine with its codec around it, in words: peers have names, effects are lines of text. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeNfpAtBroker, encodeNfp, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpAnswer, NfpCall, NfpFromBroker, NfpToBroker } from '@proj/frames/nfp';
import type { RejectReason, UndeliverableReason } from '@proj/transport';
import type { NfpBrokerEffect, NfpBrokerEvent } from '../../src/nfp/engine/events.js';
import { NfpBrokerEngine } from '../../src/nfp/engine/engine.js';
import { nfpBrokerOptions, type NfpBrokerOptions } from '../../src/nfp/options.js';
import { EngineUnderTest } from '../engine-under-test.js';
import { peerNamed } from '../keyed.js';

const RETURNED = 'returned';

/** A broker. */
export class BrokerUnderTest extends EngineUnderTest<NfpBrokerEvent, NfpBrokerEffect, NfpBrokerEngine> {
  readonly #lastSent = new Map<string, NfpFromBroker>();
  /** Lengths of the bodies that were returned so far. They are no lines. */
  readonly returned: number[] = [];

  constructor(options: NfpBrokerOptions = {}) {
    const about = { versions: { test: '1' }, endpoint: 'tcp://sim:5555' };
    super(new NfpBrokerEngine(nfpBrokerOptions.parse(options), about));
  }

  /** Delivers frames, each given as latin1 text. */
  frames(name: string, ...frames: string[]): string[] {
    return this.message(name, decodeNfpAtBroker(frames.map(fromLatin1)));
  }

  /** A name that begins with `req` is that of a REQ socket. */
  message(name: string, command: NfpToBroker): string[] {
    const peer = name.startsWith('req') ? { ...peerNamed(name), isReq: true } : peerNamed(name);
    return this.step({ kind: 'message', peer, command });
  }

  ready(worker: string, service = 'sample'): string[] {
    return this.message(worker, { kind: 'worker-ready', form: 'ascii', service });
  }

  keepalive(worker: string, service = 'sample'): string[] {
    return this.message(worker, { kind: 'worker-keepalive', form: 'ascii', service });
  }

  disconnect(worker: string, service = 'sample'): string[] {
    return this.message(worker, { kind: 'worker-disconnect', form: 'ascii', service, body: [] });
  }

  /** OPEN of a worker, wishing for these keepalives. */
  open(worker: string, interval: number, multiplier: number): string[] {
    const body = encodeNfpJson({ name: worker, version: '1', keepalive: { interval, multiplier } });
    return this.message(worker, { kind: 'worker-open', form: 'ascii', body });
  }

  call(client: string, command: NfpCall, uuid: string, target = 'all', service = 'sample', body = '{}'): string[] {
    const call = { kind: 'client-call', form: 'ascii', command, service, target, uuid } as const;
    return this.message(client, { ...call, body: [fromLatin1(body)] });
  }

  /** A call in the form of the text. */
  byteCall(client: string, command: NfpCall, uuid: string, target = 'all', service = 'sample'): string[] {
    const call = { kind: 'client-call', form: 'byte', command, service, target, uuid } as const;
    return this.message(client, { ...call, body: [fromLatin1('{}')] });
  }

  post(client: string, uuid: string, target = 'all', service = 'sample'): string[] {
    return this.call(client, 'post', uuid, target, service);
  }

  /** A task of the broker's own. */
  mmi(client: string, task: string, kwargs: object = {}, command: NfpCall = 'mmi'): string[] {
    return this.call(client, command, 'm', 'all', 'mmi.service.broker', JSON.stringify({ task, kwargs, args: [] }));
  }

  answer(worker: string, command: NfpAnswer, client: string, uuid: string, status: number, body = '{}'): string[] {
    const answer = { kind: 'worker-answer', form: 'ascii', command, client: fromLatin1(client), uuid, status } as const;
    return this.message(worker, { ...answer, body: [fromLatin1(body)] });
  }

  /** An answer as in the tables of the specification: by service, not by client. */
  tableAnswer(worker: string, command: NfpAnswer, uuid: string, status: number, service = 'sample'): string[] {
    const answer = { kind: 'worker-table-answer', form: 'ascii', command, service, uuid, status } as const;
    return this.message(worker, { ...answer, body: [fromLatin1('{}')] });
  }

  /** It begins to listen. */
  started(): string[] {
    return this.step({ kind: 'started' });
  }

  gone(name: string): string[] {
    return this.step({ kind: 'peer-gone', peer: peerNamed(name) });
  }

  lastSentTo(name: string): NfpFromBroker | undefined {
    return this.#lastSent.get(name);
  }

  /** What was last sent to the peer comes back. */
  undeliverable(name: string, reason: UndeliverableReason = 'unreachable'): string[] {
    const command = this.#lastSent.get(name);
    if (command === undefined) throw new Error(`nothing was sent to ${name}`);
    return this.step({ kind: 'undeliverable', peer: peerNamed(name), command, reason });
  }

  rejected(name: string, reason: RejectReason): string[] {
    return this.step({ kind: 'rejected', peer: peerNamed(name), reason });
  }

  override step(event: NfpBrokerEvent): string[] {
    return super.step(event).filter((line) => line !== RETURNED);
  }

  protected override describe(effect: NfpBrokerEffect): string {
    switch (effect.kind) {
      case 'send':
        encodeNfp(effect.command);
        this.#lastSent.set(effect.peer.key, effect.command);
        return `-> ${effect.peer.key} ${describeCommand(effect.command)}`;
      case 'worker-ready':
        return `worker-ready ${effect.peer.key} ${effect.service}`;
      case 'worker-lost':
        return `worker-lost ${effect.peer.key} ${effect.service} ${effect.reason}`;
      case 'management':
        return `management ${effect.task}`;
      case 'note':
        return describeNote(effect);
      case 'file-request':
        return `file-request ${effect.id} ${Object.values(effect.request).join(' ')}`;
      case 'publish': {
        const { service, worker, uuid, status, body } = effect.event;
        return `publish ${service} ${latin1(worker)} ${uuid} ${status} ${textOf(body)}`;
      }
      case 'release':
        this.returned.push(effect.body.reduce((bytes, { length }) => bytes + length, 0));
        return RETURNED;
      case 'drained':
        return 'drained';
    }
  }
}

function describeCommand(command: NfpFromBroker): string {
  const form = command.form === 'byte' ? 'byte ' : '';
  const header = command.header === 'NFPB01' ? '' : `${command.header} `;
  return form + header + describeRest(command);
}

function describeRest(command: NfpFromBroker): string {
  switch (command.kind) {
    case 'broker-open':
      return `OPEN ${textOf(command.body)}`;
    case 'broker-keepalive':
      return `KEEPALIVE ${command.service}`;
    case 'broker-disconnect':
      return `DISCONNECT ${command.service}`.trim();
    case 'worker-call':
      return `${command.command.toUpperCase()} ${latin1(command.client)} ${command.uuid} ${textOf(command.body)}`;
    case 'worker-table-call':
      throw new Error('a broker writes calls as the releases do');
    case 'client-answer': {
      const { command: name, service, uuid, status, statusText, body } = command;
      const text = statusText === undefined ? '' : ` ${statusText}`;
      return `${name.toUpperCase()} ${service} ${uuid} ${status}${text} ${textOf(body)}`;
    }
  }
}

function describeNote(note: NfpBrokerEffect & { kind: 'note' }): string {
  switch (note.code) {
    case 'message-dropped':
      return `note ${note.code} ${note.reason} ${note.peer.key}`;
    case 'call-refused':
    case 'answer-dropped':
      return `note ${note.code} ${note.reason} ${note.peer.key} ${note.service}`;
    case 'running-late':
      return `note ${note.code} ${note.lateMs}ms`;
  }
}

/** The broker's own word about a call in short, other bodies as they are. */
function textOf(body: readonly Uint8Array[]): string {
  const text = body.map((frame) => latin1(frame)).join(' | ');
  const said = /^\{"workers":(.*),"uuid":.*,"status":"([A-Z]+)","service":.*?(?:"errors":(.*))?\}$/.exec(text);
  const event =
    /^\{"worker":"([^"]*)",.*"event_type":"progress","message":".*","status":"([a-z-]+)","resource":\[\]/.exec(text);
  if (event !== null) return `${event[2]} ${event[1]}`;
  const late = /^\{"worker":"([^"]*)",.*"status":"FAILED","service":.*,"errors":(.*)\}$/.exec(text);
  if (late !== null) return `FAILED ${late[1]} ${late[2]}`;
  return said === null ? text : [said[2], said[1], said[3]].filter((part) => part !== undefined).join(' ');
}
