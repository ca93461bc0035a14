/** The half of a broker that has sockets, a timer and a life: start, drain, close. What happens on them is the engine's business. No protocol. */
import { Driver, ProjError } from '@proj/transport';
import type {
  Engine,
  Peer,
  PortListener,
  PortOptions,
  RejectReason,
  SocketPort,
  Transport,
  UndeliverableReason,
} from '@proj/transport';

/** One ROUTER of a broker, and what its happenings are to the engine. */
export interface SocketPlan<Event> {
  /** Where to bind it; port `*` allowed. */
  readonly endpoints: readonly string[];
  readonly port: PortOptions;
  onMessage(peer: Peer, frames: Uint8Array[]): Event;
  onPeerGone(peer: Peer): Event;
  /** `undefined` for what the engine need not know. */
  onUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason): Event | undefined;
  onRejected(peer: Peer, reason: RejectReason): Event;
}

/** What a broker of one protocol plugs in. */
export interface BrokerProgram<Event, Effect> {
  /** Name of the facade, for messages of errors. */
  readonly name: string;
  readonly engine: Engine<Event, Effect>;
  readonly sockets: readonly SocketPlan<Event>[];
  /** The event that tells the engine to come to an end; it answers by `perform`, which then calls {@link BrokerRunner.drained}. */
  readonly drain: Event;
  perform(effect: Effect): void;
  /** A socket failed for good. */
  onBroken(error: Error): void;
}

interface Running<Event, Effect> {
  readonly transport: Transport;
  readonly ports: readonly SocketPort[];
  readonly driver: Driver<Event, Effect>;
}

/** Runs one engine behind its sockets. */
export class BrokerRunner<Event, Effect> {
  readonly #program: BrokerProgram<Event, Effect>;
  readonly #transport: Transport | undefined;
  #starting: Promise<string[][]> | undefined;
  #running: Running<Event, Effect> | undefined;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #onDrained: () => void = () => undefined;

  /** Without a transport ZeroMQ is loaded at the start. */
  constructor(program: BrokerProgram<Event, Effect>, transport: Transport | undefined) {
    this.#program = program;
    this.#transport = transport;
  }

  /** Binds and serves; resolves to the bound endpoints of each socket. Rejects with nothing left bound. One start, however often it is called. */
  start(): Promise<string[][]> {
    return (this.#starting ??= this.#start());
  }

  /** Lets the engine come to its end, then closes. Idempotent. */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain());
  }

  /** Closes at once. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** What it runs on; `undefined` before `start` has resolved and after `close`. */
  get transport(): Transport | undefined {
    return this.#closing === undefined ? this.#running?.transport : undefined;
  }

  /** To be called when the engine has come to its end. */
  drained(): void {
    this.#onDrained();
  }

  /** Queues a message at a socket, by its place in the program; does nothing while not running. */
  send(socket: number, peer: Peer, frames: readonly Uint8Array[]): void {
    this.#running?.ports[socket]?.send(peer, frames);
  }

  /** Delivers an event; does nothing while not running. */
  dispatch(event: Event): void {
    this.#running?.driver.dispatch(event);
  }

  async #start(): Promise<string[][]> {
    const { name, sockets } = this.#program;
    if (this.#isClosing()) throw new ProjError('CLOSED', `${name}: start after close`);
    const transport = this.#transport ?? (await import('@proj/transport/zmq')).zmqTransport();
    await transport.load();
    const ports: SocketPort[] = [];
    try {
      for (const { port } of sockets) ports.push(transport.router(port));
      const bound = await bindAll(ports, sockets);
      if (this.#isClosing()) throw new ProjError('CLOSED', `${name}: closed while it started`);
      this.#serve(ports, transport);
      return bound;
    } catch (error) {
      await closeAll(ports);
      throw error;
    }
  }

  /** A method, since the field changes while `start` awaits. */
  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  #serve(ports: readonly SocketPort[], transport: Transport): void {
    const { engine, sockets } = this.#program;
    const driver = new Driver<Event, Effect>(engine, transport, (effect) => {
      this.#program.perform(effect);
    });
    this.#running = { transport, ports, driver };
    for (const [index, plan] of sockets.entries()) ports[index]?.start(this.#listen(plan, driver));
  }

  #listen(plan: SocketPlan<Event>, driver: Driver<Event, Effect>): PortListener {
    return {
      onMessage: (peer, frames) => {
        driver.dispatch(plan.onMessage(peer, frames));
      },
      onPeerGone: (peer) => {
        driver.dispatch(plan.onPeerGone(peer));
      },
      onUndeliverable: (peer, frames, reason) => {
        const event = plan.onUndeliverable(peer, frames, reason);
        if (event !== undefined) driver.dispatch(event);
      },
      onRejected: (peer, reason) => {
        driver.dispatch(plan.onRejected(peer, reason));
      },
      onBroken: (error) => {
        this.#program.onBroken(error);
      },
    };
  }

  async #drain(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    const running = this.#running;
    if (running !== undefined && !this.#isClosing()) {
      const drained = new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
      running.driver.dispatch(this.#program.drain);
      await drained;
    }
    await this.close();
  }

  async #close(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    this.#running?.driver.stop();
    // Whoever waits for a drain that `close` has overtaken.
    this.#onDrained();
    await closeAll(this.#running?.ports ?? []);
  }
}

async function bindAll(ports: readonly SocketPort[], plans: readonly SocketPlan<unknown>[]): Promise<string[][]> {
  const bound: string[][] = [];
  for (const [index, port] of ports.entries()) {
    const endpoints: string[] = [];
    for (const endpoint of plans[index]?.endpoints ?? []) endpoints.push(await port.bind(endpoint));
    bound.push(endpoints);
  }
  return bound;
}

async function closeAll(ports: readonly SocketPort[]): Promise<void> {
  await Promise.all(ports.map((port) => port.close()));
}
