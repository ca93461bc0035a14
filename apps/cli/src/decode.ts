/** `proj decode`: what a message says, by every protocol this project speaks. */
import { defineCommand } from '@proj/appkit';
import { decodeMdpAtBroker, decodeMdpAtClient, decodeMdpAtWorker } from '@proj/frames/mdp';
import { decodePppAtClient, decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker } from '@proj/frames/ppp';
import { ProjError } from '@proj/client';
import * as z from 'zod';
import { EMQP_READERS } from './protocols/emqp.js';
import { NFP_READERS } from './protocols/nfp.js';
import { PZQ_READERS } from './protocols/pzq.js';
import { frameForJson } from './render.js';

interface Reading {
  readonly protocol: string;
  readonly receiver: string;
  readonly command: { readonly kind: string };
}

const READERS = [
  { protocol: 'mdp', receiver: 'broker', decode: decodeMdpAtBroker },
  { protocol: 'mdp', receiver: 'worker', decode: decodeMdpAtWorker },
  { protocol: 'mdp', receiver: 'client', decode: decodeMdpAtClient },
  { protocol: 'ppp', receiver: 'queue from a worker', decode: decodePppAtQueue },
  { protocol: 'ppp', receiver: 'worker', decode: decodePppAtWorker },
  { protocol: 'ppp', receiver: 'queue from a client', decode: decodePppAtFrontend },
  { protocol: 'ppp', receiver: 'client', decode: decodePppAtClient },
  ...PZQ_READERS,
  ...EMQP_READERS,
  ...NFP_READERS,
] as const;

/** Prints each reading of a message given as hex, one line of JSON per protocol and receiver that understands it. */
export const decode = defineCommand({
  name: 'decode',
  summary: 'Say what a message means: one hex word per frame, without the routing id.',
  options: z.strictObject({}),
  operands: [{ syntax: '<frame...>', help: "a frame in hex; '' is the empty frame" }],
  examples: [
    { what: 'a worker of service echo signs on', line: '4d4450573032 01 6563686f' },
    { what: 'a Paranoid Pirate heartbeat', line: '02' },
    { what: 'a NORFAB worker of service echo signs on', line: "'' 4e4650573031 30783031 6563686f" },
    { what: 'an EventMQ worker has a free slot', line: "'' 654d51502f312e30 5245414459 75756964" },
    { what: 'a Majordomo 0.1 heartbeat, which begins with an empty frame', line: "'' 4d4450573031 04" },
  ],
  run({ operands, print }) {
    const readings = readAll(operands.map(frameOf));
    for (const { protocol, receiver, command } of readings)
      print(JSON.stringify({ protocol, receiver, ...command }, (_, value: unknown) => plain(value)));
    return Promise.resolve(0);
  },
});

function readAll(frames: readonly Uint8Array[]): Reading[] {
  const all = READERS.map(({ protocol, receiver, decode }) => ({ protocol, receiver, command: decode(frames) }));
  const understood = all.filter(({ command }) => command.kind !== 'malformed');
  if (understood.length > 0) return understood;
  const reasons = all.map(({ protocol, receiver, command }) => `${protocol} at ${receiver}: ${reasonOf(command)}`);
  throw new ProjError('PROTOCOL_REMOTE', `no protocol has this message (${reasons.join(', ')})`);
}

function reasonOf(command: { readonly kind: string; readonly reason?: string }): string {
  return command.reason ?? command.kind;
}

function frameOf(word: string): Uint8Array {
  const digits = word.replace(/^0x/, '');
  if (/^([0-9a-f]{2})*$/i.test(digits)) return Uint8Array.from(Buffer.from(digits, 'hex'));
  throw new ProjError('OPTIONS_INVALID', `frame "${word}": must be hex, two digits per byte`);
}

function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? frameForJson(value) : value;
}
