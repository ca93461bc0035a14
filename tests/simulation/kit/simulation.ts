/** A cluster of real programs on a virtual network: restartable hosts, watchers that check, and controlled time. */
import type { ManualClock } from '@proj/heartbeat';
import { advance, SeededRandom, VirtualNetwork } from '@proj/transport/virtual';
import type { LinkTiming, NetworkEvent, VirtualTransport } from '@proj/transport/virtual';
import { Trace } from './trace.js';
import type { Describe } from './trace.js';

/** What runs on a host: any facade, or several. */
export interface Program {
  close(): Promise<unknown>;
}

/** Starts a program in a new process. Called again after each crash, with the transport of the next process. */
export type StartProgram = (transport: VirtualTransport, random: SeededRandom) => Promise<Program> | Program;

/** Receives all events in order; reports faults through `simulation.fail`. */
export interface Watcher {
  onEvent(event: NetworkEvent, now: number): void;
}

/** Settings of a {@link Simulation}. */
export interface SimulationOptions {
  readonly seed: number;
  readonly timing?: Partial<LinkTiming>;
  readonly disconnectNotices?: boolean;
  /** How to print messages in the trace of a failure. */
  readonly describe?: Describe;
}

/** A machine with a name, on which one program runs, one process after another. */
export class Host {
  readonly name: string;
  readonly #simulation: Simulation;
  readonly #start: StartProgram;
  #transport: VirtualTransport | undefined;
  #program: Promise<Program> | undefined;
  /** Processes started so far. */
  generation = 0;

  /** @internal Use `simulation.host`. */
  constructor(simulation: Simulation, name: string, start: StartProgram) {
    this.#simulation = simulation;
    this.name = name;
    this.#start = start;
  }

  /** The current process; throws before the first start. */
  get transport(): VirtualTransport {
    if (this.#transport === undefined) throw new Error(`host ${this.name} was not started`);
    return this.#transport;
  }

  get isUp(): boolean {
    return this.#transport?.state === 'running';
  }

  /** Starts a process. A failure of a living program is a failure of the simulation. */
  start(): void {
    const transport = this.#simulation.network.transport(this.name);
    const random = this.#simulation.random.fork(`${this.name}#${++this.generation}`);
    this.#transport = transport;
    this.#simulation.note(`${this.name} starts`);
    this.#program = Promise.resolve(this.#start(transport, random));
    this.#program.catch((error: unknown) => {
      if (transport.state !== 'dead') this.#simulation.fail(`${this.name} did not start: ${String(error)}`);
    });
  }

  /** Kills the process. */
  crash(options?: { readonly silent?: boolean }): void {
    this.#simulation.network.crash(this.transport, options);
  }

  /** Shuts the program down cleanly, as on SIGTERM; anything it leaves open is a failure of the simulation. */
  async close(): Promise<void> {
    const { transport } = this;
    const program = await this.#program;
    await program?.close();
    const { openPorts, armedTimers } = transport;
    if (openPorts + armedTimers > 0)
      this.#simulation.fail(`${this.name} leaks ${openPorts} sockets and ${armedTimers} timers`);
  }

  /**
   * Shuts the program down cleanly and starts the next process, as for a new release. A crash in between takes
   * precedence.
   */
  restart(): void {
    const { transport } = this;
    this.#simulation.note(`${this.name} restarts`);
    this.close().then(
      () => {
        if (this.#transport !== transport || transport.state === 'dead') return;
        this.crash();
        this.start();
      },
      (error: unknown) => {
        this.#simulation.fail(`${this.name} did not close: ${String(error)}`);
      },
    );
  }
}

/** Thrown by `run` if something went wrong; its message is the whole report. */
export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure';
}

/** How long `run` continues before it checks for failures. Virtual milliseconds. */
const SLICE_MS = 100;

/** One run with one seed. */
export class Simulation {
  readonly seed: number;
  readonly random: SeededRandom;
  readonly network: VirtualNetwork;
  readonly trace: Trace;
  readonly #hosts: Host[] = [];
  readonly #watchers: Watcher[] = [];
  readonly #failures: string[] = [];

  constructor(options: SimulationOptions) {
    const { seed, timing, disconnectNotices, describe } = options;
    this.seed = seed;
    this.random = new SeededRandom(seed);
    this.trace = new Trace(undefined, describe);
    this.network = new VirtualNetwork({
      seed,
      ...(timing === undefined ? {} : { timing }),
      ...(disconnectNotices === undefined ? {} : { disconnectNotices }),
      observe: (event) => {
        this.#observe(event);
      },
      probe: (engine, transport) => {
        this.check(`invariant in ${transport.name}`, () => {
          engine.assertInvariants();
        });
      },
    });
  }

  get clock(): ManualClock {
    return this.network.clock;
  }

  get hosts(): readonly Host[] {
    return this.#hosts;
  }

  /** Adds a host; call its `start` when it should start. */
  host(name: string, start: StartProgram): Host {
    const host = new Host(this, name, start);
    this.#hosts.push(host);
    return host;
  }

  /** Adds a watcher and returns it. */
  watch<Kind extends Watcher>(watcher: Kind): Kind {
    this.#watchers.push(watcher);
    return watcher;
  }

  /** Writes a line into the trace. */
  note(line: string): void {
    this.trace.add(this.clock.now(), line);
  }

  /** Records that something is wrong. Never throws, because it is called from inside the programs under test. */
  fail(what: string): void {
    if (this.#failures.length === 0) this.note(`FAILED: ${what}`);
    this.trace.freeze();
    if (this.#failures.length < 10) this.#failures.push(`at ${this.clock.now().toFixed(3)} ms: ${what}`);
  }

  /** Runs a check that may throw, and records what it throws. */
  check(what: string, body: () => void): void {
    try {
      body();
    } catch (error) {
      this.fail(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Advances virtual time; throws {@link SimulationFailure} if anything has failed. */
  async run(ms: number): Promise<void> {
    const until = this.clock.now() + ms;
    while (this.clock.now() < until) {
      await advance(this.clock, Math.min(SLICE_MS, until - this.clock.now())).catch((error: unknown) => {
        this.fail(String(error));
      });
      this.throwIfFailed();
    }
  }

  /** Advances virtual time until the condition holds; fails after `limitMs`, and says what was `awaited`. */
  async runUntil(condition: () => boolean, limitMs: number, awaited: () => string): Promise<void> {
    const limit = this.clock.now() + limitMs;
    while (!condition()) {
      if (this.clock.now() >= limit) this.fail(`after ${limitMs} ms still not: ${awaited()}`);
      await this.run(SLICE_MS);
    }
  }

  /** Throws {@link SimulationFailure} if anything has failed so far. */
  throwIfFailed(): void {
    if (this.#failures.length === 0) return;
    throw new SimulationFailure([...this.#failures, 'The last events:', ...this.trace.lines()].join('\n'));
  }

  /** Resolves after this much virtual time of the network, for code outside all processes. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.at(this.clock.now() + ms, resolve);
    });
  }

  #observe(event: NetworkEvent): void {
    const now = this.clock.now();
    this.trace.add(now, event);
    for (const watcher of this.#watchers) {
      this.check('watcher', () => {
        watcher.onEvent(event, now);
      });
    }
  }
}
