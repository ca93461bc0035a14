/** The host of a peer over the in-memory network, with an engine that does what the test says. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Departures } from './departures.js';
import type { Engine } from './engine/engine.js';
import { ProjError } from './errors.js';
import { ROUTER_PEER } from './port.js';
import type { PortListener, Transport } from './port.js';
import { SessionHost } from './session-host.js';
import type { SessionProgram } from './session-program.js';
import { advance, VirtualNetwork } from './virtual/index.js';
import { ENDPOINT, frames, router } from './virtual/test/pair.js';

const NOWHERE = 'tcp://sim:9';
/** One message is handed over before there is a connection. */
const PORT = { lingerMs: 100, highWaterMark: 1 };

type Event = string;
type Effect = () => void;

let network: VirtualNetwork;
let events: Event[];
let errors: unknown[];
/** What the engine wants done in its next step. */
let effects: Effect[];

beforeEach(() => {
  network = new VirtualNetwork();
  events = [];
  errors = [];
  effects = [];
});

const engine: Engine<Event, Effect> = {
  deadline: Infinity,
  step: (event) => {
    events.push(event as Event);
    return effects.splice(0);
  },
  assertInvariants: () => undefined,
};

const textOf = ([frame]: readonly Uint8Array[]) => Buffer.from(frame ?? []).toString();

function hostOf(
  transport: Transport | (() => Promise<Transport>) = network.transport('peer'),
  more: Partial<SessionProgram<Event, Effect>> = {},
  departures?: Departures,
): SessionHost<Event, Effect> {
  return new SessionHost<Event, Effect>(
    {
      engine,
      perform: (effect) => {
        effect();
      },
      onMessage: (socket, message) => `${socket} message ${textOf(message)}`,
      onRejected: (socket, reason) => `${socket} rejected ${reason}`,
      onLost: (socket, reason) => `${socket} ${reason}`,
      onRefused: () => undefined,
      onError: (error) => void errors.push(error),
      ...more,
    },
    transport,
    departures,
  );
}

const at = (endpoint = ENDPOINT) => ({ endpoints: [endpoint], port: PORT });

async function isOver(host: SessionHost<Event, Effect>): Promise<boolean> {
  let over = false;
  void host.over().then(() => (over = true));
  await advance(network.clock, 0);
  return over;
}

describe('sockets of a session host', () => {
  it('each speaks for its own number and for no other', async () => {
    const { lines, port } = await router(network.transport('router'));
    const host = hostOf();
    host.open(1, at());
    host.open(2, at());
    host.send(2, frames('two'));
    host.send(3, frames('nobody'));
    await advance(network.clock, 100);
    expect(lines).toEqual(['two']);
    await port.close();
    await advance(network.clock, 100);
    expect(events).toEqual(['1 peer-gone', '2 peer-gone']);
  });

  it('bind once the previous one has left, and speak to whoever connects', async () => {
    const host = hostOf(undefined, { onBound: (socket) => `${socket} bound` });
    await host.bind(1, at());
    host.closeSocket(1, false);
    const second = host.bind(2, at());
    await advance(network.clock, 100);
    await second;
    await host.bind(3, at());
    expect(errors).toMatchObject([{ code: 'ADDRESS_IN_USE' }]);
    const left = host.bind(4, at());
    host.closeSocket(4, true);
    await left;
    host.send(2, frames('hello'));
    expect(host.pending).toBe(1);
    host.closeSocket(2, false);
    await advance(network.clock, 100);
    expect(await isOver(host)).toBe(true);
    expect(events.slice(0, 3)).toEqual(['1 bound', '2 bound', '3 socket-failed']);
  });

  it('hand over what waits at the end if told to flush', async () => {
    const host = hostOf();
    host.open(1, at());
    host.open(2, at());
    host.send(1, frames('flushed'));
    host.send(2, frames('discarded'));
    host.closeSocket(1, true);
    host.closeSocket(2, false);
    host.closeSocket(3, true);
    const { lines } = await router(network.transport('router'));
    await advance(network.clock, 1000);
    expect(lines).toEqual(['flushed', 'gone']);
  });

  it('are over when the last one has left, and accept nothing once told to leave', async () => {
    const host = hostOf();
    host.open(1, at(NOWHERE));
    for (const text of ['handed over', 'waits']) host.send(1, frames(text));
    host.closeSocket(1, true);
    host.send(1, frames('too late'));
    expect(await isOver(host)).toBe(false);
    await advance(network.clock, 100);
    expect(await isOver(host)).toBe(true);
  });

  it('leave where others leave too', async () => {
    const departures = new Departures();
    const close = vi.fn(() => Promise.resolve());
    departures.add({ close }, 7);
    departures.add({ close });
    expect(close.mock.calls).toEqual([[{ lingerMs: 7 }], [{}]]);
    expect(await isOver(hostOf(undefined, {}, departures))).toBe(true);
  });

  it('that the transport refuses are lost and reported, and none stays open', () => {
    const transport = network.transport('peer');
    const port = transport.dealer();
    const close = vi.spyOn(port, 'close');
    vi.spyOn(transport, 'dealer').mockReturnValue(port);
    const host = hostOf(transport);
    effects.push(() => {
      host.open(1, at('no endpoint'));
    });
    expect(() => {
      host.start('start');
    }).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }) as Error);
    expect(close.mock.calls).toEqual([[{ lingerMs: 0 }]]);
    expect(events).toEqual(['start', '1 socket-failed']);
    expect(errors).toMatchObject([{ code: 'OPTIONS_INVALID' }]);
    host.closeSocket(1, true);
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('that cannot be made say why, where the engine wants to know', () => {
    const transport = network.transport('peer');
    vi.spyOn(transport, 'dealer').mockImplementation(() => {
      throw new Error('no more sockets');
    });
    hostOf(transport, { onUnopened: (socket, cause) => `${socket}: ${String(cause)}` }).open(1, at());
    expect(events).toEqual(['1: Error: no more sockets']);
  });

  it('report how much waits at the one with the most', () => {
    const host = hostOf();
    expect(host.pending).toBe(0);
    host.open(1, at(NOWHERE));
    host.open(2, at(NOWHERE));
    for (const text of ['a', 'b']) host.send(1, frames(text));
    for (const text of ['a', 'b', 'c', 'd']) host.send(2, frames(text));
    expect(host.pending).toBe(3);
    host.closeSocket(2, false);
    expect(host.pending).toBe(1);
  });

  it('report what was sent, did not go out or exceeded the limits, where the engine wants to know', async () => {
    const { port } = await router(network.transport('router'));
    const host = hostOf(undefined, {
      onSent: (socket, message) => `${socket} sent ${textOf(message)}`,
      onUndeliverable: (socket, message) => `${socket} unsent ${textOf(message)}`,
    });
    host.open(1, { endpoints: [ENDPOINT], port: { ...PORT, peerQueueMax: 1 } });
    await advance(network.clock, 100);
    host.send(1, frames('one'));
    await advance(network.clock, 100);
    expect(events).toEqual(['1 sent one']);
    await port.close();
    await advance(network.clock, 100);
    for (const text of ['a', 'b', 'c']) host.send(1, frames(text));
    expect(events.filter((event) => event.includes('unsent')).at(-1)).toBe('1 unsent c');
  });
});

describe('a transport that loads late', () => {
  it('is loaded with the first task, which waits for it with the others, in order', async () => {
    const load = vi.fn(() => Promise.resolve(network.transport('peer')));
    const host = hostOf(load);
    host.dispatch('before');
    expect(load).not.toHaveBeenCalled();
    for (const text of ['a', 'b'])
      host.whenLoaded(
        () => {
          host.dispatch(text);
        },
        () => undefined,
      );
    expect([host.early, events]).toEqual([2, []]);
    await host.load();
    await Promise.resolve();
    expect([host.early, events]).toEqual([0, ['a', 'b']]);
    host.whenLoaded(
      () => {
        host.dispatch('c');
      },
      () => undefined,
    );
    expect(events).toEqual(['a', 'b', 'c']);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('runs calls that arrive while it loads in their order, whoever made them', async () => {
    const source = network.transport('peer');
    const host = hostOf(() => Promise.resolve(source));
    const order: string[] = [];
    const task = (name: string, then?: () => void) => {
      host.whenLoaded(
        () => {
          order.push(name);
          then?.();
        },
        () => undefined,
      );
    };
    task('a', () => {
      task('c');
    });
    task('b');
    // In the turns in which it is loaded, and after them.
    while (order.length < 3) {
      if (host.transport !== undefined && !order.includes('a')) task('too early');
      await Promise.resolve();
    }
    task('d');
    expect(order).toEqual(['a', 'b', 'c', 'd']);
  });

  it('that cannot be loaded fails all waiting calls, and is tried again by the next', async () => {
    const failure = new ProjError('UNAVAILABLE', 'none here');
    const load = vi.fn(() => Promise.reject<Transport>(failure));
    const host = hostOf(load);
    const failures: unknown[] = [];
    const fail = (error: unknown) => void failures.push(error);
    host.whenLoaded(() => undefined, fail);
    host.whenLoaded(() => undefined, fail);
    await expect(host.load()).rejects.toBe(failure);
    await advance(network.clock, 0);
    expect(failures).toEqual([failure, failure]);
    load.mockResolvedValueOnce(network.transport('peer'));
    expect(await host.load()).toBe(host.transport);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('finds nothing to do once the host is closed: waiting calls fail without a reason', async () => {
    const host = hostOf(() => Promise.resolve(network.transport('peer')));
    const run = vi.fn();
    const fail = vi.fn();
    host.whenLoaded(run, fail);
    await host.close('close');
    await advance(network.clock, 0);
    host.whenLoaded(run, fail);
    host.dispatch('late');
    expect(run).not.toHaveBeenCalled();
    expect(fail.mock.calls).toEqual([[undefined], [undefined]]);
    expect([host.transport, events]).toEqual([undefined, []]);
  });
});

describe('whom a session host could not reach', () => {
  const REFUSAL = { reason: 'key' } as const;

  const NOBODY = 'connection refused';
  const unmet = (reason: unknown): readonly unknown[] => [{ endpoint: ENDPOINT, reason }];

  it.each<[string, (listener: PortListener) => void, readonly unknown[], readonly string[]]>([
    ['no connection', (listener) => listener.onConnection?.(NOBODY), unmet(NOBODY), []],
    ['a refused key', (listener) => listener.onRefused?.(REFUSAL), unmet(REFUSAL), []],
    [
      'a connection at last',
      (listener) => {
        listener.onConnection?.(NOBODY);
        listener.onConnection?.(undefined);
      },
      [],
      [ENDPOINT],
    ],
    [
      'a message at last',
      (listener) => {
        listener.onConnection?.(NOBODY);
        listener.onMessage(ROUTER_PEER, frames('hello'));
      },
      [],
      [],
    ],
    [
      'a connection that ended',
      (listener) => {
        listener.onConnection?.(undefined);
        listener.onPeerGone(ROUTER_PEER);
      },
      [],
      [],
    ],
    [
      'a connection that could not be made again',
      (listener) => {
        listener.onConnection?.(undefined);
        listener.onConnection?.(NOBODY);
      },
      unmet(NOBODY),
      [],
    ],
    [
      'a connection after which the key was refused',
      (listener) => {
        listener.onConnection?.(undefined);
        listener.onRefused?.(REFUSAL);
      },
      unmet(REFUSAL),
      [],
    ],
  ])('%s', (_what, happen, expected, connected) => {
    const { host, listener } = listening();
    happen(listener);
    expect(host.unmet([ENDPOINT, NOWHERE, ENDPOINT])).toEqual(expected);
    expect(host.met([ENDPOINT, NOWHERE, ENDPOINT])).toEqual(connected);
  });

  it('a new socket whose connection is still unknown', () => {
    const { host, listener } = listening();
    listener.onConnection?.(undefined);
    host.closeSocket(1, false);
    expect(host.met([ENDPOINT])).toEqual([ENDPOINT]);
    host.open(2, at());
    expect(host.met([ENDPOINT])).toEqual([]);
  });

  function listening() {
    const transport = network.transport('peer');
    const port = transport.dealer();
    let listener: PortListener | undefined;
    vi.spyOn(port, 'start').mockImplementation((given) => {
      listener = given;
    });
    vi.spyOn(transport, 'dealer').mockReturnValue(port);
    const host = hostOf(transport);
    host.open(1, at());
    return { host, listener: listener as unknown as PortListener };
  }
});

describe('the end of a session host', () => {
  it('by close: the engine learns it last, and every socket closes', async () => {
    const host = hostOf();
    host.open(1, at(NOWHERE));
    const closed = host.close('close');
    host.dispatch('late');
    await closed;
    host.dispatch('later');
    expect(events).toEqual(['close', 'late']);
    expect(await isOver(host)).toBe(true);
  });

  it('by close out of an effect: the event is delivered when the step is done', async () => {
    const host = hostOf();
    let closed: Promise<void> | undefined;
    effects.push(() => {
      closed = host.close('close');
    });
    host.dispatch('step');
    await closed;
    expect(events).toEqual(['step', 'close']);
  });

  it('by finish: when the engine says so', async () => {
    const host = hostOf();
    let finished = false;
    void host.finish('drain').then(() => (finished = true));
    await advance(network.clock, 0);
    expect(finished).toBe(false);
    host.ended();
    await host.done;
    await advance(network.clock, 0);
    expect(finished).toBe(true);
    host.dispatch('late');
    expect(events).toEqual(['drain']);
  });
});

describe('the life of a session host whose sockets stay open', () => {
  const plan = { sockets: [at()], started: 'started', drain: 'end', close: 'close' };

  it('starts once: loads the transport, opens the sockets, then tells the engine', async () => {
    const { lines } = await router(network.transport('router'));
    const load = vi.fn(() => Promise.resolve(network.transport('peer')));
    const host = hostOf(load);
    const life = host.life(plan);
    await Promise.all([life.start(), life.start()]);
    host.send(0, frames('hello'));
    await advance(network.clock, 100);
    expect([load.mock.calls.length, events, lines]).toEqual([1, ['started'], ['hello']]);
    await life.close();
  });

  it('drains until the engine has ended, then closes the sockets', async () => {
    const transport = network.transport('peer');
    const host = hostOf(transport);
    const life = host.life(plan);
    await life.start();
    let drained = false;
    void life.drain().then(() => (drained = true));
    await advance(network.clock, 0);
    expect([events, drained, transport.openPorts]).toEqual([['started', 'end'], false, 1]);
    host.ended();
    await advance(network.clock, 100);
    expect([events, drained, transport.openPorts]).toEqual([['started', 'end'], true, 0]);
  });

  it('closes instead of draining when its engine has nothing to finish', async () => {
    const life = hostOf().life({ sockets: [], close: 'close' });
    await life.start();
    await life.drain();
    expect(events).toEqual(['close']);
  });

  it('closes at once, also during a drain, and does not start again', async () => {
    const transport = network.transport('peer');
    const life = hostOf(transport).life(plan);
    await life.start();
    const drained = life.drain();
    await life.close();
    await drained;
    expect(transport.openPorts).toBe(0);
    await expect(life.start()).rejects.toMatchObject({ code: 'CLOSED' });
    const late = hostOf(() => Promise.resolve(transport)).life(plan);
    const starting = late.start();
    await late.drain();
    await expect(starting).rejects.toMatchObject({ code: 'CLOSED' });
    await expect(late.start()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('leaves no socket open when one cannot be opened, and may be started again', async () => {
    const transport = network.transport('peer');
    const host = hostOf(transport, { onError: undefined as never });
    const reported: unknown[] = [];
    const life = host.life({ ...plan, sockets: [at(), at('nonsense')] });
    life.on('error', (error) => void reported.push(error));
    await expect(life.start()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await advance(network.clock, 0);
    expect([transport.openPorts, reported.length, events]).toEqual([0, 1, ['1 socket-failed']]);
    await expect(life.start()).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });
});
