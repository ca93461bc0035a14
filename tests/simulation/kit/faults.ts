/** The fault phase: what goes wrong, where and when is drawn from the seed; afterwards everything is healed. */
import type { Timer } from '@proj/heartbeat';
import type { SeededRandom } from '@proj/transport/virtual';
import type { Host, Simulation } from './simulation.js';

/** What may go wrong. */
export interface FaultOptions {
  /** Hosts that may crash, pause or wake up late. */
  readonly hosts: readonly Host[];
  /** Hosts whose program may be shut down cleanly and restarted. */
  readonly restarts: readonly Host[];
  /** Pairs of hosts whose link may be cut, partitioned or slow. */
  readonly links: readonly (readonly [Host, Host])[];
  /** Mean time between two faults. Milliseconds. */
  readonly meanGapMs: number;
  /** Longest time until a fault is mended. Milliseconds. */
  readonly longestMs: number;
}

type Undo = () => void;

/** Injects a fault and returns how to mend it; `undefined` if it mends itself or is not possible now. */
type Fault = (context: FaultContext) => Undo | undefined;

interface FaultContext {
  readonly simulation: Simulation;
  readonly random: SeededRandom;
  readonly options: FaultOptions;
}

const crash: Fault = ({ random, options }) => {
  const host = random.pick(options.hosts);
  if (!host.isUp) return undefined;
  // One death in five is that of the machine: no peer gets a notice.
  host.crash({ silent: random.chance(0.2) });
  return () => {
    host.start();
  };
};

const restart: Fault = ({ random, options }) => {
  if (options.restarts.length === 0) return undefined;
  const host = random.pick(options.restarts);
  if (host.isUp) host.restart();
  return undefined;
};

const pause: Fault = ({ simulation, random, options }) => {
  const host = random.pick(options.hosts);
  if (!host.isUp) return undefined;
  const { transport } = host;
  simulation.network.pause(transport);
  return () => {
    simulation.network.resume(transport);
  };
};

const wakeLate: Fault = ({ simulation, random, options }) => {
  const host = random.pick(options.hosts);
  if (!host.isUp) return undefined;
  const { transport } = host;
  simulation.network.delayTimers(transport, random.between(1, 500));
  return () => {
    simulation.network.delayTimers(transport, 0);
  };
};

const cut: Fault = ({ simulation, random, options }) => {
  if (options.links.length === 0) return undefined;
  const [a, b] = random.pick(options.links);
  simulation.network.cut(a.name, b.name);
  return undefined;
};

const partition: Fault = ({ simulation, random, options }) => {
  if (options.links.length === 0) return undefined;
  const [a, b] = random.pick(options.links);
  simulation.network.partition(a.name, b.name);
  return () => {
    simulation.network.heal(a.name, b.name);
  };
};

const slow: Fault = ({ simulation, random, options }) => {
  if (options.links.length === 0) return undefined;
  const [a, b] = random.pick(options.links);
  const timing = { latencyMs: random.between(1, 400), jitterMs: random.between(0, 400) };
  simulation.note(`${a.name} | ${b.name} slow: ${timing.latencyMs} to ${timing.latencyMs + timing.jitterMs} ms`);
  simulation.network.setTiming(a.name, b.name, timing);
  return () => {
    simulation.network.setTiming(a.name, b.name);
  };
};

const MENU: readonly Fault[] = [crash, crash, pause, pause, restart, wakeLate, cut, partition, slow];

/** A running fault phase. */
export class Faults {
  readonly #context: FaultContext;
  readonly #undone = new Map<Undo, Timer>();
  #next: Timer | undefined;
  /** Number of faults so far. */
  count = 0;

  /** Starts at once. */
  constructor(simulation: Simulation, options: FaultOptions) {
    this.#context = { simulation, options, random: simulation.random.fork('faults') };
    this.#schedule();
  }

  /** Ends the phase: nothing more goes wrong, and everything broken is mended now. */
  heal(): void {
    this.#next?.cancel();
    for (const [undo, timer] of this.#undone) {
      timer.cancel();
      undo();
    }
    this.#undone.clear();
  }

  #schedule(): void {
    const { simulation, random, options } = this.#context;
    const gap = -Math.log(1 - random.next()) * options.meanGapMs;
    this.#next = simulation.clock.at(simulation.clock.now() + gap, () => {
      this.#inject();
      this.#schedule();
    });
  }

  #inject(): void {
    const { simulation, random, options } = this.#context;
    const undo = random.pick(MENU)(this.#context);
    this.count++;
    if (undo === undefined) return;
    // Squaring makes short troubles the common ones.
    const lasts = random.next() ** 2 * options.longestMs;
    const timer = simulation.clock.at(simulation.clock.now() + lasts, () => {
      this.#undone.delete(undo);
      undo();
    });
    this.#undone.set(undo, timer);
  }
}
