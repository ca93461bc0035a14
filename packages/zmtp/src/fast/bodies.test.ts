/** Long bodies that are returned, on real sockets: docs/adr/0016-long-bodies-are-given-back.md. */
import { ROUTER_PEER } from '@proj/transport';
import type { Peer, PortOptions } from '@proj/transport';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ZmtpTransport } from '../index.js';
import type { ZmtpOptions } from '../index.js';
import { TestPeer } from '../test/test-peer.js';

const MIB = 2 ** 20;
const TCP = 'tcp://127.0.0.1:*';
/** Content that no other body has. */
const bodyOf = (bytes: number, mark: number) =>
  Buffer.alloc(
    bytes,
    Uint8Array.from({ length: 251 }, (_, index) => index ^ mark),
  );

describe.each([
  ['one connection per socket', { lanes: false }],
  ['lanes', { lanes: true }],
  ['one mapping per body', { lanes: false, mapsBodies: true }],
] satisfies [string, ZmtpOptions][])('a returned body, with %s', (_, options) => {
  const stations: TestPeer[] = [];
  let transport: ZmtpTransport;
  let router: TestPeer;
  let from: TestPeer;
  let to: TestPeer;
  let reader: Peer;
  beforeEach(() => {
    transport = new ZmtpTransport(options);
  });
  afterEach(async () => {
    await Promise.all(stations.splice(0).map(({ port }) => port.close({ lingerMs: 0 })));
  });

  /** A router, a peer that sends to it, and a peer that receives from it but does not read now. */
  async function setUp(options: PortOptions = {}): Promise<void> {
    const port = transport.router(options);
    const endpoint = await port.bind(TCP);
    router = new TestPeer(port);
    const dealer = () => {
      const one = transport.dealer({ highWaterMark: 10_000 });
      one.connect(endpoint);
      const station = new TestPeer(one);
      stations.push(station);
      return station;
    };
    [from, to] = [dealer(), dealer()];
    stations.push(router);
    to.tell('here');
    reader = (await router.message(0)).peer;
    to.port.pause();
  }

  /** Sends this body through the router, which returns it at once. Resolves to the frame that the router had. */
  async function pass(body: Uint8Array): Promise<Uint8Array> {
    const count = router.messages.length;
    from.port.send(ROUTER_PEER, [body]);
    await router.received(count + 1);
    const frames = router.messages[count]?.frames ?? [];
    router.port.send(reader, frames);
    router.port.release?.(frames);
    return frames[0] ?? new Uint8Array(0);
  }

  it('is kept until it has been written, and its memory is free afterwards', async () => {
    await setUp();
    const held = await passMany(7);
    expect(held.at(-1)?.length).toBe(8 * MIB);
    to.port.resume();
    await to.received(7);
    expect(to.messages.map(({ frames }, mark) => Buffer.compare(frames[0]!, bodyOf(8 * MIB, mark)))).toEqual(
      held.map(() => 0),
    );
    await vi.waitUntil(() => held.every(({ length }) => length === 0), { timeout: 600_000 });
  });

  it('is not reused while it waits for a peer that does not read', async () => {
    await setUp({ highWaterMark: 1 });
    await passMany(7);
    expect(router.port.pending).toBeGreaterThan(0);
    const held = await pass(bodyOf(MIB, 7));
    to.port.resume();
    await to.received(8);
    expect(to.messages.map(({ frames }) => frames[0]?.[0])).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect([held.length, held[0]]).toEqual([MIB, 7]);
  });

  it('is not reused if the connection ends before it was written', async () => {
    await setUp();
    const held = await passMany(7);
    await to.port.close({ lingerMs: 0 });
    await router.until(() => router.gone.length > 0);
    expect([held.at(-1)?.length, held.at(-1)?.[0]]).toEqual([8 * MIB, 6]);
  });

  /** More than the system buffers for a peer that does not read. */
  async function passMany(count: number): Promise<Uint8Array[]> {
    const held: Uint8Array[] = [];
    for (let mark = 0; mark < count; mark++) held.push(await pass(bodyOf(8 * MIB, mark)));
    return held;
  }
});
