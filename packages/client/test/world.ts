/** Where clients and what they talk to live in tests: a network in memory with a clock that is moved. No protocol. */
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import type { VirtualTransport } from '@proj/transport/virtual';

/** Where the first server listens. */
export const A = 'tcp://a:5555';
/** Where the second one would. */
export const B = 'tcp://b:5555';

/** Everything runs in `network.clock`; nothing happens without {@link ClientWorld.settle} or {@link ClientWorld.advance}. */
export class ClientWorld {
  readonly network = new VirtualNetwork();
  /** The clients' transport. */
  readonly transport: VirtualTransport = this.network.transport('client');

  settle<Value>(promise: Promise<Value>): Promise<Value> {
    return settle(this.network.clock, promise);
  }

  advance(ms: number): Promise<void> {
    return advance(this.network.clock, ms);
  }
}

/** The frames of a reply as text. */
export const text = (frames: readonly Buffer[]): string => frames.map((frame) => frame.toString()).join('|');
