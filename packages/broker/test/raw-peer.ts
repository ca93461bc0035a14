/** A dealer that sends any frames, for tests of facades. */
import { fromLatin1, latin1 } from '@proj/frames';
import { type PortOptions, ROUTER_PEER, type SocketPort, type Transport } from '@proj/transport';

/** Frames as latin1 text, so that expectations read like the grammar. */
export type TextFrames = readonly string[];

/** One connection to one broker. */
export class TextPeer {
  readonly #port: SocketPort;
  readonly #received: TextFrames[] = [];
  readonly #waiting: ((frames: TextFrames) => void)[] = [];

  private constructor(port: SocketPort) {
    this.#port = port;
  }

  /** Connects; the transport must be loaded. */
  static connect(transport: Transport, endpoint: string, options: PortOptions = {}): TextPeer {
    const port = transport.dealer({ lingerMs: 0, peerQueueMax: 100_000, ...options });
    const peer = new TextPeer(port);
    port.connect(endpoint);
    port.start({
      onMessage: (_peer, frames) => {
        peer.#take(frames.map(latin1));
      },
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: () => {},
    });
    return peer;
  }

  send(...frames: string[]): void {
    this.#port.send(ROUTER_PEER, frames.map(fromLatin1));
  }

  /** The next message that passes, which may have arrived already. Discards messages before it. */
  async next(passes: (frames: TextFrames) => boolean = isNoHeartbeat): Promise<TextFrames> {
    for (;;) {
      const frames =
        this.#received.shift() ?? (await new Promise<TextFrames>((resolve) => this.#waiting.push(resolve)));
      if (passes(frames)) return frames;
    }
  }

  close(): Promise<void> {
    return this.#port.close();
  }

  #take(frames: TextFrames): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#received.push(frames);
    else waiting(frames);
  }
}

/** True for everything but heartbeats: of MDP in any framing, or a single byte. */
function isNoHeartbeat(frames: TextFrames): boolean {
  const [header, command] = frames[0] === '' ? frames.slice(1) : frames;
  if (frames.length === 1) return header !== '\x02';
  return !((header === 'MDPW02' && command === '\x05') || (header === 'MDPW01' && command === '\x04'));
}
