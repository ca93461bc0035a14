/**
 * "PZQ Sockets & Formats" as the original speaks it: every byte that is fixed, written down once. One word per frame, the
 * router's identity frame left out. P producer, Q queue, C consumer, M monitoring program:
 *
 *     P>Q produce   = id *header empty body
 *     Q>P stored    = id "1" empty                      ; another queue may put frames in front of the empty one
 *     Q>P refused   = id "0" empty reason
 *     Q>C delivery  = key micros micros empty body      ; sent, acknowledgement timeout; headers may stand before the empty one
 *     C>Q ack       = key status                        ; "1" deletes, anything else gives back; what follows is ignored
 *     C>Q extension = key                               ; ignored by the original
 *     M>Q request   = empty "MONITOR"                   ; a REQ socket writes the empty frame by itself
 *     Q>M reply     = empty 1*( name ": " value LF )
 *
 *     id     = *OCTET                                   ; may be empty
 *     header = 1*OCTET
 *     body   = 1*( *OCTET )                             ; one or more frames, empty ones included
 *     key    = 16DIGIT "|" uuid                         ; ours; of another queue: 1*OCTET
 *     micros = 1*16DIGIT                                ; microseconds
 *     empty  = 0OCTET
 */
import { fromLatin1 } from '../bytes.js';
import type { PzqUnusableReason } from './commands.js';

/** The only positive status. */
export const YES = 0x31;

/** Status frames, shared by all messages: do not modify them. */
export const STATUS_FRAME = { yes: Uint8Array.of(YES), no: fromLatin1('0') } as const;

/** The word that the monitor socket answers, shared: do not modify it. */
export const MONITOR_FRAME = fromLatin1('MONITOR');

/** Most digits of a time. */
export const TIME_DIGITS = 16;

/** Length of a key: time, `|`, uuid. */
export const KEY_BYTES = TIME_DIGITS + 1 + 36;

/** Longest part of a reason that is kept, in characters. */
export const REASON_MAX = 1024;

/** The original's answers to messages that cannot be stored. */
export const PZQ_UNUSABLE: Readonly<Record<PzqUnusableReason, string>> = {
  'no-delimiter': 'Malformed message, no delimiter found or missing message parts',
  'no-body': 'Trying to save empty message',
};

/** Names of the header frames with our own meaning. */
export const HEADER = { delay: 'PZQ-DELAY-MS', ttl: 'PZQ-TTL-MS' } as const;
