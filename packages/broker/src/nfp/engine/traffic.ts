/** NFP broker: what has come and gone at its ROUTERs, as `show_broker` tells it. */
import { totalBytes } from '@proj/frames';

/** Running totals; bytes are those of all frames of a message, its routing id excepted. */
export interface NfpTraffic {
  readonly messagesIn: number;
  readonly bytesIn: number;
  readonly messagesOut: number;
  readonly bytesOut: number;
}

/** Counts them. */
export class Traffic implements NfpTraffic {
  messagesIn = 0;
  bytesIn = 0;
  messagesOut = 0;
  bytesOut = 0;

  /** A message was read. */
  received(frames: readonly Uint8Array[]): void {
    this.messagesIn++;
    this.bytesIn += totalBytes(frames);
  }

  /** A message was handed to the socket. */
  sent(frames: readonly Uint8Array[]): void {
    this.messagesOut++;
    this.bytesOut += totalBytes(frames);
  }
}
