/** Sockets of ours and of libzmq in another process, and the keys of both. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { peerGroup } from '@proj/testkit';
import type { PeerProcess } from '@proj/testkit';
import type { CurveKeys, CurveOptions, Peer, PortListener, PortOptions, SocketPort } from '@proj/transport';
import { ZmtpTransport } from '@proj/zmtp';
import { afterEach, beforeAll } from 'vitest';
import { fromHex, toHex } from '../test-peers.js';
import type { Flags } from '../test-peers.js';
import { pythonPeer } from '../python.js';

export const TCP = 'tcp://127.0.0.1:*';

/** Frames, and how long ones are printed. */
export type Told = readonly string[] | { readonly sizes: readonly number[]; readonly digest: string };

function newKeys(): CurveKeys {
  const { d = '', x = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return { publicKey: Buffer.from(x, 'base64url'), secretKey: Buffer.from(d, 'base64url') };
}

const SERVER = newKeys();
const CLIENT = newKeys();
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Both sides of a mechanism: our options, their flags. */
export interface Sides {
  readonly name: 'NULL' | 'CURVE';
  readonly ours: Readonly<Record<'server' | 'client', PortOptions>>;
  readonly theirs: Readonly<Record<'server' | 'client', Flags>>;
}

const curve = (options: CurveOptions): PortOptions => ({ curve: options });
const flags = ({ publicKey, secretKey }: CurveKeys): Flags => ({
  'public-key': hex(publicKey),
  'secret-key': hex(secretKey),
});

export const MECHANISMS: readonly Sides[] = [
  { name: 'NULL', ours: { server: {}, client: {} }, theirs: { server: {}, client: {} } },
  {
    name: 'CURVE',
    ours: {
      server: curve({ role: 'server', keys: SERVER }),
      client: curve({ role: 'client', keys: CLIENT, serverKey: SERVER.publicKey }),
    },
    theirs: {
      server: flags(SERVER),
      client: { ...flags(CLIENT), 'server-key': hex(SERVER.publicKey) },
    },
  },
];

/** What the Python peer sends when asked for sizes. */
export function pattern(sizes: readonly number[]): Buffer[] {
  const round = Buffer.from(Array.from({ length: 256 }, (_, at) => (at * 31) % 256));
  return sizes.map((size) => Buffer.alloc(size, round));
}

/** A message as the Python peer prints it. */
export function told(frames: readonly Uint8Array[]): Told {
  const bytes = frames.reduce((sum, { length }) => sum + length, 0);
  if (bytes + frames.length < 1000) return frames.map((frame) => Buffer.from(frame).toString('latin1'));
  const digest = createHash('sha256');
  for (const frame of frames) digest.update(frame);
  return { sizes: frames.map(({ length }) => length), digest: digest.digest('hex') };
}

/** A socket of libzmq. */
export class Theirs {
  readonly process: PeerProcess;
  #heard = 0;

  constructor(process: PeerProcess) {
    this.process = process;
  }

  async endpoint(): Promise<string> {
    return (await this.process.line('listening'))['endpoint'] as string;
  }

  send(...frames: readonly string[]): void {
    this.process.tell({ do: 'send', frames: toHex(frames.map((frame) => Buffer.from(frame, 'latin1'))) });
  }

  /** The next message that it received. */
  async heard(): Promise<Told> {
    const line = await this.process.line('heard', {}, ++this.#heard);
    if (line['frames'] === undefined) return { sizes: line['sizes'] as number[], digest: line['digest'] as string };
    return fromHex(line['frames']).map((frame) => frame.toString('latin1'));
  }
}

/** One of our router or dealer sockets, and what it received. */
export class Ours implements PortListener {
  readonly port: SocketPort;
  readonly messages: { readonly peer: Peer; readonly frames: Uint8Array[] }[] = [];
  echo = false;
  #wake: () => void = () => undefined;
  #read = 0;

  constructor(port: SocketPort) {
    this.port = port;
    port.start(this);
  }

  /** The next message. */
  async heard(): Promise<{ readonly peer: Peer; readonly frames: Uint8Array[] }> {
    const nth = this.#read++;
    while (this.messages.length <= nth) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.messages[nth]!;
  }

  onMessage(peer: Peer, frames: Uint8Array[]): void {
    this.messages.push({ peer, frames });
    if (this.echo) this.port.send(peer, frames);
    this.#wake();
  }

  onPeerGone(): void {}
  onUndeliverable(): void {}
  onRejected(): void {}

  onBroken(error: Error): void {
    throw error;
  }
}

/** Starts sockets that end with their test. */
export function stage() {
  const { launch } = peerGroup();
  const transport = new ZmtpTransport();
  beforeAll(() => transport.load());
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((port) => port.close()));
  });
  return {
    transport,
    keep<Port extends { close(): Promise<void> }>(port: Port): Port {
      open.push(port);
      return port;
    },
    theirs: (type: string, options: Flags) => new Theirs(launch(pythonPeer('zmtp', 'socket', { type, ...options }))),
    old: (type: string, options: Flags) => new Theirs(launch(pythonPeer('zmtp', 'raw30', { type, ...options }))),
  };
}
