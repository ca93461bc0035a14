/** Dealers by number, over the network in memory. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Dealers } from './dealers.js';
import { Departures } from './departures.js';
import { advance, VirtualNetwork } from './virtual/index.js';
import { ENDPOINT, frames, Recorder, router } from './virtual/test/pair.js';

const NOWHERE = 'tcp://sim:9';
/** One message is handed over before there is a connection. */
const OPTIONS = { lingerMs: 100, highWaterMark: 1 };

let network: VirtualNetwork;
let dealers: Dealers;

beforeEach(() => {
  network = new VirtualNetwork();
  dealers = new Dealers();
});

function open(socket: number, endpoint = ENDPOINT, listener = new Recorder()): unknown {
  return dealers.open(socket, network.transport('dealers'), { endpoint, options: OPTIONS, listener });
}

async function isOver(): Promise<boolean> {
  let over = false;
  void dealers.over().then(() => (over = true));
  await advance(network.clock, 0);
  return over;
}

describe('dealers', () => {
  it('each speaks for its number, and for no other', async () => {
    const { lines, port } = await router(network.transport('router'));
    const heard = new Recorder();
    expect([open(1), open(2, ENDPOINT, heard)]).toEqual([undefined, undefined]);
    dealers.send(2, frames('two'));
    dealers.send(3, frames('nobody'));
    await advance(network.clock, 100);
    expect(lines).toEqual(['two']);
    await port.close();
    await advance(network.clock, 100);
    expect(heard.lines).toEqual(['gone']);
  });

  it('bind once the one before has left, and speak to whoever comes', async () => {
    const heard = new Recorder();
    const bind = (socket: number) =>
      dealers.bind(socket, network.transport('dealers'), { endpoint: ENDPOINT, options: OPTIONS, listener: heard });
    expect(await bind(1)).toBeUndefined();
    dealers.close(1, false);
    const second = bind(2);
    await advance(network.clock, 100);
    expect(await second).toBeUndefined();
    expect(await bind(3)).toMatchObject({ code: 'ADDRESS_IN_USE' });
    dealers.send(3, frames('nobody'));
    const left = bind(4);
    dealers.close(4, true);
    expect(await left).toBeUndefined();
    dealers.send(2, frames('hello'));
    expect(dealers.pending).toBe(1);
    dealers.close(2, false);
    await advance(network.clock, 100);
    expect(await isOver()).toBe(true);
  });

  it('hand over at the end what waits, if they are told to flush', async () => {
    expect([open(1), open(2)]).toEqual([undefined, undefined]);
    dealers.send(1, frames('flushed'));
    dealers.send(2, frames('discarded'));
    dealers.close(1, true);
    dealers.close(2, false);
    dealers.close(3, true);
    const { lines } = await router(network.transport('router'));
    await advance(network.clock, 1000);
    expect(lines).toEqual(['flushed', 'gone']);
  });

  it('are over when the last one has left, and take no word once they are told to leave', async () => {
    open(1, NOWHERE);
    for (const text of ['handed over', 'waits']) dealers.send(1, frames(text));
    dealers.close(1, true);
    dealers.send(1, frames('too late'));
    expect(await isOver()).toBe(false);
    await advance(network.clock, 100);
    expect(await isOver()).toBe(true);
  });

  it('leave where others leave too', async () => {
    const departures = new Departures();
    dealers = new Dealers(departures);
    const close = vi.fn(() => Promise.resolve());
    departures.add({ close }, 7);
    departures.add({ close });
    expect(close.mock.calls).toEqual([[{ lingerMs: 7 }], [{}]]);
    expect(await isOver()).toBe(true);
  });

  it('hand back what the transport has against one, and leave no socket open', () => {
    const transport = network.transport('dealers');
    const port = transport.dealer();
    const close = vi.spyOn(port, 'close');
    vi.spyOn(transport, 'dealer').mockReturnValue(port);
    const plan = { endpoint: 'no endpoint', options: {}, listener: new Recorder() };
    expect(dealers.open(1, transport, plan)).toMatchObject({ code: 'OPTIONS_INVALID' });
    expect(close.mock.calls).toEqual([[{ lingerMs: 0 }]]);
    dealers.close(1, true);
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('hand back what the transport has against making one', () => {
    const transport = network.transport('dealers');
    const error = new Error('no more sockets');
    vi.spyOn(transport, 'dealer').mockImplementation(() => {
      throw error;
    });
    expect(dealers.open(1, transport, { endpoint: ENDPOINT, options: {}, listener: new Recorder() })).toBe(error);
  });

  it('tell how much waits where most does', () => {
    expect(dealers.pending).toBe(0);
    open(1, NOWHERE);
    open(2, NOWHERE);
    for (const text of ['a', 'b']) dealers.send(1, frames(text));
    for (const text of ['a', 'b', 'c', 'd']) dealers.send(2, frames(text));
    expect(dealers.pending).toBe(3);
    dealers.close(2, false);
    expect(dealers.pending).toBe(1);
  });
});
