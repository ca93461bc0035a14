/** The DEALER of 28/REQREP: sends to the peers with room in turn, and receives from all of them. */
import type { Timer } from '@proj/heartbeat';
import { ROUTER_PEER } from '@proj/transport';
import type { Peer, PortListener } from '@proj/transport';
import type { OutboxHost, ResolvedPortOptions, SendOutcome } from '@proj/transport/adapter';
import type { Connection } from './connection.js';
import { Pipe } from './pipe.js';
import { withKey, ZmtpPort } from './port.js';
import type { World } from './world.js';

/** An attempt to send that waits for a pipe with room. */
interface Attempt {
  readonly frames: readonly Uint8Array[];
  readonly timer: Timer;
}

/** A dealer over ZMTP. */
export class DealerPort extends ZmtpPort {
  /** The pipes with room, and the next one to use. */
  readonly #open: Pipe[] = [];
  #turn = 0;
  #attempt: Attempt | undefined;
  /** With `tellsPeers`: the peers that connected to us, and those among them that must get nothing. */
  readonly #told = new Map<string, Pipe>();
  readonly #held = new Set<Pipe>();
  #lastPeer = 0;
  /** The peer that got the last message. */
  #taker: Peer = ROUTER_PEER;

  constructor(world: World, options: ResolvedPortOptions) {
    super(world, options, 'DEALER', options.routingId);
  }

  override send(_peer: Peer, frames: readonly Uint8Array[]): void {
    super.send(ROUTER_PEER, frames);
  }

  override pendingFor(): number {
    return super.pendingFor(ROUTER_PEER);
  }

  onReady(link: Connection, _identity: Uint8Array, publicKey: Uint8Array | undefined): void {
    const { connector } = link;
    connector?.up();
    const pipe = connector?.pipe ?? new Pipe(false, this.options);
    const isTold = connector === undefined && this.options.tellsPeers;
    pipe.peer = withKey(isTold ? this.#newPeer(pipe) : ROUTER_PEER, publicKey);
    if (isTold) this.reportCame(pipe.peer);
    if (connector === undefined) this.onRoom(pipe);
    link.join(pipe);
  }

  protected override onPipe(pipe: Pipe): void {
    pipe.peer = ROUTER_PEER;
    this.onRoom(pipe);
  }

  hold({ key }: Peer, held: boolean): void {
    const pipe = this.#told.get(key);
    if (pipe === undefined || this.#held.has(pipe) === held) return;
    if (held) {
      this.#held.add(pipe);
      if (pipe.place >= 0) this.#close(pipe);
    } else {
      this.#held.delete(pipe);
      this.onRoom(pipe);
    }
  }

  protected override sentTo(listener: PortListener): OutboxHost['onSent'] {
    if (!this.options.tellsPeers || listener.onSent === undefined) return super.sentTo(listener);
    return (_peer, frames) => {
      listener.onSent?.(this.#taker, frames);
    };
  }

  protected transmit(_peer: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined {
    const pipe = this.#next();
    if (pipe !== undefined) {
      this.#hand(pipe, frames);
      return 'sent';
    }
    const { sendWaitMs } = this.options;
    if (sendWaitMs === 0) return 'congested';
    const { clock } = this.world;
    const timer = clock.at(clock.now() + sendWaitMs, () => {
      this.#attempt = undefined;
      this.outbox.settle('congested');
    });
    this.#attempt = { frames, timer };
    return undefined;
  }

  protected override onRoom(pipe: Pipe): void {
    if (pipe.place < 0 && pipe.hasRoom && !this.#held.has(pipe)) pipe.place = this.#open.push(pipe) - 1;
    if (pipe.place < 0) return;
    const attempt = this.#attempt;
    if (attempt !== undefined) {
      this.#attempt = undefined;
      attempt.timer.cancel();
      this.#hand(pipe, attempt.frames);
      this.outbox.settle('sent');
    } else if (this.outbox.congestedPeers > 0) this.outbox.resume(ROUTER_PEER);
  }

  protected override onSendingEnds(): void {
    this.#attempt?.timer.cancel();
    this.#attempt = undefined;
  }

  protected override onLost(pipe: Pipe): void {
    if (pipe.lasting) {
      this.reportGone(ROUTER_PEER);
      this.onRoom(pipe);
      return;
    }
    if (pipe.place >= 0) this.#close(pipe);
    if (pipe.peer === undefined || !this.#told.delete(pipe.peer.key)) return;
    this.#held.delete(pipe);
    this.reportGone(pipe.peer);
  }

  #next(): Pipe | undefined {
    if (this.#turn >= this.#open.length) this.#turn = 0;
    return this.#open[this.#turn];
  }

  #hand(pipe: Pipe, frames: readonly Uint8Array[]): void {
    this.#taker = pipe.peer ?? ROUTER_PEER;
    pipe.push(frames);
    if (pipe.hasRoom) this.#turn++;
    else this.#close(pipe);
  }

  #newPeer(pipe: Pipe): Peer {
    const key = `${++this.#lastPeer}`;
    this.#told.set(key, pipe);
    return { key, id: Buffer.from(key) };
  }

  /** The last one takes its place: constant time, however many there are. */
  #close(pipe: Pipe): void {
    const last = this.#open.pop();
    if (last !== undefined && last !== pipe) {
      this.#open[pipe.place] = last;
      last.place = pipe.place;
    }
    pipe.place = -1;
  }
}
