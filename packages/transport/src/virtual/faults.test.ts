import { describe, expect, it } from 'vitest';
import type { NetworkEvent } from './events.js';
import { VirtualNetwork } from './network.js';
import type { VirtualNetworkOptions } from './network.js';
import { advance } from './run.js';
import { answer, dealer, router, say } from './test/pair.js';

const NUMBERS = Array.from({ length: 20 }, (_, i) => String(i));

/** A connected pair in two processes, the router having received 'hi'. */
async function pair(options: VirtualNetworkOptions = {}) {
  const network = new VirtualNetwork(options);
  const [near, far] = [network.transport('server'), network.transport('client')];
  const server = await router(near);
  const client = dealer(far);
  say(client, 'hi');
  await advance(network.clock, 500);
  expect(server.lines.splice(0)).toEqual(['hi']);
  return { network, near, far, server, client };
}

describe('crash', () => {
  it('is reported to the router, after a prefix of what was in flight', async () => {
    const kept = new Set<number>();
    for (let seed = 0; seed < 50; seed++) {
      const { network, far, server, client } = await pair({ seed });
      say(client, ...NUMBERS);
      network.crash(far);
      await advance(network.clock, 1000);
      expect(server.lines.at(-1)).toBe('gone');
      const arrived = server.lines.slice(0, -1);
      expect(arrived).toEqual(NUMBERS.slice(0, arrived.length));
      kept.add(arrived.length);
    }
    expect(kept.size).toBeGreaterThan(10);
  });

  it('is not reported where disconnect notices are off: the next send finds out', async () => {
    const { network, far, server } = await pair({ disconnectNotices: false });
    network.crash(far);
    await advance(network.clock, 1000);
    expect(server.lines).toEqual([]);
    answer(server, 'anybody?');
    expect(server.lines).toEqual(['unreachable: anybody?']);
  });

  it('of a router is not reported to dealers either then: they only reconnect', async () => {
    const { network, near, client } = await pair({ disconnectNotices: false });
    network.crash(near);
    const successor = await router(network.transport('server'));
    await advance(network.clock, 1000);
    say(client, 'hi again');
    await advance(network.clock, 1000);
    expect([client.lines, successor.lines]).toEqual([[], ['hi again']]);
  });

  it('when silent is noticed by heartbeats alone', async () => {
    const { network, far, server } = await pair();
    network.crash(far, { silent: true });
    await advance(network.clock, 5999);
    expect(server.lines).toEqual([]);
    await advance(network.clock, 2001);
    expect(server.lines).toEqual(['gone']);
  });

  it('of a router removes all routes; its dealers reconnect to the next one, which does not know them', async () => {
    const { network, near, server, client } = await pair();
    network.crash(near);
    const successor = await router(network.transport('server'));
    successor.port.send(server.peers[0]!, [Uint8Array.of(1)]);
    expect(successor.lines).toEqual(['unreachable: \u0001']);
    await advance(network.clock, 1000);
    say(client, 'again');
    await advance(network.clock, 1000);
    expect(successor.lines.slice(1)).toEqual(['again']);
    expect(successor.peers[0]!.key).not.toBe(server.peers[0]!.key);
  });

  it('leaves no timers and no sockets, and whatever the dead process still does has no effect', async () => {
    const { network, far, server, client } = await pair();
    let fired = false;
    far.clock.at(network.clock.now() + 10, () => {
      fired = true;
    });
    network.crash(far);
    expect([far.state, far.openPorts, far.armedTimers]).toEqual(['dead', 0, 0]);
    say(client, 'ghost');
    dealer(far);
    await client.port.close();
    await advance(network.clock, 1000);
    expect(fired).toBe(false);
    expect(server.lines).toEqual(['gone']);
  });
});

describe('pause', () => {
  it('delays messages and timers; both come late, once, and in order', async () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 20; seed++) {
      const { network, far, server, client } = await pair({ seed });
      const start = network.clock.now();
      for (const [delay, name] of [
        [300, 'second'],
        [200, 'first'],
      ] as const)
        far.clock.at(start + delay, () => {
          client.lines.push(`${name} timer at ${far.clock.now() - start}`);
        });
      network.pause(far);
      answer(server, 'a', 'b');
      await advance(network.clock, 1000);
      expect(client.lines).toEqual([]);
      network.resume(far);
      await advance(network.clock, 0);
      expect(client.lines.filter((line) => line.includes('timer'))).toEqual([
        'first timer at 1000',
        'second timer at 1000',
      ]);
      expect(client.lines.filter((line) => line.length === 1)).toEqual(['a', 'b']);
      orders.add(client.lines[0]!);
    }
    // Whether timers or messages come first is drawn from the seed.
    expect(orders.size).toBe(2);
  });

  it('keeps a timer that was cancelled meanwhile from firing', async () => {
    const { network, far } = await pair();
    const timer = far.clock.at(network.clock.now() + 10, () => {
      throw new Error('cancelled');
    });
    network.pause(far);
    await advance(network.clock, 100);
    timer.cancel();
    network.resume(far);
    await advance(network.clock, 100);
    expect(far.armedTimers).toBe(0);
  });

  it('costs the connection when it outlasts the heartbeats of the other side', async () => {
    const { network, far, server, client } = await pair();
    network.pause(far);
    await advance(network.clock, 9000);
    expect(server.lines).toEqual(['gone']);
    network.resume(far);
    await advance(network.clock, 1000);
    say(client, 'back');
    await advance(network.clock, 100);
    expect(server.lines).toEqual(['gone', 'back']);
    expect(server.peers[1]!.key).not.toBe(server.peers[0]!.key);
  });

  it('of the router admits nobody until it resumes', async () => {
    const { network, near, server } = await pair();
    network.pause(near);
    say(dealer(network.transport()), 'hello');
    await advance(network.clock, 1000);
    expect(server.lines).toEqual([]);
    network.resume(near);
    await advance(network.clock, 1000);
    expect(server.lines).toEqual(['hello']);
  });

  it('does nothing twice, and nothing to dead processes', async () => {
    const { network, far } = await pair();
    network.resume(far);
    network.crash(far);
    network.pause(far);
    expect(far.state).toBe('dead');
  });
});

describe('partition', () => {
  it('delays messages, which arrive in order when it heals in time', async () => {
    const { network, server, client } = await pair();
    network.partition('client', 'server');
    say(client, ...NUMBERS);
    answer(server, ...NUMBERS);
    await advance(network.clock, 4000);
    expect([server.lines, client.lines]).toEqual([[], []]);
    network.heal('server', 'client');
    await advance(network.clock, 0);
    expect([server.lines, client.lines]).toEqual([NUMBERS, NUMBERS]);
  });

  it('ends the connection on both sides when it lasts; what was in flight is lost, what was not yet sent is not', async () => {
    const { network, server, client } = await pair();
    network.partition('client', 'server');
    say(client, 'lost?');
    await advance(network.clock, 10_000);
    expect(server.lines).toEqual(['gone']);
    say(client, 'kept');
    await advance(network.clock, 10_000);
    network.heal('client', 'server');
    await advance(network.clock, 1000);
    expect(server.lines.at(-1)).toBe('kept');
  });

  it('applies to names: a restarted process is as cut off as the old one was', async () => {
    const { network, far, server } = await pair();
    network.partition('client', 'server');
    network.crash(far);
    say(dealer(network.transport('client')), 'hello');
    say(dealer(network.transport('elsewhere')), 'hallo');
    await advance(network.clock, 1000);
    expect(server.lines).toEqual(['hallo']);
  });
});

describe('cut', () => {
  it('loses a suffix each way and nothing afterwards', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const { network, server, client } = await pair({ seed });
      say(client, ...NUMBERS);
      answer(server, ...NUMBERS);
      network.cut('client', 'server');
      await advance(network.clock, 1000);
      const heard = server.lines.splice(0);
      expect(heard.pop()).toBe('gone');
      expect(heard).toEqual(NUMBERS.slice(0, heard.length));
      expect(client.lines.pop()).toBe('gone');
      expect(client.lines).toEqual(NUMBERS.slice(0, client.lines.length));
      say(client, 'again');
      await advance(network.clock, 100);
      expect(server.lines).toEqual(['again']);
    }
  });
});

describe('a routing id in use', () => {
  const fixed = { routingId: Uint8Array.of(0x77) };

  it('makes the second connection mute for good without handover', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport());
    const first = network.transport();
    say(dealer(first, fixed), 'first');
    await advance(network.clock, 100);
    const second = dealer(network.transport(), fixed);
    say(second, 'unheard');
    await advance(network.clock, 100);
    network.crash(first);
    await advance(network.clock, 100);
    say(second, 'unheard too');
    await advance(network.clock, 100);
    expect(server.lines).toEqual(['first', 'gone']);
  });

  it('passes to the second connection with handover, and only the old dealer is notified', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport(), { handover: true });
    const old = network.transport('old');
    const first = dealer(old, fixed);
    say(first, 'first');
    await advance(network.clock, 100);
    const second = dealer(network.transport(), fixed);
    say(second, 'second');
    await advance(network.clock, 10);
    answer(server, 'hello');
    network.crash(old);
    await advance(network.clock, 100);
    expect(server.lines).toEqual(['first', 'second']);
    expect([first.lines, second.lines]).toEqual([['gone'], ['hello']]);
  });

  it('may return on a new connection after the old one ended', async () => {
    const network = new VirtualNetwork();
    const server = await router(network.transport());
    const first = network.transport();
    say(dealer(first, fixed), 'first');
    await advance(network.clock, 100);
    network.crash(first);
    say(dealer(network.transport(), fixed), 'second');
    await advance(network.clock, 1000);
    expect(server.lines).toEqual(['first', 'gone', 'second']);
  });
});

describe('late wake-ups', () => {
  it('fire timers after their deadline, by no more than requested', async () => {
    const { network, far } = await pair();
    network.delayTimers(far, 50);
    const late: number[] = [];
    const start = network.clock.now();
    for (let i = 0; i < 100; i++) far.clock.at(start + 10, () => late.push(network.clock.now() - start - 10));
    await advance(network.clock, 60);
    expect(late).toHaveLength(100);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...late)).toBeGreaterThan(25);
  });
});

describe('a seed', () => {
  async function run(seed: number): Promise<string[]> {
    const events: string[] = [];
    const observe = (event: NetworkEvent) =>
      events.push(JSON.stringify(event, (_key, value: unknown) => (value instanceof Uint8Array ? [...value] : value)));
    const { network, far, server, client } = await pair({ seed, timing: { latencyMs: 1, jitterMs: 9 }, observe });
    for (let round = 0; round < 5; round++) {
      say(client, ...NUMBERS);
      answer(server, ...NUMBERS);
      await advance(network.clock, 3);
      network.cut('client', 'server');
      network.pause(far);
      await advance(network.clock, 500);
      network.resume(far);
      await advance(network.clock, 500);
      events.push(`${far.entropy.uuid()} ${network.clock.now()}`);
    }
    return events;
  }

  it('gives the same run every time, and another seed gives another', async () => {
    const first = await run(1);
    expect(first.length).toBeGreaterThan(100);
    expect(await run(1)).toEqual(first);
    expect(await run(2)).not.toEqual(first);
  });
});
