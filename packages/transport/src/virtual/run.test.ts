import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../engine/engine.js';
import { AutoClock } from './auto-clock.js';
import { VirtualNetwork } from './network.js';
import { advance, settle } from './run.js';
import { dealer, router, say } from './test/pair.js';

const at = (clock: ManualClock, deadline: number) =>
  new Promise<number>((resolve) => {
    clock.at(deadline, () => {
      resolve(clock.now());
    });
  });

describe('advance', () => {
  it('lets promises run between events, so that the timers they set fall due on the way', async () => {
    const clock = new ManualClock();
    const times: number[] = [];
    const loop = async () => {
      for (let i = 1; i <= 5; i++) times.push(await at(clock, i * 10));
    };
    void loop();
    await advance(clock, 35);
    expect(times).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(35);
  });
});

describe('a loop of timers that are due at once', () => {
  it('is found instead of running forever', async () => {
    const clock = new ManualClock();
    const again = () => void clock.at(clock.now(), again);
    again();
    await expect(advance(clock, 10)).rejects.toThrow('time stands still at 0 ms');
    await expect(settle(clock, new Promise(() => undefined))).rejects.toThrow('time stands still');
  });
});

describe('settle', () => {
  it('moves time until the promise is fulfilled, no further', async () => {
    const clock = new ManualClock();
    clock.at(99, () => undefined);
    expect(await settle(clock, at(clock, 40))).toBe(40);
    expect(clock.now()).toBe(40);
  });

  it('passes a rejection on', async () => {
    const clock = new ManualClock();
    const failing = at(clock, 10).then(() => {
      throw new Error('as expected');
    });
    await expect(settle(clock, failing)).rejects.toThrow('as expected');
  });

  it('throws when nothing can happen any more', async () => {
    await expect(settle(new ManualClock(), new Promise(() => undefined))).rejects.toThrow('no timer is armed');
  });

  it('throws when too much time passes', async () => {
    const clock = new ManualClock();
    const tick = () => void clock.at(clock.now() + 1000, tick);
    tick();
    await expect(settle(clock, new Promise(() => undefined), 5000)).rejects.toThrow('after 5000 ms');
  });
});

describe('AutoClock', () => {
  it('runs a network without being advanced, and rests when nothing is left to do', async () => {
    const clock = new AutoClock();
    const network = new VirtualNetwork({ clock, timing: { latencyMs: 250 } });
    const server = await router(network.transport());
    const client = dealer(network.transport());
    const heard = new Promise<void>((resolve) => {
      server.onMessage = () => {
        resolve();
      };
    });
    say(client, 'hello');
    await heard;
    expect(clock.now()).toBeGreaterThanOrEqual(500);
    await Promise.all([client.port.close(), server.port.close()]);
    expect(clock.armed).toBe(0);
  });
});

describe('probe', () => {
  const engine = (fail: boolean): Engine<never, unknown> => ({
    deadline: Infinity,
    step: () => [],
    assertInvariants() {
      if (fail) throw new Error('broken');
    },
  });

  it('checks the invariants unless told otherwise', () => {
    const transport = new VirtualNetwork().transport();
    transport.probe(engine(false));
    expect(() => {
      transport.probe(engine(true));
    }).toThrow('broken');
  });

  it('can be replaced, and says whose engine it is', () => {
    const seen: string[] = [];
    const network = new VirtualNetwork({ probe: (_engine, transport) => seen.push(transport.name) });
    network.transport('w1').probe(engine(true));
    expect(seen).toEqual(['w1']);
  });
});

describe('transport', () => {
  it('has its own entropy per process and incarnation, repeatable from the seed', () => {
    const draw = () => {
      const network = new VirtualNetwork({ seed: 3 });
      return [network.transport('a'), network.transport('b'), network.transport('a')].map(({ entropy }) => [
        entropy.uuid(),
        entropy.random(),
      ]);
    };
    expect(draw()).toEqual(draw());
    expect(new Set(draw().map(String)).size).toBe(3);
  });

  it('has a wall clock that moves with the virtual one', () => {
    const network = new VirtualNetwork();
    const { entropy } = network.transport();
    const start = entropy.wallMicros();
    network.clock.advance(2.5);
    expect(entropy.wallMicros() - start).toBe(2500);
    expect(Number.isSafeInteger(start)).toBe(true);
  });
});
