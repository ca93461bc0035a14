/** NFP broker: what its ROUTERs have received and sent, for `show_broker`. */
import { totalBytes } from '@proj/frames';

/** Running totals; bytes of all frames except the routing id. */
export interface NfpTraffic {
  readonly messagesIn: number;
  readonly bytesIn: number;
  readonly messagesOut: number;
  readonly bytesOut: number;
}

/** Counts messages as they pass. */
export class Traffic implements NfpTraffic {
  messagesIn = 0;
  bytesIn = 0;
  messagesOut = 0;
  bytesOut = 0;

  received(frames: readonly Uint8Array[]): void {
    this.messagesIn++;
    this.bytesIn += totalBytes(frames);
  }

  sent(frames: readonly Uint8Array[]): void {
    this.messagesOut++;
    this.bytesOut += totalBytes(frames);
  }
}
