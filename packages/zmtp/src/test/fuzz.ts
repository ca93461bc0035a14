/** Damaged conversations for the connection engine: all socket types, all mechanisms, both sides. */
import type { Failure } from '../engine/failure.js';
import type { SocketType } from '../engine/framing/commands.js';
import { ConnectionEngine } from '../engine/engine.js';
import type { ConnectionSink } from '../engine/events.js';
import { curve } from '../engine/mechanisms/curve.js';
import type { Security } from '../engine/mechanisms/mechanism.js';
import { plain } from '../engine/mechanisms/plain.js';
import { fromHex, LIBZMQ, SETTINGS } from './recorder.js';
import { toyPair, toyPrimitives } from './toy-primitives.js';

/** The results of a run. */
export interface FuzzReport {
  readonly cases: number;
  readonly bytes: number;
  /** Number of occurrences of each failure code, of `ready` and of `message`. */
  readonly seen: ReadonlyMap<string, number>;
  /** The most memory that one connection allocated per received byte, beyond {@link ANNOUNCED_BYTES}. */
  readonly worstGrowth: number;
}

/** One side of a conversation: its role, and what it receives when nothing is damaged. */
interface Conversation {
  readonly listener: () => Listener;
  readonly bytes: Uint8Array;
}

const LIMITS = { maxMessageFrames: 4, maxMessageBytes: 400, maxFrameBytes: 500 };
/** One frame may be announced that never arrives: memory for a sealed command of 8 KiB. */
const ANNOUNCED_BYTES = 8_300;
/** Greeting, handshake and answers: what a connection sends however little it receives. */
const SPEECH_BYTES = 2_000;

class Listener implements ConnectionSink {
  readonly connection: ConnectionEngine;
  readonly events: string[] = [];
  accepting = true;
  readonly obeying = true;
  failures = 0;
  allocated = 0;
  /** Delivered frames, and their contents at delivery. */
  readonly #frames: (readonly [Uint8Array, Uint8Array])[] = [];

  constructor(socketType: SocketType, security: Security | undefined) {
    const allocate = (bytes: number) => {
      this.allocated += bytes;
      return new Uint8Array(bytes);
    };
    // Returned memory may be reused at once.
    const reclaim = (chunk: Uint8Array): void => {
      chunk.fill(0xee);
    };
    const discard = (frames: readonly Uint8Array[]): void => {
      frames.forEach(reclaim);
    };
    const reuse = { lend: allocate, reclaim, discard };
    const settings = { ...SETTINGS, ...LIMITS, heartbeatMs: 200, socketType, security, allocate, reuse };
    this.connection = new ConnectionEngine(settings, this, 0);
  }

  onReady(): void {
    this.#note('ready');
  }

  onObeyed(): void {}

  onMessage(frames: Uint8Array[]): void {
    const bytes = frames.reduce((sum, { length }) => sum + length, 0);
    if (frames.length > LIMITS.maxMessageFrames || bytes > LIMITS.maxMessageBytes)
      throw new Error(`a message of ${frames.length} frames and ${bytes} bytes came through`);
    for (const frame of frames) this.#frames.push([frame, frame.slice()]);
    this.#note('message');
  }

  assertFrames(): void {
    this.connection.discard();
    for (const [frame, before] of this.#frames)
      if (Buffer.compare(frame, before) !== 0) throw new Error('a frame changed after it had been delivered');
  }

  onSubscription(prefix: Uint8Array): void {
    this.#note(prefix.length >= 0 ? 'subscription' : '');
  }

  onHeld(): void {
    this.#note('held');
  }

  onRejected(): void {
    this.#note('rejected');
  }

  onOutput(): void {
    // Checked at the end.
  }

  onFailure({ code }: Failure): void {
    this.#note(code);
    this.failures++;
  }

  #note(event: string): void {
    if (this.failures > 0) throw new Error(`${event} came after a failure`);
    this.events.push(event);
  }
}

const CLIENT = toyPair(1, 0xcc);
const SERVER = toyPair(2, 0x55);

const PAIRS: readonly (readonly [SocketType, SocketType])[] = [
  ['DEALER', 'ROUTER'],
  ['REQ', 'ROUTER'],
  ['DEALER', 'REP'],
  ['SUB', 'PUB'],
];

/** Client and server of each mechanism. */
const MECHANISMS: readonly (readonly [() => Security | undefined, () => Security | undefined])[] = [
  [() => undefined, () => undefined],
  [
    () => plain({ role: 'client', username: 'name', password: 'secret' }),
    () => plain({ role: 'server', authorize: (name) => name === 'name' }),
  ],
  [
    () => curve({ ...toySide(), pair: CLIENT, side: { role: 'client', serverKey: SERVER.publicKey } }),
    () => curve({ ...toySide(), pair: SERVER, side: { role: 'server', authorize: (key) => key[0] === 1 } }),
  ],
];

function toySide() {
  return { primitives: toyPrimitives(), allocate: SETTINGS.allocate };
}

/** Both sides of every kind of conversation, undamaged. */
function conversations(): Conversation[] {
  const all: Conversation[] = [];
  for (const [caller, callee] of PAIRS) {
    for (const [client, server] of MECHANISMS) {
      const sides = [() => new Listener(caller, client()), () => new Listener(callee, server())] as const;
      const [one, other] = [sides[0](), sides[1]()];
      const [said, answered] = talk(one.connection, other.connection, caller === 'SUB');
      all.push({ listener: sides[1], bytes: said }, { listener: sides[0], bytes: answered });
    }
  }
  const refused = fromHex(LIBZMQ.greeting, '040a054552524f52036e0a6f');
  return [...all, { listener: () => new Listener('DEALER', undefined), bytes: refused }];
}

/** Lets two connections complete a handshake and send something of every kind; returns what each sent. */
function talk(one: ConnectionEngine, other: ConnectionEngine, subscribes: boolean): [Uint8Array, Uint8Array] {
  const said: [Uint8Array[], Uint8Array[]] = [[], []];
  const frames = (sizes: readonly number[]) => sizes.map((size) => new Uint8Array(size).fill(0x61));
  const say = (from: 0 | 1, messages: readonly (readonly number[])[] = []) => {
    const [speaker, hearer] = from === 0 ? [one, other] : [other, one];
    for (const part of speaker.take(messages.map(frames))) {
      said[from].push(Uint8Array.from(part));
      hearer.receive(Uint8Array.from(part), 0);
    }
  };
  for (let round = 0; round < 4; round++) {
    say(0);
    say(1);
  }
  if (!one.ready || !other.ready) throw new Error('the undisturbed handshake failed');
  if (subscribes) for (const wanted of [true, false, true]) one.subscribe(new Uint8Array([0x61, 0x62]), wanted);
  for (const from of [0, 1] as const) {
    say(from, [[5], [0, 1, 300], [10, 10, 10, 10, 10], [450]]);
    (from === 0 ? one : other).tick(200);
    say(from);
    say(from === 0 ? 1 : 0);
    say(from, [[3]]);
  }
  return [Buffer.concat(said[0]), Buffer.concat(said[1])];
}

/** Feeds this many damaged conversations to connections. Throws at the first violation. */
export function fuzz(cases: number, seed: number): FuzzReport {
  const random = numbers(seed);
  const corpus = conversations();
  const seen = new Map<string, number>();
  let bytes = 0;
  let worstGrowth = 0;
  for (let index = 0; index < cases; index++) {
    const { listener, bytes: original } = corpus[random(corpus.length)]!;
    const input = damage(original, corpus, random);
    const heard = listener();
    feed(heard, input, random);
    bytes += input.length;
    worstGrowth = Math.max(worstGrowth, (heard.allocated - ANNOUNCED_BYTES) / (input.length + 1));
    for (const event of heard.events) seen.set(event, (seen.get(event) ?? 0) + 1);
  }
  return { cases, bytes, seen, worstGrowth };
}

function feed(heard: Listener, input: Uint8Array, random: (below: number) => number): void {
  const { connection } = heard;
  let said = 0;
  const take = () => {
    for (const { length } of connection.take([])) said += length;
  };
  for (let at = 0; at < input.length && heard.failures === 0;) {
    const end = Math.min(input.length, at + 1 + random(random(4) === 0 ? 10 : 1_000));
    heard.accepting = random(8) > 0;
    connection.receive(input.slice(at, end), 0);
    at = end;
    if (connection.holding) {
      heard.accepting = true;
      connection.resume(0);
    }
    if (random(4) === 0) take();
  }
  take();
  // If the damage did not make it fail, it ends at a deadline, or is idle with 3.0.
  for (let deadlines = 0; connection.deadline < Infinity; deadlines++) {
    if (deadlines > 4) throw new Error('the deadlines do not end');
    connection.tick(connection.deadline);
  }
  take();
  heard.assertFrames();
  if (said > SPEECH_BYTES + 2 * input.length) throw new Error(`sent ${said} bytes for ${input.length} received`);
}

/** Up to four faults: changed bytes, flipped bits, cuts, repetitions, random bytes, pieces of other conversations. */
function damage(original: Uint8Array, corpus: readonly Conversation[], random: (below: number) => number): Uint8Array {
  let bytes = Uint8Array.from(original);
  for (let faults = random(5); faults > 0 && bytes.length > 0; faults--) {
    const at = random(bytes.length);
    const end = Math.min(bytes.length, at + random(80));
    switch (random(7)) {
      case 0:
        bytes[at] = random(256);
        break;
      case 1:
        bytes[at] = (bytes[at] as number) ^ (1 << random(8));
        break;
      case 2:
        bytes = join(bytes.subarray(0, at), bytes.subarray(end));
        break;
      case 3:
        bytes = join(bytes.subarray(0, end), bytes.subarray(at));
        break;
      case 4:
        if (random(4) === 0) bytes = bytes.slice(0, at);
        break;
      case 5:
        bytes = join(
          bytes.subarray(0, at),
          Uint8Array.from({ length: random(40) }, () => random(256)),
          bytes.subarray(at),
        );
        break;
      default: {
        const other = corpus[random(corpus.length)]!.bytes;
        const from = random(other.length);
        bytes = join(bytes.subarray(0, at), other.subarray(from, from + random(200)), bytes.subarray(at));
      }
    }
  }
  return bytes;
}

function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.concat(parts));
}

/** Integers below a bound, the same for the same seed: mulberry32. */
function numbers(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((((mixed ^ (mixed >>> 14)) >>> 0) * below) / 2 ** 32) | 0;
  };
}
