/**
 * 18/MDP "MDP/Client" and "MDP/Worker", 7/MDP and 8/MMI: every byte the protocol fixes, written down once. Each line of
 * the grammar is one ZeroMQ frame per word, the router's identity frame left out:
 *
 *     ; 0.2                                             ; 0.1
 *     C>B request    = "MDPC02" %x01 service body       = empty "MDPC01" service body
 *     B>C partial    = "MDPC02" %x02 service body       ; none
 *     B>C final      = "MDPC02" %x03 service body       = empty "MDPC01" service body
 *     W>B ready      = "MDPW02" %x01 service            = empty "MDPW01" %x01 service
 *     B>W request    = "MDPW02" %x02 address empty body = empty "MDPW01" %x02 address empty body
 *     W>B partial    = "MDPW02" %x03 address empty body ; none
 *     W>B final      = "MDPW02" %x04 address empty body = empty "MDPW01" %x03 address empty body
 *     W=B heartbeat  = "MDPW02" %x05                    = empty "MDPW01" %x04
 *     W=B disconnect = "MDPW02" %x06                    = empty "MDPW01" %x05
 *
 *     empty   = 0OCTET
 *     service = 1*255(%x20-7E)
 *     address = 1*OCTET                                 ; exactly one frame
 *     body    = 1*( *OCTET )                            ; one or more frames, empty ones included
 */
import { fromLatin1 } from '../bytes.js';
import type { MdpVersion } from './commands.js';

/** The meaning of a message's header frame. */
export interface Header {
  readonly side: 'client' | 'worker';
  readonly version: MdpVersion;
}

/** Command numbers of the client half. 0.1 has no command frame there. */
export const CLIENT_CODE = { request: 0x01, partial: 0x02, final: 0x03 } as const;

/** Command numbers of the worker half. 0.1 has no PARTIAL, and later numbers are one lower. */
export const WORKER_CODE = {
  '0.2': { ready: 0x01, request: 0x02, partial: 0x03, final: 0x04, heartbeat: 0x05, disconnect: 0x06 },
  '0.1': { ready: 0x01, request: 0x02, partial: undefined, final: 0x03, heartbeat: 0x04, disconnect: 0x05 },
} as const;

/** Header frames, shared by all messages: do not modify them. */
export const HEADER_FRAME = {
  client: { '0.2': fromLatin1('MDPC02'), '0.1': fromLatin1('MDPC01') },
  worker: { '0.2': fromLatin1('MDPW02'), '0.1': fromLatin1('MDPW01') },
} as const;

/** Command frames by number, shared by all messages: do not modify them. Number 0 is not a command. */
export const COMMAND_FRAME = [0, 1, 2, 3, 4, 5, 6].map((code) => Uint8Array.of(code)) as readonly Uint8Array[];

const CLIENT_02: Header = { side: 'client', version: '0.2' };
const CLIENT_01: Header = { side: 'client', version: '0.1' };
const WORKER_02: Header = { side: 'worker', version: '0.2' };
const WORKER_01: Header = { side: 'worker', version: '0.1' };

/** The header in a frame: `"MDP" ("C" / "W") ("01" / "02")`; `undefined` for any other bytes. */
export function readHeader(frame: Uint8Array): Header | undefined {
  if (frame.length !== 6 || frame[0] !== 0x4d || frame[1] !== 0x44 || frame[2] !== 0x50 || frame[4] !== 0x30) {
    return undefined;
  }
  const version = frame[5];
  if (version !== 0x31 && version !== 0x32) return undefined;
  if (frame[3] === 0x43) return version === 0x32 ? CLIENT_02 : CLIENT_01;
  if (frame[3] === 0x57) return version === 0x32 ? WORKER_02 : WORKER_01;
  return undefined;
}
