/**
 * NFP as specified (sections OPEN to EVENT) and as the releases 0.12.7 to 0.20.6 really speak it: every byte the protocol
 * fixes, written down once. Each line of the grammar is one ZeroMQ frame per word, the router's identity frame left out; all
 * begin with an empty frame and a header.
 *
 *     C>B, W>B open       = empty H 00 body
 *     W>B ready           = empty W 01 service
 *     W>B keepalive       = empty W 02 service
 *     W>B disconnect      = empty W 03 service [body]
 *     C>B call            = empty C (04 / 06 / 07 / 10 / 11) service target uuid body
 *     W>B answer          = empty W (05 / 08 / 09 / 11) client empty uuid status body   ; as the releases do
 *                         / empty W (05 / 08 / 09 / 11) service uuid status body        ; as the tables say
 *     B>C, B>W open       = empty B 00 body
 *     B>W keepalive       = empty B 02 service
 *     B>W disconnect      = empty B 03 service [body]
 *                         / empty B service 03                                          ; as the releases do: read, never written
 *     B>W call            = empty B (04 / 06 / 07 / 10 / 11) client empty uuid body     ; as the releases do
 *                         / empty B (04 / 06 / 07 / 10 / 11) service target uuid body   ; as the tables say
 *     B>C answer          = empty B (05 / 08 / 09 / 11) service uuid status body
 *
 *     C = "NFPC01"   W = "NFPW01"   B = "NFPB01", in dialect legacy the receiver's, but for 00 and 02
 *     00 to 09, 10, 11 = one byte of that hexadecimal value, or four characters: "0x00" to "0x09", "0x10", "0x11"
 *     empty   = 0OCTET
 *     service = uuid = 1*255OCTET                ; printable UTF-8
 *     target  = *65536OCTET                      ; UTF-8, not empty in a table of a call to a worker
 *     client  = 1*OCTET                          ; exactly one frame
 *     status  = 3DIGIT [%x20 *251OCTET]
 *     body    = 1*( *OCTET )                     ; one or more frames, empty ones included
 *
 * Between worker and broker the frame behind the next one tells the two shapes apart: empty, and the one before it is a client.
 */
import { fromLatin1, latin1 } from '../bytes.js';
import type { NfpCommandForm, NfpHeader } from './commands.js';

/** Every command by its name. */
export type CommandName = keyof typeof CODE;

/** The meaning of a command frame. */
export interface Command {
  readonly name: CommandName;
  readonly form: NfpCommandForm;
}

const CODE = {
  open: 0x00,
  ready: 0x01,
  keepalive: 0x02,
  disconnect: 0x03,
  post: 0x04,
  response: 0x05,
  get: 0x06,
  delete: 0x07,
  event: 0x08,
  stream: 0x09,
  put: 0x10,
  mmi: 0x11,
} as const;

const NAMES = Object.keys(CODE) as CommandName[];

/** Command frames, shared by all messages: do not modify them. */
export const COMMAND_FRAME: Readonly<Record<NfpCommandForm, Readonly<Record<CommandName, Uint8Array>>>> = {
  ascii: framesByName((code) => fromLatin1(`0x${code.toString(16).padStart(2, '0')}`)),
  byte: framesByName((code) => Uint8Array.of(code)),
};

/** Header frames, shared by all messages: do not modify them. */
export const HEADER_FRAME: Readonly<Record<NfpHeader, Uint8Array>> = {
  NFPB01: fromLatin1('NFPB01'),
  NFPC01: fromLatin1('NFPC01'),
  NFPW01: fromLatin1('NFPW01'),
};

const BY_CODE = { ascii: commandsByCode('ascii'), byte: commandsByCode('byte') };

/** The command in a frame, in either form; `undefined` for any other bytes. */
export function readCommand(frame: Uint8Array | undefined): Command | undefined {
  if (frame?.length === 1) return BY_CODE.byte[frame[0] as number];
  if (frame?.length !== 4 || frame[0] !== 0x30 || frame[1] !== 0x78) return undefined;
  const high = (frame[2] as number) - 0x30;
  const low = (frame[3] as number) - 0x30;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? BY_CODE.ascii[high * 16 + low] : undefined;
}

/** The header in a frame: `"NFP" ("B" / "C" / "W") "01"`; `undefined` for any other bytes. */
export function readHeader(frame: Uint8Array | undefined): NfpHeader | undefined {
  if (frame?.length !== 6 || frame[0] !== 0x4e || frame[1] !== 0x46 || frame[2] !== 0x50) return undefined;
  if (frame[4] !== 0x30 || frame[5] !== 0x31) return undefined;
  if (frame[3] === 0x42) return 'NFPB01';
  if (frame[3] === 0x43) return 'NFPC01';
  return frame[3] === 0x57 ? 'NFPW01' : undefined;
}

/** Longest status frame, in bytes. */
const STATUS_MAX_BYTES = 255;

/** The number and the text of a status frame; `undefined` for any other bytes. */
export function readStatus(frame: Uint8Array): { status: number; statusText?: string } | undefined {
  if (frame.length < 3 || frame.length > STATUS_MAX_BYTES) return undefined;
  let status = 0;
  for (let i = 0; i < 3; i++) {
    const digit = (frame[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    status = status * 10 + digit;
  }
  if (frame.length === 3) return { status };
  return frame[3] === 0x20 ? { status, statusText: latin1(frame.subarray(4)) } : undefined;
}

const STATUS_FRAME = Array.from({ length: 1000 }, (_, status) => fromLatin1(status.toString().padStart(3, '0')));

/** Inverse of {@link readStatus}. Throws a `RangeError` for a number without three digits, and for a text that is too long. */
export function writeStatus(status: number, text: string | undefined): Uint8Array {
  const digits = STATUS_FRAME[status];
  if (digits === undefined) throw new RangeError(`status ${status}: must be 0 to 999`);
  if (text === undefined) return digits;
  if (text.length > STATUS_MAX_BYTES - 4)
    throw new RangeError(`status text of ${text.length} bytes: the limit is ${STATUS_MAX_BYTES - 4}`);
  return Uint8Array.of(...digits, 0x20, ...fromLatin1(text));
}

function framesByName(write: (code: number) => Uint8Array): Record<CommandName, Uint8Array> {
  return Object.fromEntries(NAMES.map((name) => [name, write(CODE[name])])) as Record<CommandName, Uint8Array>;
}

function commandsByCode(form: NfpCommandForm): readonly (Command | undefined)[] {
  const commands = new Array<Command | undefined>(0x12).fill(undefined);
  for (const name of NAMES) commands[CODE[name]] = { name, form };
  return commands;
}
