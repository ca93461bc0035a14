import { describe, expect, it } from 'vitest';
import { VirtualNetwork } from './network.js';
import { advance } from './run.js';
import { answer, dealer, ENDPOINT, frames, PortRecorder, router, say } from './test/pair.js';

describe('endpoints', () => {
  it('are free text, bound once', async () => {
    const transport = new VirtualNetwork().transport();
    for (const endpoint of ['tcp://sim:5555', 'inproc://a', 'ipc:///tmp/b']) {
      expect(await transport.router().bind(endpoint)).toBe(endpoint);
      await expect(transport.router().bind(endpoint)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    }
  });

  it('get their own port for a wildcard', async () => {
    const transport = new VirtualNetwork().transport();
    const [a, b] = [await transport.router().bind('tcp://h:*'), await transport.router().bind('tcp://h:0')];
    expect(a).toMatch(/^tcp:\/\/h:\d+$/);
    expect(b).not.toBe(a);
  });

  it.each(['', 'nonsense', 'tcp://', 'tcp://host', 'tcp://host:70000'])('refuse %j', async (endpoint) => {
    const transport = new VirtualNetwork().transport();
    await expect(transport.router().bind(endpoint)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    expect(() => transport.dealer().connect(endpoint)).toThrow('endpoint');
  });

  it('bound for every interface are reached by any host name', async () => {
    const network = new VirtualNetwork();
    const port = network.transport().router();
    await port.bind('tcp://*:5555');
    const server = new PortRecorder();
    port.start(server);
    say(dealer(network.transport()), 'hello');
    await advance(network.clock, 100);
    expect(server.lines).toEqual(['hello']);
  });

  it('are free again after close', async () => {
    const network = new VirtualNetwork();
    await (await router(network.transport())).port.close();
    await router(network.transport());
  });
});

describe('a connection', () => {
  it('carries messages both ways, in order, frames untouched', async () => {
    const network = new VirtualNetwork({ seed: 4, timing: { latencyMs: 5, jitterMs: 50 } });
    const server = await router(network.transport());
    const client = dealer(network.transport());
    client.port.send({ key: '', id: new Uint8Array() }, frames('a', '', 'b'));
    const numbers = Array.from({ length: 50 }, (_, i) => String(i));
    say(client, ...numbers);
    await advance(network.clock, 1000);
    expect(server.lines).toEqual(['a||b', ...numbers]);
    answer(server, ...numbers);
    await advance(network.clock, 1000);
    expect(client.lines).toEqual(numbers);
  });

  it('takes the latency of its link', async () => {
    const network = new VirtualNetwork({ timing: { latencyMs: 10 } });
    const server = await router(network.transport('server'));
    const client = dealer(network.transport('client'));
    await advance(network.clock, 100);
    network.setTiming('client', 'server', { latencyMs: 30 });
    say(client, 'x');
    await advance(network.clock, 29);
    expect(server.lines).toEqual([]);
    await advance(network.clock, 1);
    expect(server.lines).toEqual(['x']);
  });

  it('is retried until the endpoint is bound, and delivers what was sent before', async () => {
    const network = new VirtualNetwork();
    const client = dealer(network.transport());
    say(client, 'early');
    await advance(network.clock, 10_000);
    expect(client.port.pending).toBe(0);
    const server = await router(network.transport());
    await advance(network.clock, 1000);
    expect(server.lines).toEqual(['early']);
  });

  it('names its dealer by zero and four bytes, new each time', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport('server'));
    const client = dealer(network.transport('client'));
    say(client, '1');
    await advance(network.clock, 1000);
    network.cut('client', 'server');
    await advance(network.clock, 1000);
    say(client, '2');
    await advance(network.clock, 1000);
    expect(server.lines).toEqual(['1', 'gone', '2']);
    const ids = server.peers.map((peer) => peer.id);
    expect(ids.map((id) => [id.length, id[0]])).toEqual([
      [5, 0],
      [5, 0],
    ]);
    expect(ids[0]).not.toEqual(ids[1]);
  });

  it('names its dealer by the routing id it announces', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport());
    say(dealer(network.transport(), { routingId: Uint8Array.of(0x77, 0xff) }), 'hi');
    await advance(network.clock, 100);
    expect(server.peers).toEqual([{ key: 'w\u00ff', id: Uint8Array.of(0x77, 0xff) }]);
  });

  it('holds messages until the socket is started', async () => {
    const network = new VirtualNetwork();
    const server = network.transport().router();
    await server.bind(ENDPOINT);
    say(dealer(network.transport()), 'hello');
    await advance(network.clock, 1000);
    const late = new PortRecorder();
    server.start(late);
    expect(late.lines).toEqual([]);
    await advance(network.clock, 0);
    expect(late.lines).toEqual(['hello']);
  });
});

describe('send', () => {
  it('reports at once a peer that is not there', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport());
    server.port.send({ key: 'x', id: Uint8Array.of(0x78) }, frames('hello'));
    expect(server.lines).toEqual(['unreachable: hello']);
  });

  it('parks messages of a peer that does not read, then reports them; others are served meanwhile', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport(), { highWaterMark: 2, peerQueueMax: 2 });
    const process = network.transport();
    const slow = dealer(process, { highWaterMark: 2 });
    say(slow, 'hi');
    await advance(network.clock, 100);
    network.pause(process);
    answer(server, '1', '2', '3', '4', '5', '6');
    expect(server.port.pendingFor(server.peers[0]!)).toBe(2);
    answer(server, '7');
    expect(server.lines).toEqual(['hi', 'congested: 5', 'congested: 6', 'congested: 7']);
    expect(server.port.pending).toBe(0);
    say(dealer(network.transport()), 'quick');
    await advance(network.clock, 100);
    answer(server, 'welcome');
    network.resume(process);
    await advance(network.clock, 100);
    expect(slow.lines).toEqual(['1', '2', '3', '4']);
  });

  it('hands parked messages over, in order, as soon as the peer reads', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport(), { highWaterMark: 1 });
    const process = network.transport();
    const slow = dealer(process, { highWaterMark: 1 });
    say(slow, 'hi');
    await advance(network.clock, 100);
    network.pause(process);
    answer(server, '1', '2', '3', '4', '5');
    expect(server.port.pending).toBe(3);
    network.resume(process);
    await advance(network.clock, 10);
    expect(slow.lines).toEqual(['1', '2', '3', '4', '5']);
    expect(server.port.pending).toBe(0);
  });

  it('of a dealer fills its high-water mark, then its waiting list, then reports', () => {
    const network = new VirtualNetwork();
    const client = dealer(network.transport(), { highWaterMark: 2, peerQueueMax: 1 });
    say(client, '1', '2');
    expect(client.port.pending).toBe(0);
    say(client, '3');
    expect(client.port.pending).toBe(1);
    say(client, '4');
    expect(client.lines).toEqual(['congested: 3', 'congested: 4']);
  });

  it('refuses invalid messages', async () => {
    const network = new VirtualNetwork();
    const client = dealer(network.transport());
    expect(() => {
      client.port.send({ key: '', id: new Uint8Array() }, []);
    }).toThrow(TypeError);
  });
});

describe('limits', () => {
  it.each([
    ['too-many-frames', frames('1', '2', '3', '4')],
    ['too-large', frames('1234567', '1234567')],
  ])('reject a message that is %s and continue', async (reason, message) => {
    const network = new VirtualNetwork();
    const server = await router(network.transport(), { maxMessageFrames: 3, maxMessageBytes: 10 });
    const client = dealer(network.transport());
    client.port.send({ key: '', id: new Uint8Array() }, message);
    say(client, 'next');
    await advance(network.clock, 100);
    expect(server.lines).toEqual([`rejected: ${reason}`, 'next']);
  });

  it('close the connection of a peer that sends a frame over the limit', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport(), { maxMessageBytes: 10 });
    const client = dealer(network.transport());
    say(client, 'x', 'this is too long', 'lost with the connection');
    await advance(network.clock, 1000);
    say(client, 'back');
    await advance(network.clock, 1000);
    expect(server.lines).toEqual(['x', 'gone', 'back']);
  });
});

describe('close', () => {
  it('delivers what was sent, then tells the router', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport());
    const process = network.transport();
    const client = dealer(process);
    say(client, '1', '2');
    const closed = client.port.close();
    await advance(network.clock, 200);
    await closed;
    expect(server.lines).toEqual(['1', '2', 'gone']);
    expect([process.openPorts, process.armedTimers]).toEqual([0, 0]);
  });

  it('waits no longer than its linger for a router that is not there', async () => {
    const network = new VirtualNetwork();
    const process = network.transport();
    const client = dealer(process, { lingerMs: 300 });
    say(client, 'for nobody');
    void client.port.close();
    await advance(network.clock, 299);
    expect(process.openPorts).toBe(1);
    await advance(network.clock, 1);
    expect([process.openPorts, process.armedTimers]).toEqual([0, 0]);
  });

  it('with a linger of 0 delivers nothing that has not left yet', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport());
    const client = dealer(network.transport());
    say(client, 'never');
    await client.port.close({ lingerMs: 0 });
    await advance(network.clock, 1000);
    expect(server.lines).toEqual([]);
  });

  it('of a router is noticed by its dealers, which find its successor', async () => {
    const network = new VirtualNetwork();
    const first = await router(network.transport());
    const client = dealer(network.transport());
    say(client, '1');
    await advance(network.clock, 100);
    answer(first, 'bye');
    await first.port.close();
    const second = await router(network.transport());
    await advance(network.clock, 1000);
    say(client, '2');
    await advance(network.clock, 100);
    expect(client.lines).toEqual(['bye', 'gone']);
    expect([first.lines, second.lines]).toEqual([['1'], ['2']]);
  });

  it('calls the listener no more, even for a message that arrives at the same instant', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport());
    const client = dealer(network.transport());
    say(client, '1', '2');
    await advance(network.clock, 1.5);
    void server.port.close();
    await advance(network.clock, 100);
    expect(server.lines).toEqual([]);
  });

  it('can be called again', async () => {
    const { port } = await router(new VirtualNetwork().transport());
    expect(port.close()).toBe(port.close());
    await port.close();
  });
});
