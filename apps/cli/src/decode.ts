/** `proj decode`: what a message means in every protocol of this project. */
import { defineCommand, readings } from '@proj/appkit';
import { ProjError } from '@proj/client';
import * as z from 'zod';
import { frameForJson } from './render.js';

/** Prints each reading of a message given in hex, one line of JSON per protocol and receiver that understands it. */
export const decode = defineCommand({
  name: 'decode',
  summary: 'Explain a message: one hex word per frame, without the routing id.',
  options: z.strictObject({}),
  operands: [{ syntax: '<frame...>', help: "a frame in hex; '' is the empty frame" }],
  examples: [
    { what: 'a worker of service echo registers', line: '4d4450573032 01 6563686f' },
    { what: 'a Paranoid Pirate heartbeat', line: '02' },
    { what: 'a NORFAB worker of service echo registers', line: "'' 4e4650573031 30783031 6563686f" },
    { what: 'an EventMQ worker has a free slot', line: "'' 654d51502f312e30 5245414459 75756964" },
    { what: 'a Majordomo 0.1 heartbeat, which begins with an empty frame', line: "'' 4d4450573031 04" },
  ],
  run({ operands, print }) {
    for (const { protocol, receiver, command } of understood(operands.map(frameOf)))
      print(JSON.stringify({ protocol, receiver, ...command }, (_, value: unknown) => plain(value)));
    return Promise.resolve(0);
  },
});

function understood(frames: readonly Uint8Array[]): ReturnType<typeof readings> {
  const all = readings(frames);
  const found = all.filter(({ command }) => command.kind !== 'malformed');
  if (found.length > 0) return found;
  const reasons = all.map(
    ({ protocol, receiver, command }) => `${protocol} at ${receiver}: ${String(command['reason'])}`,
  );
  throw new ProjError('PROTOCOL_REMOTE', `no protocol has this message (${reasons.join(', ')})`);
}

function frameOf(word: string): Uint8Array {
  const digits = word.replace(/^0x/, '');
  if (/^([0-9a-f]{2})*$/i.test(digits)) return Uint8Array.from(Buffer.from(digits, 'hex'));
  throw new ProjError('OPTIONS_INVALID', `frame "${word}": must be hex, two digits per byte`);
}

function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? frameForJson(value) : value;
}
