import { ROUTER_PEER } from '@proj/transport';
import type { Peer, PortListener, SocketPort } from '@proj/transport';
import { afterEach, describe, expect, it } from 'vitest';
import { ZmtpTransport } from './index.js';

const TCP = 'tcp://127.0.0.1:*';
const ports: SocketPort[] = [];
afterEach(() => Promise.all(ports.splice(0).map((port) => port.close({ lingerMs: 0 }))));

/** The events of a port, as lines, and those waiting for them. */
class Log {
  readonly lines: string[] = [];
  readonly peers: Peer[] = [];
  #wake: () => void = () => undefined;

  add(line: string, peer?: Peer): void {
    this.lines.push(line);
    if (peer !== undefined) this.peers.push(peer);
    this.#wake();
  }

  async until(count: number): Promise<readonly string[]> {
    while (this.lines.length < count)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.lines;
  }

  listener(): PortListener {
    return {
      onMessage: (peer, frames) => this.add(`${peer.key} says ${Buffer.from(frames[0] ?? []).toString()}`),
      onPeerCame: (peer) => this.add(`${peer.key} came`, peer),
      onPeerGone: (peer) => this.add(`${peer.key} gone`),
      onSent: (peer, frames) => this.add(`${peer.key} got ${String(frames[0])}`),
      onUndeliverable: (_peer, frames) => this.add(`nobody got ${String(frames[0])}`),
      onRejected: () => undefined,
      onBroken: (error) => {
        throw error;
      },
    };
  }
}

function started(port: SocketPort, listener: PortListener): SocketPort {
  ports.push(port);
  port.start(listener);
  return port;
}

describe('a dealer that binds and tells its peers apart', () => {
  async function rig(tellsPeers: boolean, consumers: number) {
    const transport = new ZmtpTransport();
    const log = new Log();
    const dealer = transport.dealer({ tellsPeers, sendWaitMs: 1000, peerQueueMax: 0 });
    const endpoint = await dealer.bind(TCP);
    started(dealer, log.listener());
    const connected: SocketPort[] = [];
    for (let n = 1; n <= consumers; n++) {
      const consumer = transport.dealer({ highWaterMark: 10 });
      consumer.connect(endpoint);
      connected.push(started(consumer, new Log().listener()));
      if (tellsPeers) await log.until(n);
    }
    const send = (...texts: readonly string[]) => {
      for (const text of texts) dealer.send(ROUTER_PEER, [Buffer.from(text)]);
    };
    return { dealer, log, send, connected };
  }

  it('reports who connects, who got each message, who sent each message, and who leaves', async () => {
    const { log, send, connected } = await rig(true, 2);
    send('a', 'b');
    expect(await log.until(4)).toEqual(['1 came', '2 came', '1 got a', '2 got b']);
    connected[1]?.send(ROUTER_PEER, [Buffer.from('hello')]);
    expect((await log.until(5)).at(-1)).toBe('2 says hello');
    await connected[0]?.close();
    expect((await log.until(6)).at(-1)).toBe('1 gone');
  });

  it('sends nothing to a held peer, and continues when it is released', async () => {
    const { dealer, log, send } = await rig(true, 2);
    const [one, other] = log.peers as [Peer, Peer];
    dealer.hold?.(one, true);
    dealer.hold?.(one, true);
    send('a', 'b', 'c');
    expect((await log.until(5)).slice(2)).toEqual(['2 got a', '2 got b', '2 got c']);
    dealer.hold?.(other, true);
    send('d');
    dealer.hold?.(one, false);
    expect((await log.until(6)).at(-1)).toBe('1 got d');
    dealer.hold?.({ key: 'nobody', id: Buffer.from('nobody') }, true);
    send('e');
    expect((await log.until(7)).at(-1)).toBe('1 got e');
  });

  it('forgets a held peer that leaves', async () => {
    const { dealer, log, send, connected } = await rig(true, 2);
    dealer.hold?.(log.peers[0]!, true);
    await connected[0]?.close();
    await log.until(3);
    dealer.hold?.(log.peers[0]!, false);
    send('a', 'b');
    expect((await log.until(5)).slice(2)).toEqual(['1 gone', '2 got a', '2 got b']);
  });

  it('reports none of this by default', async () => {
    const { log, send } = await rig(false, 1);
    send('a');
    expect(await log.until(1)).toEqual([' got a']);
  });
});
