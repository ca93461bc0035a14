/** The EventMQ engine with its codec around it, in words: peers have names, effects are lines of text. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeEmqpAtAdminPort, decodeEmqpAtBroker, encodeEmqp } from '@proj/frames/emqp';
import type { Entropy, RejectReason, UndeliverableReason } from '@proj/transport';
import type {
  EmqpBrokerEffect,
  EmqpBrokerEvent,
  EmqpFromBroker,
  EmqpParty,
  EmqpPort,
  EmqpStoreEffect,
} from '../../src/emqp/engine/events.js';
import { EmqpBrokerEngine } from '../../src/emqp/engine/engine.js';
import { emqpBrokerOptions, type EmqpBrokerOptions } from '../../src/emqp/options.js';
import { bodyKey, readRecord, type EmqpKeptJob } from '../../src/emqp/engine/guarantee/records.js';
import { EngineUnderTest } from '../engine-under-test.js';
import { peerNamed } from '../keyed.js';

export const VERSION = 'eMQP/1.0';

/** Ids `u1`, `u2` and so on, and a clock on the wall that stands still. */
export function countingEntropy(): Entropy {
  let ids = 0;
  return { uuid: () => `u${++ids}`, wallMicros: () => 1_795_199_684_546_465, random: () => 0 };
}

/** The body of a job. */
export function jobBody(callable = 'add'): string {
  return `["run", {"callable": "${callable}", "path": "myjobs", "args": [2, 3]}]`;
}

/** Names that begin with `w` are at home at the backend. */
function homeOf(name: string): EmqpPort {
  return name.startsWith('w') ? 'backend' : 'frontend';
}

/** A broker. */
export class BrokerUnderTest extends EngineUnderTest<EmqpBrokerEvent, EmqpBrokerEffect, EmqpBrokerEngine> {
  readonly #lastSent = new Map<string, EmqpFromBroker>();
  readonly #writes = new Map<number, EmqpStoreEffect>();
  /** What a store would hold by now. */
  readonly records = new Map<string, Uint8Array>();

  constructor(options: EmqpBrokerOptions = {}) {
    super(new EmqpBrokerEngine(emqpBrokerOptions.parse(options), countingEntropy()));
  }

  /** Delivers frames, each given as latin1 text; `''` and the version are put before them. */
  say(name: string, ...frames: string[]): string[] {
    return this.frames(name, '', VERSION, ...frames);
  }

  /** Delivers frames as they are. */
  frames(name: string, ...frames: string[]): string[] {
    return this.framesAt(homeOf(name), name, ...frames);
  }

  framesAt(port: EmqpPort, name: string, ...frames: string[]): string[] {
    const command = decodeEmqpAtBroker(frames.map(fromLatin1));
    return this.step({ kind: 'message', port, peer: peerNamed(name), command });
  }

  /** A worker for these queues: `name` or `name:weight`; none for the broker's default. */
  inform(worker: string, ...queues: string[]): string[] {
    const pairs = queues.map((queue) => {
      const [name = '', weight = '10'] = queue.split(':');
      return [Number(weight), name];
    });
    return this.say(worker, 'INFORM', `i-${worker}`, queues.length === 0 ? '' : JSON.stringify(pairs), 'worker');
  }

  scheduler(name: string): string[] {
    return this.say(name, 'INFORM', `i-${name}`, '', 'scheduler');
  }

  /** That many slots. */
  ready(worker: string, times = 1): string[] {
    return Array.from({ length: times }, () => this.say(worker, 'READY', 'r')).flat();
  }

  request(client: string, id: string, queue = 'default', headers = '', body = jobBody()): string[] {
    return this.say(client, 'REQUEST', id, queue, headers, body);
  }

  /** The worker has done this job. */
  reply(worker: string, of: string, result = '{"value": 5}'): string[] {
    return this.say(worker, 'REPLY', `p-${of}`, result, of);
  }

  heartbeat(name: string): string[] {
    return this.say(name, 'HEARTBEAT', 'h', '1795199684.5');
  }

  bye(name: string, word: 'KBYE' | 'KBAI' = 'KBYE'): string[] {
    return this.say(name, word, 'b');
  }

  schedule(client: string, id: string, callable = 'add'): string[] {
    return this.say(client, 'SCHEDULE', id, 'default', 'guarantee', '2', jobBody(callable), '');
  }

  unschedule(client: string, id: string, callable = 'add'): string[] {
    return this.say(client, 'UNSCHEDULE', id, 'default', 'guarantee', '-1', jobBody(callable), '');
  }

  admin(name: string, word: string, ...rest: string[]): string[] {
    const command = decodeEmqpAtAdminPort(['', VERSION, word, 'admin:1', ...rest].map(fromLatin1));
    return this.step({ kind: 'admin', peer: peerNamed(name), command });
  }

  gone(name: string): string[] {
    return this.step({ kind: 'peer-gone', port: homeOf(name), peer: peerNamed(name) });
  }

  /** What was last sent to the peer comes back, or what was sent under this id. */
  undeliverable(name: string, reason: UndeliverableReason = 'unreachable', id?: string): string[] {
    const command = this.#lastSent.get(id === undefined ? name : `${name} ${id}`);
    if (command === undefined) throw new Error(`nothing was sent to ${name}`);
    return this.step({ kind: 'undeliverable', port: homeOf(name), peer: peerNamed(name), command, reason });
  }

  rejected(name: string, reason: RejectReason): string[] {
    return this.step({ kind: 'rejected', port: homeOf(name), peer: peerNamed(name), reason });
  }

  /** Lets time pass while these peers say HEARTBEAT every second; returns what is not a heartbeat. */
  live(ms: number, ...names: string[]): string[] {
    const lines: string[] = [];
    for (const until = this.now + ms; this.now < until;) {
      lines.push(...this.advance(Math.min(1000, until - this.now)));
      for (const name of names) lines.push(...this.heartbeat(name));
    }
    return lines.filter((line) => !line.endsWith(' HEARTBEAT'));
  }

  /** The write has ended, or failed. */
  stored(write: number, error?: string): string[] {
    const { puts = [], removes = [] } = this.#writes.get(write) ?? {};
    if (error === undefined) {
      for (const key of removes) this.records.delete(key);
      for (const [key, value] of puts) this.records.set(key, value);
    }
    return this.step({ kind: 'stored', write, error });
  }

  /** It starts with these records. */
  restore(records: ReadonlyMap<string, Uint8Array>): string[] {
    for (const [key, value] of records) this.records.set(key, value);
    const jobs = [...records].flatMap(([key, head]) => {
      const body = records.get(bodyKey(key));
      return body === undefined ? [] : [readRecord(key, head, body) as EmqpKeptJob];
    });
    return this.step({ kind: 'restore', jobs });
  }

  protected override describe(effect: EmqpBrokerEffect): string {
    switch (effect.kind) {
      case 'send':
        encodeEmqp(effect.command);
        this.#lastSent.set(effect.peer.key, effect.command);
        this.#lastSent.set(`${effect.peer.key} ${effect.command.id}`, effect.command);
        return `-> ${nameOf(effect)} ${describeCommand(effect.command)}`;
      case 'store': {
        this.#writes.set(effect.write, effect);
        const jobs = effect.puts.filter(([key]) => !key.endsWith('/body')).length;
        return `store ${effect.write}: +${jobs} -${effect.removes.length / 2}`;
      }
      case 'publish':
        return `publish ${latin1(effect.topic)} ${latin1(effect.body)}`;
      case 'peer-joined':
        return `joined ${nameOf(effect)} ${effect.role}`;
      case 'peer-left':
        return `left ${nameOf(effect)} ${effect.reason}`;
      case 'note':
        return describeNote(effect);
      case 'drained':
        return 'drained';
    }
  }
}

/** With the port if it is not the usual one. */
function nameOf({ port, peer }: EmqpParty): string {
  return port === 'admin' || port === homeOf(peer.key) ? peer.key : `${peer.key}@${port}`;
}

function describeCommand(command: EmqpFromBroker): string {
  switch (command.kind) {
    case 'ack':
      return `ACK ${command.of}`;
    case 'heartbeat':
      return 'HEARTBEAT';
    case 'request':
      return `REQUEST ${command.id} ${command.queue}`;
    case 'accepted':
      return `ACCEPTED ${command.of}`;
    case 'result':
      return `RESULT ${String(command.of)} ${latin1(command.result)}`;
    case 'schedule':
    case 'unschedule':
      return `${command.kind.toUpperCase()} ${command.id} every ${command.interval} with "${latin1(command.headers)}"`;
    case 'bye':
      return command.word;
    case 'admin-reply':
      return command.json;
  }
}

function describeNote(note: EmqpBrokerEffect & { kind: 'note' }): string {
  switch (note.code) {
    case 'message-dropped':
    case 'reply-dropped':
      return `note ${note.code} ${note.reason} ${nameOf(note)}`;
    case 'request-dropped':
      return `note ${note.code} ${note.reason} ${nameOf(note)} ${note.queue}`;
    case 'spacing-hint':
      return `note ${note.code} ${nameOf(note)} ${note.silentMs}ms of ${note.expiryMs}ms`;
    case 'jobs-restored':
      return `note ${note.code} ${note.jobs}`;
    case 'store-failed':
      return `note ${note.code} ${note.error}`;
    case 'running-late':
      return `note ${note.code} ${note.lateMs}ms`;
  }
}
