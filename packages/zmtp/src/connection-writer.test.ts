/** Long bodies over CURVE, on real sockets: sealed in slices, while others are served. */
import { setImmediate } from 'node:timers/promises';
import { ROUTER_PEER } from '@proj/transport';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ConnectionWriter } from './connection-writer.js';
import { ZmtpTransport } from './index.js';
import { nodePrimitives } from './primitives.js';
import type { SlicedBox } from './engine/mechanisms/primitives.js';
import { newKeys } from './test/keys.js';
import { TestPeer } from './test/test-peer.js';
import { loadCurve } from './security.js';

beforeAll(loadCurve);

const SERVER = newKeys();
const SLICE_BYTES = 2 ** 18;
const SEALED_READ_BYTES = 2 ** 16;
const LONG = Buffer.alloc(2 ** 24, 'abcdefghijk');
const SOME = LONG.subarray(0, 2 ** 22);

let opened: { close(options: { lingerMs: number }): Promise<void> }[] = [];
let stopped: () => void = () => undefined;
afterEach(async () => {
  stopped();
  vi.restoreAllMocks();
  await Promise.all(opened.map((one) => one.close({ lingerMs: 0 })));
  opened = [];
});

/** What is sealed and opened in slices: bytes per turn of the event loop, over all boxes, and the longest piece that was opened. */
class Work {
  readonly sealed: number[] = [];
  readonly opened: number[] = [];
  longest = 0;
  #turn = 0;
  #sealedIn = -1;
  #openedIn = -1;

  constructor() {
    const slices = nodePrimitives.slices.bind(nodePrimitives);
    vi.spyOn(nodePrimitives, 'slices').mockImplementation((key, nonce, way) => {
      const box = slices(key, nonce, way);
      return way === 'open' ? this.#opening(box) : this.#sealing(box);
    });
    let going = true;
    stopped = () => (going = false);
    void this.#count(() => going);
  }

  #opening(box: SlicedBox): SlicedBox {
    return {
      tag: () => box.tag(),
      next: (slice) => {
        this.longest = Math.max(this.longest, slice.length);
        if (this.#openedIn !== this.#turn) this.opened.push(0);
        this.#openedIn = this.#turn;
        this.opened[this.opened.length - 1]! += slice.length;
        box.next(slice);
      },
    };
  }

  #sealing(box: SlicedBox): SlicedBox {
    return {
      tag: () => box.tag(),
      next: (slice) => {
        if (this.#sealedIn !== this.#turn) this.sealed.push(0);
        this.#sealedIn = this.#turn;
        this.sealed[this.sealed.length - 1]! += slice.length;
        box.next(slice);
      },
    };
  }

  async #count(isGoing: () => boolean): Promise<void> {
    for (; isGoing(); this.#turn++) await setImmediate();
  }
}

/** A router and the peers that have sent their names to it. */
async function met(...names: readonly string[]): Promise<{ router: TestPeer; peers: TestPeer[] }> {
  const transport = new ZmtpTransport();
  // On a busy machine sealing takes longer than the heartbeats allow.
  const quiet = { connectionHeartbeatMs: 0 };
  const port = transport.router({ ...quiet, curve: { role: 'server', keys: SERVER } });
  opened.push(port);
  const endpoint = await port.bind('tcp://127.0.0.1:*');
  const router = new TestPeer(port);
  const peers = names.map((name) => {
    const curve = { role: 'client', keys: newKeys(), serverKey: SERVER.publicKey } as const;
    // A transport of its own, as in a process of its own.
    const dealer = new ZmtpTransport().dealer({ ...quiet, routingId: Buffer.from(name), curve });
    opened.push(dealer);
    dealer.connect(endpoint);
    const station = new TestPeer(dealer);
    station.tell(name);
    return station;
  });
  await router.received(names.length);
  return { router, peers };
}

const peer = (key: string) => ({ key, id: Buffer.from(key) });

describe('a long body over CURVE', () => {
  it('is sealed and opened in slices, while others are answered', async () => {
    const { router, peers } = await met('long', 'quick');
    const [long, quick] = peers as [TestPeer, TestPeer];
    const work = new Work();
    router.onEach = (from, frames) => {
      router.port.send(from, frames);
    };
    quick.onEach = () => {
      if (long.messages.length === 0) quick.tell('again');
    };
    quick.tell('first');
    await quick.received(1);
    router.port.send(peer('long'), [LONG]);
    await long.received(1);
    expect(long.messages[0]!.frames[0]!.length).toBe(LONG.length);
    expect(Buffer.compare(long.messages[0]!.frames[0]!, LONG)).toBe(0);
    expect(work.sealed.length).toBeGreaterThanOrEqual(LONG.length / SLICE_BYTES);
    expect(Math.max(...work.sealed)).toBeLessThanOrEqual(SLICE_BYTES);
    expect(work.longest).toBeLessThan(SEALED_READ_BYTES + 64);
    expect(quick.messages.length).toBeGreaterThan(5);
  });

  it('shares the slices of a turn with all other connections', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `peer-${index}`);
    const { router, peers } = await met(...names);
    const work = new Work();
    for (const name of names) router.port.send(peer(name), [SOME]);
    await Promise.all(peers.map((one) => one.received(1)));
    expect(work.sealed.length).toBeGreaterThanOrEqual((names.length * SOME.length) / SLICE_BYTES);
    expect(Math.max(...work.sealed)).toBeLessThanOrEqual(SLICE_BYTES + 1024);
  });

  it('is opened a part per turn, however many arrive at the same time', async () => {
    const { router, peers } = await met(...Array.from({ length: 8 }, (_, index) => `peer-${index}`));
    const work = new Work();
    for (const { port } of peers) port.send(ROUTER_PEER, [SOME]);
    await router.received(2 * peers.length);
    const bytes = peers.length * SOME.length;
    expect(work.opened.reduce((sum, one) => sum + one)).toBeGreaterThan(bytes);
    // Beyond the share, each connection reads at most once.
    expect(Math.max(...work.opened)).toBeLessThan(SLICE_BYTES + peers.length * SEALED_READ_BYTES);
  });

  it('keeps its place in order, and counts twice until it is written', async () => {
    const { router, peers } = await met('peer');
    router.say(peer('peer'), 'before');
    router.port.send(peer('peer'), [Buffer.from('a'), LONG, Buffer.from('b')]);
    router.say(peer('peer'), 'behind');
    await setImmediate();
    await setImmediate();
    expect(router.port.heldBytes).toBeGreaterThan(2 * LONG.length);
    await peers[0]!.received(3);
    expect(peers[0]!.messages.map(({ frames }) => frames.map(({ length }) => length))).toEqual([
      [6],
      [1, LONG.length, 1],
      [6],
    ]);
    await router.port.close({ lingerMs: 0 });
    expect(router.port.heldBytes).toBe(0);
  });

  it('is still sent if the port closes during sealing', async () => {
    const { router, peers } = await met('peer');
    router.port.send(peer('peer'), [LONG]);
    await setImmediate();
    await router.port.close({ lingerMs: 60_000 });
    await peers[0]!.received(1);
    expect(peers[0]!.messages[0]!.frames[0]!.length).toBe(LONG.length);
  });

  it('is no longer sealed once its connection is cut', async () => {
    const { router } = await met('peer');
    const work = new Work();
    router.port.send(peer('peer'), [LONG]);
    await setImmediate();
    await router.port.close({ lingerMs: 0 });
    const sealed = work.sealed.length;
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    expect([sealed > 0, sealed < 10, work.sealed.length]).toEqual([true, true, sealed]);
  });
});

it('an encrypted write counts from its own start, not from the last clear-text write', () => {
  type Parts = ConstructorParameters<typeof ConnectionWriter>;
  const sealing = { step: () => true, sealed: 0, parts: [new Uint8Array(1)] };
  const engine = { sealed: true, takeOutput: () => [], seal: () => sealing, sent: () => undefined };
  const turns = { sealLater: (one: ConnectionWriter) => one.onSeal({ left: 1 }) };
  const [watch, wire] = [{ now: () => 5000 }, { send: () => undefined }];
  const owner = { mayWrite: true, pipe: { take: () => [[new Uint8Array(1)]] } };
  const writer = new ConnectionWriter(...([turns, watch, wire, engine, owner] as unknown as Parts));
  writer.flush(5000);
  expect(writer.writingSince).toBe(5000);
});

it('output that arises during a write follows it, even if no message waits', () => {
  type Parts = ConstructorParameters<typeof ConnectionWriter>;
  const output = ['greeting', 'READY'].map((text) => [Buffer.from(text)]);
  const engine = { sealed: false, take: () => output.shift() ?? [], sent: () => undefined };
  const sent: string[] = [];
  let written: () => void = () => undefined;
  const wire = { send: (parts: Uint8Array[], done: () => void) => (sent.push(String(parts[0])), (written = done)) };
  const turns = { writeLater: (writer: ConnectionWriter) => writer.onWrite(0) };
  const owner = { mayWrite: true, pipe: undefined, onWritten: () => undefined };
  const writer = new ConnectionWriter(...([turns, {}, wire, engine, owner] as unknown as Parts));
  writer.wake();
  writer.wake();
  expect(sent).toEqual(['greeting']);
  written();
  expect(sent).toEqual(['greeting', 'READY']);
  written();
  expect(sent.length).toBe(2);
});
