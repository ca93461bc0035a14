import { ROUTER_PEER } from '@proj/transport';
import type { PortListener, SocketPort } from '@proj/transport';
import type { NetworkEvent, VirtualTransport } from '@proj/transport/virtual';
import { describe, expect, it } from 'vitest';
import { Faults } from './faults.js';
import { closeAndCheckLeaks } from './leaks.js';
import { runSeed, seedsToRun } from './seeds.js';
import { Simulation } from './simulation.js';
import type { Program } from './simulation.js';
import { Trace } from './trace.js';

const deaf: PortListener = {
  onMessage: () => undefined,
  onPeerGone: () => undefined,
  onUndeliverable: () => undefined,
  onRejected: () => undefined,
  onBroken: () => undefined,
};

async function listener(transport: VirtualTransport): Promise<Program> {
  const port = transport.router();
  await port.bind('tcp://sim:1');
  port.start(deaf);
  return port;
}

/** Sends its name every 50 ms. */
function talker(transport: VirtualTransport): Program {
  const port: SocketPort = transport.dealer();
  port.connect('tcp://sim:1');
  port.start(deaf);
  let timer = transport.clock.at(0, tick);
  function tick(): void {
    port.send(ROUTER_PEER, [new TextEncoder().encode(transport.name)]);
    timer = transport.clock.at(transport.clock.now() + 50, tick);
  }
  return {
    close: () => {
      timer.cancel();
      return port.close();
    },
  };
}

function cluster(seed: number, start = talker): Simulation {
  const simulation = new Simulation({ seed, timing: { latencyMs: 1, jitterMs: 5 } });
  simulation.host('server', listener);
  for (const name of ['a', 'b', 'c']) simulation.host(name, start);
  for (const host of simulation.hosts) host.start();
  return simulation;
}

async function withFaults(seed: number): Promise<Simulation> {
  const simulation = cluster(seed);
  const [server, ...talkers] = simulation.hosts;
  const links = talkers.map((host) => [host, server!] as const);
  const faults = new Faults(simulation, {
    hosts: simulation.hosts,
    restarts: simulation.hosts,
    links,
    meanGapMs: 100,
    longestMs: 2000,
  });
  await simulation.run(10_000);
  faults.heal();
  expect(faults.count).toBeGreaterThan(50);
  return simulation;
}

describe('a trace', () => {
  const EVENTS = 5000;

  /** The hash of as many messages, of which this one has another byte at its end. */
  function hashOf(different: number): string {
    const trace = new Trace();
    for (let number = 0; number < EVENTS; number++) {
      const frames = [Uint8Array.of(1, 2, number === different ? 254 : 255)];
      trace.add(number, { kind: 'sent', process: 'w1', socket: 'dealer', socketNumber: 1, peer: ROUTER_PEER, frames });
    }
    return trace.hash;
  }

  it.each([0, EVENTS / 2, EVENTS - 1])('has another hash if one byte of event %i differs', (different) => {
    expect(hashOf(different)).not.toBe(hashOf(EVENTS));
    expect(hashOf(different)).toBe(hashOf(different));
  });

  it('has another hash for other text, whatever characters it has', () => {
    const [one, other] = ['a', '\u0161'].map((text) => {
      const trace = new Trace();
      trace.add(0, text);
      return trace.hash;
    });
    expect(one).not.toBe(other);
  });
});

describe('a simulation', () => {
  it('repeats itself exactly for the same seed, and for no other', async () => {
    const [first, again, other] = [await withFaults(1), await withFaults(1), await withFaults(2)];
    expect(first.trace.count).toBeGreaterThan(500);
    expect(again.trace.hash).toBe(first.trace.hash);
    expect(other.trace.hash).not.toBe(first.trace.hash);
  });

  it('is whole after healing: every host is up and every message arrives', async () => {
    for (let seed = 0; seed < 10; seed++) {
      const simulation = await withFaults(seed);
      // A machine that died silently is missed after one ZMTP heartbeat and its timeout.
      await simulation.run(9000);
      const heard = new Map<string, number>();
      simulation.watch({
        onEvent(event: NetworkEvent) {
          if (event.kind !== 'delivered') return;
          const name = new TextDecoder().decode(event.frames[0]);
          heard.set(name, (heard.get(name) ?? 0) + 1);
        },
      });
      await simulation.run(1000);
      expect(simulation.hosts.every((host) => host.isUp)).toBe(true);
      expect([...heard.keys()].sort()).toEqual(['a', 'b', 'c']);
      expect(Math.min(...heard.values())).toBeGreaterThanOrEqual(18);
    }
  });

  it('stops at the first failure and shows what led to it', async () => {
    const simulation = cluster(1);
    simulation.watch({
      onEvent: (event, now) => {
        if (now > 500 && event.kind === 'delivered') throw new Error('too late');
      },
    });
    const error = await simulation.run(10_000).then(
      () => undefined,
      (cause: unknown) => cause as Error,
    );
    expect(error?.message).toMatch(/^at 5\d\d\.\d+ ms: watcher: too late\n/);
    expect(error?.message.split('\n').at(-1)).toContain('FAILED: watcher: too late');
    expect(simulation.clock.now()).toBeLessThan(700);
  });

  it('fails if a program does not start', async () => {
    const simulation = cluster(1);
    simulation.host('second server', listener).start();
    await expect(simulation.run(1)).rejects.toThrow('second server did not start: ProjError: endpoint "tcp://sim:1"');
  });

  it('says what it waited for in vain', async () => {
    const simulation = cluster(1);
    await expect(
      simulation.runUntil(
        () => false,
        1000,
        () => 'the end of days',
      ),
    ).rejects.toThrow('after 1000 ms still not: the end of days');
  });
});

describe('the leak check', () => {
  it('passes what closes cleanly', async () => {
    await closeAndCheckLeaks(cluster(1));
  });

  it('finds a socket and a timer that survive', async () => {
    const forgetful = (transport: VirtualTransport): Program => {
      talker(transport);
      return { close: () => Promise.resolve() };
    };
    await expect(closeAndCheckLeaks(cluster(1, forgetful))).rejects.toThrow(/a leaks 1 sockets and \d timers/);
  });

  it('finds a program that never ends', async () => {
    const stubborn = (): Program => ({ close: () => new Promise(() => undefined) });
    await expect(closeAndCheckLeaks(cluster(1, stubborn))).rejects.toThrow('still not: closed: a, b, c');
  });
});

describe('seeds', () => {
  it.each([
    [{ SIM_SEED: '7' }, [7]],
    [{ SIM_SEEDS: '2' }, [0, 1]],
    [{ SIM_SEEDS: '5-6' }, [5, 6]],
  ])('come from the environment %j', (env, seeds) => {
    expect(seedsToRun(3, env)).toEqual(seeds);
  });

  it.each([0, 1, 20, 21, 200])('%i of them are shared by npm test and the task long, none twice', (count) => {
    const all = Array.from({ length: count }, (_, seed) => seed);
    const short = seedsToRun(count, {});
    expect([...short, ...seedsToRun(count, { PROJ_LONG: '1' })]).toEqual(all);
    expect(short.length).toBeLessThanOrEqual(20);
  });

  it('refuse text that is not a number', () => {
    expect(() => seedsToRun(3, { SIM_SEED: 'x' })).toThrow('SIM_SEED=x');
  });

  it('that fail end with the command that repeats them', async () => {
    const failing = runSeed(41, 'simulation/mdp', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow(/^seed 41 [^]*\nRepeat it: SIM_SEED=41 npm test -- simulation\/mdp$/);
  });
});
