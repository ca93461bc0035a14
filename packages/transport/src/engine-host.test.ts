/** The host over the in-memory network, with an engine that does what its messages say. */
import { ManualClock } from '@proj/heartbeat';
import { beforeEach, describe, expect, it } from 'vitest';
import { Access } from './access.js';
import { encodeZ85 } from './curve/z85.js';
import { generateCurveKeys } from './curve/keys.js';
import type { Engine } from './engine/engine.js';
import { EngineHost } from './engine-host.js';
import type { HostProgram, SocketPlan } from './host-program.js';
import { MemoryBudget } from './memory-budget.js';
import { ROUTER_PEER } from './port.js';
import type { Peer, PortListener, SocketPort } from './port.js';
import { advance, settle, VirtualNetwork } from './virtual/index.js';

type Event = string;
interface Effect {
  readonly socket: number;
  readonly peer: Peer;
  readonly text: string;
}

const frames = (text: string) => [Buffer.from(text)];
const textOf = ([frame]: readonly Uint8Array[]) => Buffer.from(frame ?? []).toString();

let network: VirtualNetwork;
let events: string[];
let effects: Effect[];
let broken: Error[];

beforeEach(() => {
  network = new VirtualNetwork();
  events = [];
  effects = [];
  broken = [];
});

const engine: Engine<Event, Effect> = {
  deadline: Infinity,
  step: (event) => {
    events.push(event as Event);
    return effects.splice(0);
  },
  assertInvariants: () => undefined,
};

function plan(name: string, options: Partial<SocketPlan<Event>> = {}): SocketPlan<Event> {
  return {
    kind: 'router',
    bind: [`tcp://sim:${name}`],
    port: {},
    onMessage: (_peer, message) => `${name} message ${textOf(message)}`,
    onPeerGone: () => undefined,
    onUndeliverable: (_peer, message, reason) => `${name} ${reason} ${textOf(message)}`,
    onRejected: (_peer, reason) => `${name} rejected ${reason}`,
    ...options,
  };
}

function host(sockets: readonly SocketPlan<Event>[], options: Partial<HostProgram<Event, Effect>> = {}) {
  const made: EngineHost<Event, Effect> = new EngineHost(
    {
      name: 'Server',
      engine,
      sockets,
      drain: 'drain',
      perform: ({ socket, peer, text }) => {
        if (text === 'drained') made.drained();
        else made.send(socket, peer, frames(text));
      },
      ...options,
    },
    () => Promise.resolve(network.transport('server')),
  );
  return made;
}

function connect(port: SocketPort, endpoint: string): { readonly port: SocketPort; readonly heard: string[] } {
  const heard: string[] = [];
  const listener: PortListener = {
    onMessage: (_peer, message) => void heard.push(textOf(message)),
    onPeerGone: () => void heard.push('gone'),
    onUndeliverable: () => undefined,
    onRejected: () => undefined,
    onBroken: () => undefined,
  };
  port.connect(endpoint);
  port.start(listener);
  return { port, heard };
}

const client = (name: string) => connect(network.transport().dealer(), `tcp://sim:${name}`);
const started = (made: EngineHost<Event, Effect>) => settle(network.clock, made.start());
const after = (ms: number) => advance(network.clock, ms);

describe('EngineHost', () => {
  it('closes instead of draining when its engine has nothing to finish', async () => {
    const server = new EngineHost<Event, Effect>(
      { name: 'Server', engine, sockets: [plan('1')], perform: () => undefined },
      () => Promise.resolve(network.transport('server')),
    );
    await started(server);
    await settle(network.clock, server.drain());
    expect([server.transport, events]).toEqual([undefined, []]);
  });

  it('binds every endpoint of every socket, and says where', async () => {
    const server = host([plan('1', { bind: ['tcp://sim:1', 'tcp://sim:*'] }), plan('2')]);
    expect(await started(server)).toEqual([['tcp://sim:1', expect.stringMatching(/:\d+$/)], ['tcp://sim:2']]);
    expect(server.start()).toBe(server.start());
  });

  it('begins with the first event, even if messages already wait, and carries effects to the socket they name', async () => {
    const one = client('1');
    one.port.send(ROUTER_PEER, frames('early'));
    const server = host([plan('2'), plan('1', { onMessage: (peer) => answer(peer, 'hello') })], { started: 'go' });
    const answer = (peer: Peer, text: string) => {
      effects.push({ socket: 1, peer, text });
      return 'message';
    };
    await started(server);
    await after(500);
    expect([events, one.heard]).toEqual([['go', 'message'], ['hello']]);
  });

  it('connects too, and confirms sent messages to engines that ask for it', async () => {
    const port = network.transport().dealer();
    await port.bind('tcp://sim:2');
    const other = { heard: [] as string[] };
    port.start({
      onMessage: (_peer, message) => void other.heard.push(textOf(message)),
      onPeerGone: () => undefined,
      onUndeliverable: () => undefined,
      onRejected: () => undefined,
      onBroken: () => undefined,
    });
    const server = host([
      plan('1', {
        kind: 'dealer',
        bind: [],
        connect: ['tcp://sim:2'],
        onSent: (_peer, message) => `sent ${textOf(message)}`,
      }),
    ]);
    expect(await started(server)).toEqual([[]]);
    server.send(0, ROUTER_PEER, frames('x'));
    await after(500);
    expect([events, other.heard]).toEqual([['sent x'], ['x']]);
  });

  it('reports failures and rejections as the plan says, and nothing that the plan leaves out', async () => {
    const server = host([plan('1', { port: { maxMessageBytes: 3 } })]);
    await started(server);
    const one = client('1');
    one.port.send(ROUTER_PEER, [Buffer.from('ab'), Buffer.from('cd')]);
    await after(100);
    server.send(0, { key: 'x', id: Buffer.from('x') }, frames('lost'));
    await one.port.close();
    await after(100);
    expect(events).toEqual(['1 rejected too-large', '1 unreachable lost']);
  });

  it('counts what waits for a peer that does not read', async () => {
    const peers: Peer[] = [];
    const server = host([plan('1', { port: { highWaterMark: 1 }, onMessage: (peer) => void peers.push(peer) })]);
    expect(server.pendingFor(0, ROUTER_PEER)).toBe(0);
    await started(server);
    const process = network.transport();
    const slow = process.dealer({ highWaterMark: 1 });
    connect(slow, 'tcp://sim:1').port.send(ROUTER_PEER, frames('hello'));
    await after(100);
    network.pause(process);
    const [peer] = peers;
    for (let index = 0; index < 5; index++) server.send(0, peer!, frames('x'));
    expect(server.pendingFor(0, peer!)).toBe(3);
  });

  it('leaves nothing bound when one of its endpoints is taken', async () => {
    const first = host([plan('2')]);
    await started(first);
    const second = host([plan('1'), plan('2')]);
    await expect(started(second)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    await started(host([plan('1')]));
  });

  it('leaves nothing bound when one of its endpoints to connect to is invalid', async () => {
    await expect(started(host([plan('1', { connect: ['nonsense'] })]))).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
    await started(host([plan('1')]));
  });

  it('lets the engine drain, then closes', async () => {
    const server = host([plan('1')]);
    await started(server);
    const one = client('1');
    await after(100);
    let drained = false;
    void server.drain().then(() => (drained = true));
    await after(1000);
    expect([events, drained, one.heard]).toEqual([['drain'], false, []]);
    server.drained();
    await after(100);
    expect([drained, one.heard, server.transport]).toEqual([true, ['gone'], undefined]);
  });

  it.each([
    ['drained', 300],
    ['closed', 50],
  ])('gives a peer that does not read the time of the plan when it is %s', async (how, lingerMs) => {
    const peers: Peer[] = [];
    const server = host([
      plan('1', {
        port: { highWaterMark: 1, lingerMs: 50 },
        drainLingerMs: 300,
        onMessage: (peer) => void peers.push(peer),
      }),
    ]);
    await started(server);
    const process = network.transport();
    connect(process.dealer({ highWaterMark: 1 }), 'tcp://sim:1').port.send(ROUTER_PEER, frames('hello'));
    await after(100);
    network.pause(process);
    const [peer] = peers;
    for (let index = 0; index < 5; index++) server.send(0, peer!, frames('x'));
    const begun = network.clock.now();
    const ended = how === 'drained' ? server.drain() : server.close();
    server.drained();
    await after(0);
    server.drained();
    await settle(network.clock, ended);
    expect(network.clock.now() - begun).toBe(lingerMs);
  });

  it('ends a drain in progress when it is closed', async () => {
    const server = host([plan('1')]);
    await started(server);
    const drained = server.drain();
    await after(1);
    await settle(network.clock, server.close());
    await settle(network.clock, drained);
    expect(events).toEqual(['drain']);
  });

  it('does not start once closed, and ends a start in progress', async () => {
    const server = host([plan('1')]);
    const starting = server.start();
    const failed = expect(starting).rejects.toMatchObject({ code: 'CLOSED' });
    await settle(network.clock, server.close());
    await failed;
    const other = host([plan('1')]);
    await other.close();
    await expect(other.start()).rejects.toThrow('Server: start after close');
    await started(host([plan('1')]));
  });

  it('passes on that a socket broke', async () => {
    let listener: PortListener | undefined;
    const port: SocketPort = {
      pending: 0,
      pendingFor: () => 0,
      bind: (endpoint) => Promise.resolve(endpoint),
      connect: () => undefined,
      start: (given) => {
        listener = given;
      },
      pause: () => undefined,
      resume: () => undefined,
      send: () => undefined,
      close: () => Promise.resolve(),
    };
    const transport = {
      clock: new ManualClock(),
      entropy: { wallMicros: () => 0, uuid: () => '', random: () => 0 },
      load: () => Promise.resolve(),
      router: () => port,
      dealer: () => port,
      publisher: () => expect.unreachable(),
      subscriber: () => expect.unreachable(),
    };
    const program = {
      name: 'Server',
      engine,
      sockets: [plan('1')],
      drain: 'drain',
      perform: () => undefined,
    };
    const server = new EngineHost<Event, Effect>(program, () => Promise.resolve(transport));
    server.on('broken', (error) => void broken.push(error));
    await server.start();
    listener?.onBroken(new Error('ENOTSOCK'));
    expect(broken.map(({ message }) => message)).toEqual(['ENOTSOCK']);
    expect(listener).not.toHaveProperty('onSent');
    await server.close();
  });
});

describe('memory', () => {
  it('includes what the engine holds, and the engine learns when memory is short and when it no longer is', async () => {
    const memory = new MemoryBudget(1000, network.clock);
    const transport = Object.assign(network.transport('server'), { memory });
    let heldBytes = 0;
    const holding = {
      ...engine,
      step: engine.step,
      get heldBytes() {
        return heldBytes;
      },
    };
    const made: EngineHost<Event, Effect> = new EngineHost(
      {
        name: 'Server',
        engine: holding,
        sockets: [],
        drain: 'drain',
        onMemory: (isTight) => `tight ${isTight}`,
        perform: () => undefined,
      },
      () => Promise.resolve(transport),
    );
    await started(made);
    for (heldBytes of [100, 800, 1000, 950, 0]) memory.look();
    expect(events).toEqual(['tight true', 'tight false']);
    heldBytes = 500;
    expect(memory.heldBytes).toBe(500);
    await settle(network.clock, made.close());
    expect(memory.heldBytes).toBe(0);
  });
});

describe('access', () => {
  const [server, ada, bob] = [generateCurveKeys(), generateCurveKeys(), generateCurveKeys()];
  const rules = ({ publicKey }: typeof ada) => new Access([{ keys: [encodeZ85(publicKey)], serve: ['door'] }]);
  const curve = { role: 'server', keys: server } as const;
  const onAccess = () => 'access';

  /** A bound dealer that hands out in turn. */
  const door = () => plan('9', { kind: 'dealer', serves: 'door' });

  function caller(keys: typeof ada) {
    const { port, heard } = connect(
      network.transport().dealer({ curve: { role: 'client', keys, serverKey: server.publicKey } }),
      'tcp://sim:9',
    );
    return { port, heard };
  }

  it('comes before everything else, and again when it changes', async () => {
    const made = host([plan('1')], { access: rules(ada), onAccess, started: 'started' });
    await started(made);
    made.setAccess(rules(bob));
    expect(events).toEqual(['access', 'started', 'access']);
    await settle(network.clock, made.close());
  });

  it('applies from the start if changed before it', async () => {
    const made = host([door()], { access: rules(ada), onAccess, curve });
    made.setAccess(rules(bob));
    await started(made);
    caller(ada).port.send(ROUTER_PEER, frames('ada'));
    caller(bob).port.send(ROUTER_PEER, frames('bob'));
    await after(1000);
    expect(events).toEqual(['access', '9 message bob']);
    await settle(network.clock, made.close());
  });

  it('accepts a message only from a key with the right for its name, also after the rules have changed', async () => {
    const publishers = [{ bind: ['tcp://sim:8'], port: {}, hears: 'serve' as const }];
    const made = host([], { publishers, access: rules(ada), onAccess, curve });
    await started(made);
    const heard = [ada, bob].map((keys) => {
      const messages: string[] = [];
      const port = network.transport().subscriber({ curve: { role: 'client', keys, serverKey: server.publicKey } });
      port.connect('tcp://sim:8');
      port.subscribe(new Uint8Array(0));
      port.start({
        onMessage: (message) => void messages.push(textOf(message)),
        onRejected: () => undefined,
        onBroken: () => undefined,
      });
      return messages;
    });
    await after(1000);
    made.publish(0, frames('1'), 'door');
    made.publish(0, frames('2'), 'other');
    made.setAccess(rules(bob));
    made.publish(0, frames('3'), 'door');
    await after(1000);
    expect(heard).toEqual([['1'], ['3']]);
    await settle(network.clock, made.close());
  });

  it('admits at a dealer only keys that may serve what it hands out, and disconnects those that no longer may', async () => {
    const made = host([door()], { access: rules(ada), onAccess, curve });
    await started(made);
    const [first, second] = [caller(ada), caller(bob)];
    await after(1000);
    expect(made.refusals.refused.key).toBeGreaterThan(0);
    const none = { protocol: 'x', counters: {}, dropped: {}, gauges: {}, services: [], workers: [], clients: [] };
    const { detail } = made.stats({ stats: () => ({}), detail: () => none }, { detail: true });
    const { clients, refused } = detail!;
    const key = encodeZ85(bob.publicKey);
    expect(clients).toEqual([{ id: key, key, open: 0, refused: { key: refused['key'] } }]);
    made.setAccess(rules(bob));
    await after(5000);
    expect(first.heard).toEqual(['gone']);
    second.port.send(ROUTER_PEER, frames('bob'));
    first.port.send(ROUTER_PEER, frames('ada'));
    await after(1000);
    expect(events).toEqual(['access', 'access', '9 message bob']);
    await settle(network.clock, made.close());
  });

  it('is refused at the start where messages carry no keys, and nothing is bound', async () => {
    const transport = network.transport('keyless');
    const made = new EngineHost<Event, Effect>(
      {
        name: 'Server',
        engine,
        sockets: [plan('1')],
        drain: 'drain',
        perform: () => undefined,
        access: rules(ada),
        onAccess,
      },
      () =>
        Promise.resolve({
          clock: transport.clock,
          entropy: transport.entropy,
          load: () => transport.load(),
          router: (options) => transport.router(options),
          dealer: (options) => transport.dealer(options),
          publisher: (options) => transport.publisher(options),
          subscriber: (options) => transport.subscriber(options),
        }),
    );
    const refused = { code: 'OPTIONS_INVALID', message: expect.stringContaining('--transport zmtp') as string };
    await expect(settle(network.clock, made.start())).rejects.toMatchObject(refused);
    expect(transport.openPorts).toBe(0);
  });

  it('is refused without CURVE for a dealer that anybody could connect to', async () => {
    const made = host([door()], { access: rules(ada), onAccess });
    const refused = { code: 'OPTIONS_INVALID', message: expect.stringContaining('set curve') as string };
    await expect(settle(network.clock, made.start())).rejects.toMatchObject(refused);
    const open = host([door()], { access: new Access([{ keys: '*', serve: ['*'] }]), onAccess });
    await started(open);
    expect(() => {
      open.setAccess(rules(ada));
    }).toThrow('set curve');
    await settle(network.clock, open.close());
  });
});
