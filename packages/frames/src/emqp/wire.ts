/**
 * eMQP/1.0: every byte the protocol fixes, written down once, as EventMQ 0.3.13 has it. Each line of the grammar is one
 * ZeroMQ frame per word, the router's identity frame left out:
 *
 *     W>B inform     = opening "INFORM" id queues "worker"
 *     S>B inform     = opening "INFORM" id empty "scheduler"
 *     B>  ack        = opening "ACK" id id
 *     W>B ready      = opening "READY" id
 *     W=B heartbeat  = opening "HEARTBEAT" id time               ; S=B too
 *     C>B request    = opening "REQUEST" id queue headers body   ; B>W and S>B too
 *     B>C accepted   = opening "REPLY" id id                     ; B>S too
 *     W>B result     = opening "REPLY" id result id              ; B>C and B>S too
 *     C>B schedule   = opening "SCHEDULE" id queue headers interval body cron     ; B>S too
 *     C>B unschedule = opening "UNSCHEDULE" id queue headers interval body cron   ; B>S too
 *     P>D publish    = opening "PUBLISH" id topic body
 *     D>  published  = topic body
 *         disconnect = opening "DISCONNECT" id                   ; to anybody
 *         bye        = opening ( "KBYE" / "KBAI" ) id            ; from anybody
 *     A>B admin      = opening ( "STATUS" / "ROUTER_SHOW_WORKERS" / "ROUTER_SHOW_SCHEDULERS" / "HELLO" ) id
 *     B>A answer     = opening "REPLY" id json
 *
 *     opening = empty version
 *     empty   = 0OCTET
 *     version = "eMQP/1.0"                     ; read: "eMQP/1." *OCTET
 *     id      = 1*255OCTET
 *     queue   = 1*255OCTET                     ; UTF-8
 *     headers = 0*4096OCTET
 *     topic   = 1*4096OCTET
 *     interval = 0*64OCTET
 *     cron    = 0*255OCTET
 *
 * Also understood: commands in lower case; more frames behind INFORM, READY, HEARTBEAT, DISCONNECT and the byes, which
 * are ignored; a trailing empty frame behind an admin's command; SCHEDULE and UNSCHEDULE of seven frames (queue, headers,
 * body) with the interval among the headers; PUBLISH of seven frames with headers, which are ignored, before the body;
 * a worker's REPLY without the second id.
 */
import { fromLatin1, latin1 } from '../bytes.js';
import { writeLatin1 } from '../slab.js';

/** The version every message of ours carries. Shared, never written to. */
export const VERSION_FRAME = fromLatin1('eMQP/1.0');

/** Every command on the wire. */
const WORDS = [
  'INFORM',
  'ACK',
  'READY',
  'HEARTBEAT',
  'REQUEST',
  'REPLY',
  'SCHEDULE',
  'UNSCHEDULE',
  'PUBLISH',
  'DISCONNECT',
  'KBYE',
  'KBAI',
  'STATUS',
  'ROUTER_SHOW_WORKERS',
  'ROUTER_SHOW_SCHEDULERS',
  'HELLO',
] as const;

/** A command's form on the wire. */
export type Word = (typeof WORDS)[number];

/** Command frames, shared by all messages: do not modify them. */
export const COMMAND_FRAME = Object.fromEntries(WORDS.map((word) => [word, fromLatin1(word)])) as Readonly<
  Record<Word, Uint8Array>
>;

const BY_TEXT: ReadonlyMap<string, Word> = new Map(
  WORDS.flatMap((word) => [
    [word, word],
    [word.toLowerCase(), word],
  ]),
);

const LONGEST_WORD = Math.max(...WORDS.map((word) => word.length));

const VERSION_PREFIX = fromLatin1('eMQP/1.');

const ID_MAX_BYTES = 255;

/** Longest headers, in bytes. */
export const HEADERS_MAX_BYTES = 4096;

/** Longest topic of a PUBLISH, in bytes. */
export const TOPIC_MAX_BYTES = 4096;

/** Longest interval of a SCHEDULE, in bytes: digits, in any notation. */
export const INTERVAL_MAX_BYTES = 64;

/** Longest cron expression, in bytes. */
export const CRON_MAX_BYTES = 255;

/** True for the frame of any minor version of eMQP/1. */
export function isVersion(frame: Uint8Array): boolean {
  for (let i = 0; i < VERSION_PREFIX.length; i++) if (frame[i] !== VERSION_PREFIX[i]) return false;
  return true;
}

/** The command in a frame, in upper or lower case; `undefined` for any other bytes. */
export function readWord(frame: Uint8Array): Word | undefined {
  return frame.length > LONGEST_WORD ? undefined : BY_TEXT.get(latin1(frame));
}

/** The message id in a frame, or `undefined` if it is not valid. */
export function readId(frame: Uint8Array): string | undefined {
  return frame.length === 0 || frame.length > ID_MAX_BYTES ? undefined : latin1(frame);
}

/** The frame of a message id. Throws a `RangeError` if it is empty, too long, or has characters above U+00FF. */
export function writeId(id: string): Uint8Array {
  if (id.length === 0 || id.length > ID_MAX_BYTES) {
    throw new RangeError(`message id of ${id.length} bytes: must be 1 to ${ID_MAX_BYTES}`);
  }
  return writeLatin1(id);
}
