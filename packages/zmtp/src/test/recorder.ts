/** A connection that records its calls, and bytes that peers send. */
import { ConnectionEngine } from '../engine/engine.js';
import type { ConnectionSettings, ConnectionSink } from '../engine/events.js';
import { encodeMessages } from '../engine/framing/writer.js';

/** Small limits, no heartbeats. */
export const SETTINGS: ConnectionSettings = {
  socketType: 'ROUTER',
  maxMessageFrames: 4,
  maxMessageBytes: 100,
  maxFrameBytes: 150,
  handshakeMs: 1_000,
  heartbeatMs: 0,
  timeoutMs: 600,
  allocate: (bytes) => new Uint8Array(bytes),
};

/** What libzmq 4.3.5 sends as a DEALER with the routing id `worker-7`, captured. */
export const LIBZMQ = {
  greeting: `ff00000000000000097f03014e554c4c${'00'.repeat(48)}`,
  ready: '04310552454144590b536f636b65742d54797065000000064445414c4552084964656e7469747900000008776f726b65722d37',
  /** `hello`, an empty frame, and 300 times `x`. */
  message: `010568656c6c6f010002000000000000012c${'78'.repeat(300)}`,
  /** Time-to-live 2.5 s. */
  ping: '04070450494e470019',
} as const;

/** Bytes written as hex digits. */
export function fromHex(...hex: readonly string[]): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.join(''), 'hex'));
}

/** The bytes as hex digits. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** A message on the wire, with one frame per text. */
export function wire(...texts: readonly string[]): string {
  const parts = encodeMessages([texts.map((text) => Buffer.from(text, 'latin1'))], SETTINGS.allocate);
  return parts.map(toHex).join('');
}

/** A connection and its log: `ready <identity>`, `message a|b`, `rejected <reason>`, `failed <code>`. */
export class EngineRecorder implements ConnectionSink {
  readonly story: string[] = [];
  readonly frames: Uint8Array[][] = [];
  readonly connection: ConnectionEngine;
  failure: string | undefined;
  publicKey: Uint8Array | undefined;
  accepting = true;
  obeying = true;
  /** The total work of commands. */
  work = 0;
  pauseOnMessage = false;
  outputs = 0;

  constructor(settings: Partial<ConnectionSettings> = {}) {
    this.connection = new ConnectionEngine({ ...SETTINGS, ...settings }, this, 0);
  }

  /** After the handshake with a libzmq-like peer, with its output taken. */
  static met(settings: Partial<ConnectionSettings> = {}, greeting: string = LIBZMQ.greeting): EngineRecorder {
    const recorder = new EngineRecorder(settings);
    recorder.receive(greeting, LIBZMQ.ready);
    recorder.connection.takeOutput();
    recorder.story.length = 0;
    return recorder;
  }

  receive(...hex: readonly string[]): this {
    this.connection.receive(fromHex(...hex), 0);
    return this;
  }

  /** The output to send now, as hex digits. */
  output(): string {
    return this.connection.takeOutput().map(toHex).join('');
  }

  onReady(identity: Uint8Array, publicKey?: Uint8Array): void {
    this.publicKey = publicKey;
    this.story.push(`ready ${Buffer.from(identity).toString('latin1')}`);
  }

  onMessage(frames: Uint8Array[]): void {
    this.frames.push(frames);
    this.story.push(`message ${frames.map((frame) => Buffer.from(frame).toString('latin1')).join('|')}`);
    if (this.pauseOnMessage) this.accepting = false;
  }

  onSubscription(prefix: Uint8Array, wanted: boolean): void {
    this.story.push(`${wanted ? 'subscribe' : 'cancel'} ${Buffer.from(prefix).toString('latin1')}`);
  }

  onObeyed(work: number): void {
    this.work += work;
  }

  onHeld(): void {
    this.story.push('held');
  }

  onRejected(reason: string): void {
    this.story.push(`rejected ${reason}`);
  }

  onOutput(): void {
    this.outputs++;
  }

  onFailure({ code, text }: { code: string; text: string }): void {
    this.failure = text;
    this.story.push(`failed ${code}`);
  }
}
