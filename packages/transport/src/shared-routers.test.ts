/** Two protocols on one socket, over the in-memory network. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { curveCompliance, portCompliance } from './compliance/index.js';
import { generateCurveKeys } from './curve/index.js';
import type { Transport } from './port.js';
import { SharedRouters } from './shared-routers.js';
import { advance, AutoClock, VirtualNetwork } from './virtual/index.js';
import { dealer, ENDPOINT, frames, PortRecorder, say } from './virtual/test/pair.js';

describe('a socket that is not shared', () => {
  const network = new VirtualNetwork({ clock: new AutoClock() });
  const subject = {
    transport: () => new SharedRouters(network.transport()).member(() => true),
    endpoint: 'tcp://sim:*',
    capabilities: { peerGone: true, routerGone: true, keepsHolder: false },
    generateKeys: generateCurveKeys,
  };
  for (const { name, applies, run } of portCompliance(subject)) it.runIf(applies)(name, run);
  for (const { name, applies, run } of curveCompliance(subject)) it.runIf(applies)(name, run);
});

describe('a shared socket', () => {
  let network: VirtualNetwork;
  let routers: SharedRouters;
  let first: Transport;
  let second: Transport;

  beforeEach(() => {
    network = new VirtualNetwork({ seed: 1 });
    routers = new SharedRouters(network.transport());
    first = routers.member(([frame]) => frame?.[0] === 0x61);
    second = routers.member(([frame]) => frame?.[0] === 0x62);
  });

  async function bound(transport: Transport, ...endpoints: string[]) {
    const port = transport.router();
    for (const endpoint of endpoints) await port.bind(endpoint);
    const recorder = new PortRecorder();
    port.start(recorder);
    return { port, recorder };
  }

  it('hands each message to the member that claims it, and unclaimed ones to the first', async () => {
    const a = await bound(first, ENDPOINT);
    const b = await bound(second, ENDPOINT);
    say(dealer(network.transport()), 'a1', 'b1', 'c1', 'a2', 'b2');
    await advance(network.clock, 100);
    expect(a.recorder.lines).toEqual(['a1', 'c1', 'a2']);
    expect(b.recorder.lines).toEqual(['b1', 'b2']);
  });

  it('reports what did not go out to the member that sent it', async () => {
    const a = await bound(first, ENDPOINT);
    const b = await bound(second, ENDPOINT);
    b.port.send({ key: 'nobody', id: Buffer.from('nobody') }, frames('b1'));
    await advance(network.clock, 100);
    expect([a.recorder.lines, b.recorder.lines]).toEqual([[], ['unreachable: b1']]);
  });

  it('returns frames to the socket, for which they may be memory to use again', async () => {
    const returned: unknown[] = [];
    const transport = network.transport();
    const router = transport.router.bind(transport);
    transport.router = (options) => Object.assign(router(options), { release: (some: unknown) => returned.push(some) });
    const port = new SharedRouters(transport).member(() => true).router();
    await port.bind(ENDPOINT);
    const received = frames('a1');
    port.release?.(received);
    expect(returned).toEqual([received]);
  });

  it('tells all members that a peer is gone', async () => {
    const a = await bound(first, ENDPOINT);
    const b = await bound(second, ENDPOINT);
    const client = dealer(network.transport());
    say(client, 'a1');
    await advance(network.clock, 100);
    void client.port.close();
    await advance(network.clock, 100);
    expect([a.recorder.lines.length, b.recorder.lines.length]).toEqual([2, 1]);
  });

  it('can be joined by the endpoint a wildcard became, not by the wildcard', async () => {
    const port = first.router();
    const endpoint = await port.bind('tcp://sim:*');
    expect(await second.router().bind(endpoint)).toBe(endpoint);
    expect(await second.router().bind('tcp://sim:*')).not.toBe(endpoint);
  });

  it('can be joined by the name it was asked for, and reports what that became', async () => {
    await bound(first, 'tcp://*:5555', 'tcp://sim:1');
    const port = second.router();
    expect(await port.bind('tcp://*:5555')).toBe('tcp://*:5555');
    expect(await port.bind('tcp://sim:1')).toBe('tcp://sim:1');
  });

  it('cannot be joined twice by routers of one member', async () => {
    await bound(first, ENDPOINT);
    await expect(first.router().bind(ENDPOINT)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
  });

  it('cannot be joined with only some of the endpoints', async () => {
    await bound(first, 'tcp://sim:1');
    await bound(second, 'tcp://sim:2');
    const third = routers.member(() => false);
    const [one, two] = [third.router(), third.router()];
    await one.bind('tcp://sim:1');
    await expect(one.bind('tcp://sim:3')).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await two.bind('tcp://sim:4');
    await expect(two.bind('tcp://sim:2')).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  it('lives until its last member leaves, and a member that has left neither receives nor sends', async () => {
    const a = await bound(first, ENDPOINT);
    const b = await bound(second, ENDPOINT);
    const client = dealer(network.transport());
    say(client, 'b1');
    await advance(network.clock, 100);
    await a.port.close();
    const [peer] = b.recorder.peers;
    a.port.send(peer!, frames('a'));
    b.port.send(peer!, frames('b'));
    say(client, 'a1', 'b2');
    await advance(network.clock, 100);
    expect(a.recorder.lines).toEqual([]);
    expect(b.recorder.lines).toEqual(['b1', 'a1', 'b2']);
    expect(client.lines).toEqual(['b']);
    await expect(network.transport().router().bind(ENDPOINT)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    const closing = b.port.close();
    expect(b.port.close()).toBe(closing);
    await advance(network.clock, 2000);
    await closing;
    await network.transport().router().bind(ENDPOINT);
  });

  it('pauses while any of its members does', async () => {
    const a = await bound(first, ENDPOINT);
    const b = await bound(second, ENDPOINT);
    a.port.pause();
    b.port.pause();
    a.port.resume();
    say(dealer(network.transport()), 'a1', 'a2', 'a3');
    await advance(network.clock, 100);
    expect(a.recorder.lines.length).toBeLessThanOrEqual(1);
    await b.port.close();
    await advance(network.clock, 100);
    expect(a.recorder.lines).toEqual(['a1', 'a2', 'a3']);
  });

  it('refuses a second member that listens for confirmations', async () => {
    await bound(first, ENDPOINT);
    const port = second.router();
    await port.bind(ENDPOINT);
    expect(() => {
      port.start(Object.assign(new PortRecorder(), { onSent: vi.fn() }));
    }).toThrow('onSent');
  });
});
