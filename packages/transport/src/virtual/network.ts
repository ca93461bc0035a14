/** The in-memory network: processes, the links between them, and the faults that a test injects. */
import { ManualClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';
import type { Engine } from '../engine/engine.js';
import { ProjError } from '../errors.js';
import { VirtualConnection } from './connection.js';
import { bindingKey, connectionKeys, resolvePort } from './endpoint.js';
import type { NetworkEvent } from './events.js';
import { VirtualWire } from './virtual-wire.js';
import type { LinkTiming } from './virtual-wire.js';
import type { BoundSide, Hub } from './hub.js';
import { Process } from './process.js';
import { SeededRandom } from './random.js';
import { VirtualTransport } from './transport.js';

/** Settings of a {@link VirtualNetwork}; all optional. */
export interface VirtualNetworkOptions<Time extends Clock = ManualClock> {
  /** The source of all randomness; default 1. The same seed and the same calls give the same run. */
  readonly seed?: number | string;
  /** The clock that everything runs on; default a new `ManualClock`. An `AutoClock` needs no advancing. */
  readonly clock?: Time;
  /** Timing of links without their own settings; default 1 ms and no jitter. */
  readonly timing?: Partial<LinkTiming>;
  /** A connecting socket retries after one to two times this; default 100 ms, as libzmq. */
  readonly reconnectIntervalMs?: number;
  /**
   * Whether sockets learn of lost connections (`onPeerGone`), as with libzmq's disconnect message; default true. Code must work without it,
   * because not every build of libzmq has it.
   */
  readonly disconnectNotices?: boolean;
  /** Called with the engine after each step of any driver; default: the engine checks its own invariants. */
  readonly probe?: (engine: Engine<never, unknown>, transport: VirtualTransport) => void;
  /** Called with everything that happens, in order. */
  readonly observe?: (event: NetworkEvent) => void;
}

/** A process, or its name. Links belong to names, so a restarted process keeps its links. */
export type ProcessName = string | VirtualTransport;

/** An in-memory ZeroMQ: transports of one network reach each other by endpoint. See the module's introduction. */
export class VirtualNetwork<Time extends Clock = ManualClock> {
  readonly clock: Time;
  readonly #options: VirtualNetworkOptions<Time>;
  readonly #timing: LinkTiming;
  readonly #random: SeededRandom;
  readonly #processes = new WeakMap<VirtualTransport, Process>();
  readonly #started = new Map<string, number>();
  readonly #links = new Map<string, VirtualWire>();
  readonly #bound = new Map<string, BoundSide>();
  readonly #connections = new Set<VirtualConnection>();
  readonly #hub: Hub;

  constructor(options: VirtualNetworkOptions<Time> = {}) {
    this.#options = options;
    // Without a clock in the options, Time is its default.
    this.clock = options.clock ?? (new ManualClock() as Clock as Time);
    this.#random = new SeededRandom(options.seed ?? 1);
    this.#timing = { latencyMs: 1, jitterMs: 0, ...options.timing };
    this.#hub = this.#makeHub();
  }

  /**
   * A new process, and the transport for everything in it. A name may be reused after a crash: the new process starts afresh on the old one's
   * links. Default names: `p1`, `p2` and so on.
   */
  transport(name = `p${this.#started.size + 1}`): VirtualTransport {
    const incarnation = (this.#started.get(name) ?? 0) + 1;
    this.#started.set(name, incarnation);
    const process = new Process(name, this.clock, this.#random.fork(`${name}#${incarnation}`));
    const transport: VirtualTransport = new VirtualTransport(process, this.#hub, (engine) => {
      if (this.#options.probe === undefined) engine.assertInvariants();
      else this.#options.probe(engine, transport);
    });
    this.#processes.set(transport, process);
    return transport;
  }

  /**
   * Kills the process, as SIGKILL does: its timers never fire again, its sockets are gone, and a random part of what it had sent still arrives.
   * Peers learn of it from the operating system; with `silent` (power failure, cable pulled) only from their ZMTP heartbeats.
   */
  crash(transport: VirtualTransport, options: { readonly silent?: boolean } = {}): void {
    if (!this.#process(transport).crash(options.silent ?? false)) return;
    this.#record({ kind: 'crashed', process: transport.name });
    this.#refresh();
  }

  /** Stops the process, as SIGSTOP does: it does not read, send or wake, and its connections stay up for now. */
  pause(transport: VirtualTransport): void {
    if (!this.#process(transport).pause()) return;
    this.#record({ kind: 'paused', process: transport.name });
    this.#refresh();
  }

  /** Resumes the process: overdue timers fire late, and arrived messages are read, in random order. */
  resume(transport: VirtualTransport): void {
    if (!this.#process(transport).resume()) return;
    this.#record({ kind: 'resumed', process: transport.name });
    this.#refresh();
  }

  /** From now on every timer of the process fires up to `maxMs` late (a busy machine); 0 ends it. */
  delayTimers(transport: VirtualTransport, maxMs: number): void {
    this.#process(transport).clock.lateMs = maxMs;
    this.#record({ kind: 'slowed', process: transport.name, maxMs });
  }

  /** Sets the delay of messages between two processes from now on. Omitted fields get the network's defaults. */
  setTiming(a: ProcessName, b: ProcessName, timing: Partial<LinkTiming> = {}): void {
    this.#link(nameOf(a), nameOf(b)).timing = { ...this.#timing, ...timing };
  }

  /** Blocks everything between the two until `heal`: messages wait, connections stay until ZMTP heartbeats give them up. */
  partition(a: ProcessName, b: ProcessName): void {
    this.#setPartitioned(a, b, true);
  }

  /** Ends a partition: waiting messages arrive at once, in order, unless their connection was given up meanwhile. */
  heal(a: ProcessName, b: ProcessName): void {
    this.#setPartitioned(a, b, false);
  }

  /** Breaks every connection between the two. Each direction loses a random suffix of its messages in flight. They may reconnect. */
  cut(a: ProcessName, b: ProcessName): void {
    const link = this.#link(nameOf(a), nameOf(b));
    this.#record({ kind: 'cut', between: [nameOf(a), nameOf(b)] });
    for (const connection of this.#connections) if (connection.link === link) connection.active.breakLine();
  }

  #setPartitioned(a: ProcessName, b: ProcessName, partitioned: boolean): void {
    const between = [nameOf(a), nameOf(b)] as const;
    const link = this.#link(...between);
    if (link.partitioned === partitioned) return;
    link.partitioned = partitioned;
    this.#record({ kind: partitioned ? 'partitioned' : 'healed', between });
    this.#refresh();
  }

  #process(transport: VirtualTransport): Process {
    const process = this.#processes.get(transport);
    if (process === undefined) throw new Error(`transport ${transport.name} belongs to another network`);
    return process;
  }

  #link(a: string, b: string): VirtualWire {
    const key = JSON.stringify(a < b ? [a, b] : [b, a]);
    let link = this.#links.get(key);
    if (link === undefined) this.#links.set(key, (link = new VirtualWire(this.#timing)));
    return link;
  }

  #refresh(): void {
    for (const connection of this.#connections) connection.refresh();
  }

  #record(event: NetworkEvent): void {
    this.#options.observe?.(event);
  }

  #bind(endpoint: string, port: BoundSide): string {
    const taken = (candidate: string) => this.#bound.has(bindingKey(candidate));
    const bound = resolvePort(endpoint, taken);
    if (taken(bound)) throw new ProjError('ADDRESS_IN_USE', `endpoint ${JSON.stringify(bound)}: already bound`);
    this.#bound.set(bindingKey(bound), port);
    return bound;
  }

  #makeHub(): Hub {
    let connections = 0;
    return {
      clock: this.clock,
      disconnectNotices: this.#options.disconnectNotices ?? true,
      reconnectIntervalMs: this.#options.reconnectIntervalMs ?? 100,
      bind: (endpoint, port) => this.#bind(endpoint, port),
      unbind: (port) => {
        for (const [key, bound] of this.#bound) if (bound === port) this.#bound.delete(key);
      },
      lookup: (endpoint) => {
        for (const key of connectionKeys(endpoint)) if (this.#bound.has(key)) return this.#bound.get(key);
        return undefined;
      },
      link: (a, b) => this.#link(a.name, b.name),
      connect: (active, passive) => {
        const between = [active.process.name, passive.process.name] as const;
        const connection = new VirtualConnection(active, passive, {
          clock: this.clock,
          link: this.#link(...between),
          random: this.#random.fork(`connection#${connections++}`),
          onLost: (messages) => {
            this.#record({ kind: 'lost', messages, between });
          },
        });
        this.#connections.add(connection);
        return connection;
      },
      forget: (connection) => {
        if (connection.over) this.#connections.delete(connection);
      },
      record: (event) => {
        this.#record(event);
      },
    };
  }
}

function nameOf(process: ProcessName): string {
  return typeof process === 'string' ? process : process.name;
}
