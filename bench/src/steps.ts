/**
 * The maximum cost of one message, since all other peers wait for a step of the engine. Hostile messages by the megabyte, and the largest
 * legal message of each kind, are decoded, stepped and, if there is an answer, encoded. Each time is the fastest of several runs, so that a
 * pause of the machine does not count.
 */
import { EmqpBrokerEngine, emqpBrokerOptions, EmqpPubSubEngine } from '@proj/broker/emqp';
import type { EmqpBrokerEvent } from '@proj/broker/emqp';
import { MdpBrokerEngine, mdpBrokerOptions } from '@proj/broker/mdp';
import { NfpBrokerEngine, nfpBrokerOptions } from '@proj/broker/nfp';
import { PppQueueEngine, pppQueueOptions } from '@proj/broker/ppp';
import type { PppQueueEvent } from '@proj/broker/ppp';
import { fromLatin1 } from '@proj/frames';
import { decodeEmqpAtAdminPort, decodeEmqpAtBroker, decodeEmqpAtPubSub, encodeEmqp } from '@proj/frames/emqp';
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import { decodeNfpAtBroker, encodeNfp } from '@proj/frames/nfp';
import type { NfpCommand } from '@proj/frames/nfp';
import { decodePppAtFrontend, decodePppAtQueue, encodePpp } from '@proj/frames/ppp';
import { decodePzqAtMonitor, decodePzqAtReceive, decodePzqAtSend, encodePzq } from '@proj/frames/pzq';
import { MemoryStore, PzqEngine, pzqServerOptions } from '@proj/pzq';
import type { PzqEvent } from '@proj/pzq/engine';
import * as arbitraries from '@proj/testkit/arbitraries';
import type { Entropy, Peer } from '@proj/transport';
import fc from 'fast-check';
import type { Report } from './statistics.js';

type Frames = readonly Uint8Array[];

/** Takes a message from a peer, as the program does. */
type Step = (peer: Peer, frames: Frames) => void;

/** A port of a program. */
interface Port {
  readonly name: string;
  /** What well-behaved peers send. */
  readonly valid: fc.Arbitrary<Frames>;
  /** A server with nothing in it. */
  readonly open: () => Step;
  /** The largest message of each kind, or the one that takes longest to read. */
  readonly largest: Readonly<Record<string, Frames>>;
}

const MIB = 2 ** 20;
const HOSTILE_BYTES = 24 * MIB;
const RUNS = 3;
const LIMIT_MS = 20;
const PEERS = 100;
const SEED = 20_260_101;
/** Messages to vary. */
const TEMPLATES = 2000;

const entropy: Entropy = { wallMicros: () => 1, uuid: () => '00000000-0000-4000-8000-000000000000', random: () => 0.5 };
const peers = Array.from({ length: PEERS }, (_, n): Peer => ({ key: `peer-${n}`, id: Buffer.from(`peer-${n}`) }));
const text = (...frames: readonly (string | Uint8Array)[]): Uint8Array[] =>
  frames.map((frame) => (typeof frame === 'string' ? fromLatin1(frame) : frame));
const body = Buffer.alloc(64 * MIB - 4096, 7);
const many = Array.from({ length: 1000 }, () => body.subarray(0, 65_000));
const long = (bytes: number, unit: string): string => unit.repeat(Math.floor(bytes / unit.length));
const JSON_BOMBS = [long(65_000, '['), `[${long(65_000, '1,')}1]`, `{${long(65_000, '"a":1,')}"b":1}`];
const uuid = '1'.repeat(32);

/** Counts the time, lets an engine step on every message, and encodes what it sends. */
function stepper<Effect>(
  step: (peer: Peer, frames: Frames, now: number) => readonly Effect[],
  write: (effect: Effect) => void = () => undefined,
): Step {
  let now = 0;
  return (peer, frames) => {
    now += 0.1;
    for (const effect of step(peer, frames, now)) write(effect);
  };
}

function mdp(): Step {
  const engine = new MdpBrokerEngine(mdpBrokerOptions.parse({}));
  return stepper(
    (peer, frames, now) => engine.step({ kind: 'message', peer, command: decodeMdpAtBroker(frames) }, now),
    (effect) => effect.kind === 'send' && void encodeMdp(effect.command),
  );
}

function ppp(socket: 'frontend' | 'backend'): Step {
  const engine = new PppQueueEngine(pppQueueOptions.parse({}));
  const eventOf = (peer: Peer, frames: Frames): PppQueueEvent =>
    socket === 'backend'
      ? { kind: 'message', socket, peer, command: decodePppAtQueue(frames) }
      : { kind: 'message', socket, peer, command: decodePppAtFrontend(frames) };
  return stepper(
    (peer, frames, now) => engine.step(eventOf(peer, frames), now),
    (effect) => effect.kind === 'send' && void encodePpp(effect.command),
  );
}

function nfp(): Step {
  const engine = new NfpBrokerEngine(nfpBrokerOptions.parse({}));
  return stepper(
    (peer, frames, now) => engine.step({ kind: 'message', peer, command: decodeNfpAtBroker(frames) }, now),
    (effect) => effect.kind === 'send' && void encodeNfp(effect.command),
  );
}

function emqp(port: 'frontend' | 'backend' | 'admin'): Step {
  const engine = new EmqpBrokerEngine(emqpBrokerOptions.parse({}), entropy);
  const eventOf = (peer: Peer, frames: Frames): EmqpBrokerEvent =>
    port === 'admin'
      ? { kind: 'admin', peer, command: decodeEmqpAtAdminPort(frames) }
      : { kind: 'message', port, peer, command: decodeEmqpAtBroker(frames) };
  return stepper(
    (peer, frames, now) => engine.step(eventOf(peer, frames), now),
    (effect) => effect.kind === 'send' && void encodeEmqp(effect.command),
  );
}

function pubSub(): Step {
  const engine = new EmqpPubSubEngine();
  return stepper((peer, frames, now) =>
    engine.step({ kind: 'message', peer, command: decodeEmqpAtPubSub(frames) }, now),
  );
}

function pzq(port: 'receive' | 'send' | 'monitor'): Step {
  const counts = { messages: 0, bytes: 0, delayed: 0, dead: 0, nextDueMicros: Infinity, storeBytes: 0 };
  const info = { name: 'memory', epoch: 1n, lastSeq: 0, counts, shared: false } as const;
  const settings = { ...pzqServerOptions.parse({ store: new MemoryStore() }), version: '', deadLetterSend: false };
  const engine = new PzqEngine(settings, info, entropy);
  engine.step({ kind: 'start' }, 0);
  const eventOf = (peer: Peer, frames: Frames): PzqEvent => {
    switch (port) {
      case 'receive':
        return { kind: 'produce', peer, command: decodePzqAtReceive(frames), acksWaiting: 0 };
      case 'send':
        return { kind: 'consumer', outlet: 'queue', command: decodePzqAtSend(frames) };
      case 'monitor':
        return { kind: 'monitor', peer, command: decodePzqAtMonitor(frames) };
    }
  };
  return stepper((peer, frames, now) => engine.step(eventOf(peer, frames), now));
}

const emqpRequest = (word: string, ...rest: readonly (string | Uint8Array)[]) =>
  text('', 'eMQP/1.0', word, uuid, ...rest);

const PORTS: readonly Port[] = [
  {
    name: 'MDP',
    valid: arbitraries.mdpToBroker.map(encodeMdp),
    open: mdp,
    largest: {
      'request of 64 MiB': text('MDPC02', '\x01', 'echo', body),
      'request of 1000 frames': text('MDPC02', '\x01', 'echo', ...many),
      'READY with a name of 64 KiB': text('MDPW02', '\x01', long(65_536, 'x')),
      'mmi.service with a name of 64 MiB': text('MDPC02', '\x01', 'mmi.service', body),
    },
  },
  {
    name: 'PPP frontend',
    valid: arbitraries.pppClientRequest.map(encodePpp),
    open: () => ppp('frontend'),
    largest: {
      'request of 64 MiB': text('', body),
      'request of 1000 frames': text('', ...many),
      'request with 1000 addresses': text(...Array.from({ length: 1000 }, () => 'hop'), '', 'x'),
    },
  },
  {
    name: 'PPP backend',
    valid: arbitraries.pppToQueue.map(encodePpp),
    open: () => ppp('backend'),
    largest: { 'reply of 64 MiB': text('client', '', body), 'reply of 1000 frames': text('client', '', ...many) },
  },
  {
    name: 'NFP',
    valid: arbitraries.nfpToBroker.map((command) => encodeNfp(command as NfpCommand)),
    open: nfp,
    largest: {
      'POST of 64 MiB': text('', 'NFPC01', '0x04', 'all', 'all', uuid, body),
      'POST with a target of 64 KiB': text('', 'NFPC01', '0x04', 'all', `[${long(65_000, '"w",')}"w"]`, uuid, '{}'),
      'RESPONSE with a client of 64 MiB': text('', 'NFPW01', '0x05', body, '', uuid, '200', 'x'),
      ...Object.fromEntries(
        JSON_BOMBS.map((bomb, n) => [
          `task of 64 KiB of JSON, ${n + 1}`,
          text('', 'NFPC01', '0x11', 'mmi.service.broker', 'all', uuid, bomb),
        ]),
      ),
      'OPEN of 64 KiB of JSON': text('', 'NFPW01', '0x01', 'sample', JSON_BOMBS[2] ?? ''),
    },
  },
  ...(['frontend', 'backend'] as const).map((port): Port => ({
    name: `eMQP ${port}`,
    valid: arbitraries.emqpToBroker.map(encodeEmqp),
    open: () => emqp(port),
    largest: {
      'REQUEST of 64 MiB': emqpRequest('REQUEST', 'default', '', body),
      'REQUEST with headers of 64 MiB': emqpRequest('REQUEST', 'default', body, '{}'),
      'REQUEST with 4 KiB of headers': emqpRequest('REQUEST', 'default', long(4096, 'timeout:1,'), '{}'),
      'INFORM with 64 KiB of queues': emqpRequest('INFORM', `[${long(65_000, '[1,"q"],')}[1,"q"]]`, 'worker'),
      'INFORM with 64 KiB of brackets': emqpRequest('INFORM', JSON_BOMBS[0] ?? '', 'worker'),
      'INFORM with queues of 64 MiB': emqpRequest('INFORM', body, 'worker'),
      ...Object.fromEntries(
        JSON_BOMBS.map((bomb, n) => [
          `SCHEDULE of 1 MiB of JSON, ${n + 1}`,
          emqpRequest('SCHEDULE', 'default', '', '60', long(MIB, bomb).slice(0, MIB), ''),
        ]),
      ),
      'SCHEDULE of 1 MiB with many keys': emqpRequest(
        ...(['SCHEDULE', 'default', '', '60'] as const),
        `["run", {${Array.from({ length: 60_000 }, (_, n) => `"k${n}": ${n}`).join(', ')}}]`,
        '',
      ),
      'SCHEDULE with an interval of 64 MiB': emqpRequest('SCHEDULE', 'default', '', body, '{}', ''),
      'SCHEDULE with a cron of 64 MiB': emqpRequest('SCHEDULE', 'default', '', '-1', '{}', body),
    },
  })),
  {
    name: 'eMQP admin',
    valid: arbitraries.emqpToAdminPort.map(encodeEmqp),
    open: () => emqp('admin'),
    largest: { 'STATUS with 64 MiB behind it': emqpRequest('STATUS', body) },
  },
  {
    name: 'eMQP pub-sub',
    valid: arbitraries.emqpPublish.map(encodeEmqp),
    open: pubSub,
    largest: {
      'PUBLISH of 64 MiB': emqpRequest('PUBLISH', 'topic', body),
      'PUBLISH with a topic of 64 MiB': emqpRequest('PUBLISH', body, 'x'),
    },
  },
  {
    name: 'PZQ receive',
    valid: arbitraries.pzqProduce.map(encodePzq),
    open: () => pzq('receive'),
    largest: {
      'message of 64 MiB': text('id', '', body),
      'message of 1000 frames': text('id', '', ...many),
      'message with an id of 64 MiB': text(body, '', 'x'),
      'message with 1000 headers': text('id', ...Array.from({ length: 1000 }, (_, n) => `H${n}:${n}`), '', 'x'),
    },
  },
  {
    name: 'PZQ send',
    valid: arbitraries.pzqFromConsumer.map(encodePzq),
    open: () => pzq('send'),
    largest: { 'acknowledgement with a key of 64 MiB': text(body, '1') },
  },
  {
    name: 'PZQ monitor',
    valid: arbitraries.pzqMonitorRequest.map(encodePzq),
    open: () => pzq('monitor'),
    largest: { 'question of 64 MiB': text('MONITOR', body) },
  },
];

/** The same numbers in every run. */
function numbers(): (below: number) => number {
  let state = SEED;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Content for a long frame: random bytes, or the worst case for a reader of JSON or lists. */
const FILLINGS = [...JSON_BOMBS, long(65_000, 'a:1,'), long(65_000, '\\u0000'), long(65_000, '9')].map(fromLatin1);

/**
 * Messages with one or two faults, some of their frames grown to up to a megabyte, until this many bytes are reached.
 */
function hostile(valid: fc.Arbitrary<Frames>): Frames[] {
  const pick = numbers();
  const templates = fc.sample(fc.oneof(arbitraries.mutated(valid), arbitraries.message(), valid), {
    numRuns: TEMPLATES,
    seed: SEED,
  });
  const noise = Buffer.from(Array.from({ length: 65_536 }, () => pick(256)));
  const messages: Frames[] = [];
  for (let bytes = 0; bytes < HOSTILE_BYTES;) {
    const frames = [...(templates[pick(templates.length)] ?? [])];
    if (frames.length > 0 && pick(4) === 0) {
      const filling = pick(2) === 0 ? noise : (FILLINGS[pick(FILLINGS.length)] ?? noise);
      const times = pick(64) === 0 ? 1 + pick(16) : 1;
      frames[pick(frames.length)] = Buffer.concat(
        Array.from({ length: times }, () => filling.subarray(0, pick(65_536))),
      );
    }
    messages.push(frames);
    bytes += frames.reduce((sum, { length }) => sum + length, 64);
  }
  return messages;
}

/** Milliseconds of each step, the fastest of several runs. */
function timesOf(open: () => Step, messages: readonly Frames[]): Float64Array {
  const best = new Float64Array(messages.length).fill(Infinity);
  for (let run = 0; run < RUNS; run++) {
    const step = open();
    for (const [n, frames] of messages.entries()) {
      const peer = peers[n % PEERS] as Peer;
      const startedAt = performance.now();
      step(peer, frames);
      best[n] = Math.min(best[n] ?? Infinity, performance.now() - startedAt);
    }
  }
  return best;
}

/** The longest step for 24 MiB of hostile messages at each port, and for the largest message of each kind. */
export function measureSteps(report: Report): void {
  const limit = { atMost: LIMIT_MS };
  for (const { name, valid, open, largest } of PORTS) {
    const messages = hostile(valid);
    const worst = timesOf(open, messages).reduce((most, each) => Math.max(most, each), 0);
    const what = `${name}: longest step of ${messages.length} hostile messages of 24 MiB`;
    report({ what, measured: worst, unit: 'ms', limit });
    for (const [kind, frames] of Object.entries(largest)) {
      const [measured = Number.NaN] = timesOf(open, [frames]);
      report({ what: `${name}: ${kind}`, measured, unit: 'ms', limit });
    }
  }
}
