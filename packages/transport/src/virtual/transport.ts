/** One simulated process, as its own code sees it: a `Transport` like any other. */
import type { Clock } from '@proj/heartbeat';
import type { Engine, Entropy } from '../engine/engine.js';
import type { PortOptions, PublisherPort, SocketPort, SubscriberPort, Transport } from '../port.js';
import { VirtualDealer } from './dealer-port.js';
import type { Hub } from './hub.js';
import type { Process, ProcessState } from './process.js';
import { VirtualPublisher } from './publisher-port.js';
import { VirtualRouter } from './router-port.js';
import { VirtualSubscriber } from './subscriber-port.js';

/**
 * The transport of one process on a `VirtualNetwork`, made by `network.transport(name)`. Pass it as option `transport` to the brokers, workers
 * and clients in that process.
 */
export class VirtualTransport implements Transport {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly tellsKeys = true;
  readonly probe: (engine: Engine<never, unknown>) => void;
  readonly #process: Process;
  readonly #hub: Hub;

  /** @internal Use `network.transport(name)`. */
  constructor(process: Process, hub: Hub, probe: (engine: Engine<never, unknown>) => void) {
    this.#process = process;
    this.#hub = hub;
    this.probe = probe;
    this.clock = process.clock;
    this.entropy = process.entropy;
  }

  get name(): string {
    return this.#process.name;
  }

  get state(): ProcessState {
    return this.#process.state;
  }

  /** Sockets not yet closed. 0 if the process closed all of them. */
  get openPorts(): number {
    return this.#process.resources.size;
  }

  /** Timers armed and not yet fired, including those of connecting sockets. */
  get armedTimers(): number {
    return this.#process.clock.armed;
  }

  load(): Promise<void> {
    return Promise.resolve();
  }

  router(options: PortOptions = {}): SocketPort {
    return new VirtualRouter(this.#hub, this.#process, options);
  }

  dealer(options: PortOptions = {}): SocketPort {
    return new VirtualDealer(this.#hub, this.#process, options);
  }

  publisher(options: PortOptions = {}): PublisherPort {
    return new VirtualPublisher(this.#hub, this.#process, options);
  }

  subscriber(options: PortOptions = {}): SubscriberPort {
    return new VirtualSubscriber(this.#hub, this.#process, options);
  }
}
