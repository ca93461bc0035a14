/** A DEALER: each message goes to the next connection or endpoint with room, in turn; it receives from all of them. */
import type { Timer } from '@proj/heartbeat';
import type { SendOutcome } from '../outbox.js';
import { ROUTER_PEER } from '../port.js';
import type { Peer } from '../port.js';
import type { ConnectionEnd, MessageTarget } from './connection.js';
import type { VirtualConnector } from './connector.js';
import { VirtualPort } from './port.js';
import type { Farewell } from './hub.js';

/** A message that waits for room. */
interface Attempt {
  readonly frames: readonly Uint8Array[];
  readonly timer: Timer;
}

/** Usually connects to one endpoint. If bound, it distributes messages among the peers that connect. */
export class VirtualDealer extends VirtualPort {
  readonly socket = 'dealer';
  /** Those that may have room, in the order of their turns. */
  readonly #turns = new Set<MessageTarget>();
  #attempt: Attempt | undefined;

  override connect(endpoint: string): void {
    super.connect(endpoint);
    const connector = this.connectors.at(-1);
    if (connector !== undefined) this.#turns.add(connector);
  }

  onConnected(connector: VirtualConnector): void {
    this.#refresh(connector, connector.flush());
  }

  onRoom(end: ConnectionEnd): void {
    const connector = this.connectorOf(end);
    this.#refresh(connector ?? end, connector?.flush() ?? true);
  }

  protected onAccepted(end: ConnectionEnd): void {
    this.#refresh(end, true);
  }

  protected onLost(end: ConnectionEnd, connector: VirtualConnector | undefined): void {
    this.#turns.delete(end);
    // As in libzmq: a bound socket is not notified.
    if (connector !== undefined) this.reportGone(ROUTER_PEER);
  }

  protected peerOf(end: ConnectionEnd): Peer {
    return end.identified(ROUTER_PEER);
  }

  protected transmit(_peer: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined {
    if (this.#deal(frames)) return 'sent';
    const { sendWaitMs } = this.options;
    if (sendWaitMs === 0) return 'congested';
    const { clock } = this.process;
    const timer = clock.at(clock.now() + sendWaitMs, () => {
      this.#conclude('congested');
    });
    this.#attempt = { frames, timer };
    return undefined;
  }

  protected override disconnect(farewell: Farewell): void {
    this.#attempt?.timer.cancel();
    super.disconnect(farewell);
  }

  #deal(frames: readonly Uint8Array[]): boolean {
    for (const outlet of this.#turns) {
      this.#turns.delete(outlet);
      if (!outlet.send(frames)) continue;
      this.#turns.add(outlet);
      return true;
    }
    return false;
  }

  #refresh(outlet: MessageTarget, hasRoom: boolean): void {
    if (!hasRoom) return;
    this.#turns.add(outlet);
    if (this.#attempt === undefined) this.outbox.resume(ROUTER_PEER);
    else if (this.#deal(this.#attempt.frames)) this.#conclude('sent');
  }

  #conclude(outcome: SendOutcome): void {
    this.#attempt?.timer.cancel();
    this.#attempt = undefined;
    this.outbox.settle(outcome);
  }
}
