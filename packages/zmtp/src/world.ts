/** What all sockets of a transport share. */
import type { BackoffOptions, Clock } from '@proj/heartbeat';
import type { Entropy, MemoryBudget } from '@proj/transport';
import type { Reuse } from './engine/framing/bytes.js';
import type { Failure } from './engine/failure.js';
import type { PlainOptions } from './engine/mechanisms/plain.js';
import type { Dialer } from './lanes/dialer.js';
import type { Limits } from './limits.js';
import type { Turns } from './turn.js';
import type { Watch } from './watch.js';

/** The limits are the options of the same names. */
export interface World extends Limits {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly watch: Watch;
  readonly turns: Turns;
  readonly dialer: Dialer;
  /** Whether connecting peers may use lanes. */
  readonly lanes: boolean;
  readonly backoff: BackoffOptions;
  readonly handshakeMs: number;
  /** Where long bodies go. */
  readonly reuse: Reuse | undefined;
  /** The budget of the process. */
  readonly memory?: MemoryBudget | undefined;
  /** For sockets without CURVE. */
  readonly plain?: PlainOptions | undefined;
  /** Called for each connection that failed, with the local endpoint. */
  onFailure(endpoint: string, failure: Failure): void;
}
