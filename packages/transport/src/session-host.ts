/** The shell of every peer that connects: sockets, a timer, and a transport that may be loaded late, around one engine. Knows no protocol. */
import { Departures } from './departures.js';
import { Driver } from './driver.js';
import { Emitter } from './emitter.js';
import { ProjError } from './errors.js';
import type { Startable } from './life.js';
import { ROUTER_PEER } from './port.js';
import type { HandshakeRefusal, Peer, PortListener, SocketPort, Transport } from './port.js';
import type { SessionEvents, SessionLife, SessionProgram, SocketRequest, Unmet } from './session-program.js';

/** A call that waits for the transport. */
interface EarlyTask {
  readonly run: (transport: Transport) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Runs one engine whose sockets come and go, under numbers that the engine assigns and never reuses. A transport given as a function is loaded
 * by the first {@link whenLoaded} or {@link load}.
 */
export class SessionHost<Event, Effect> {
  readonly #program: SessionProgram<Event, Effect>;
  readonly #source: () => Promise<Transport>;
  readonly #ports = new Map<number, SocketPort>();
  readonly #departures: Departures;
  readonly #events = new Emitter<SessionEvents>();
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  readonly #early: EarlyTask[] = [];
  #loading: Promise<Transport> | undefined;
  #transport: Transport | undefined;
  #driver: Driver<Event, Effect> | undefined;
  readonly #unmet = new Map<string, HandshakeRefusal | string>();
  readonly #met = new Set<string>();
  #isClosed = false;
  #refused: { readonly cause: unknown } | undefined;

  /** `departures` may be shared by hosts that wait for each other's sockets to close. */
  constructor(
    program: SessionProgram<Event, Effect>,
    transport: Transport | (() => Promise<Transport>),
    departures = new Departures(),
  ) {
    this.#program = program;
    this.#departures = departures;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    if (typeof transport === 'function') this.#source = transport;
    else {
      this.#source = () => Promise.resolve(transport);
      this.#attach(transport);
    }
  }

  /** The transport, once loaded. */
  get transport(): Transport | undefined {
    return this.#transport;
  }

  /** Calls waiting for the transport. */
  get early(): number {
    return this.#early.length;
  }

  /** The largest number of messages waiting in any socket. */
  get pending(): number {
    let most = 0;
    for (const port of this.#ports.values()) most = Math.max(most, port.pending);
    return most;
  }

  /** Which of these endpoints failed in their last attempt to connect, as far as the transport reports it. */
  unmet(endpoints: readonly string[]): Unmet[] {
    return [...new Set(endpoints)].flatMap((endpoint) => {
      const reason = this.#unmet.get(endpoint);
      return reason === undefined ? [] : [{ endpoint, reason }];
    });
  }

  /** Which of these endpoints are connected, or were when their socket was closed, as far as the transport reports it. */
  met(endpoints: readonly string[]): string[] {
    return [...new Set(endpoints)].filter((endpoint) => this.#met.has(endpoint));
  }

  /** Loads the transport, once; after a failure the next call retries. Rejects with the transport's error, such as `UNAVAILABLE`. */
  load(): Promise<Transport> {
    return (this.#loading ??= this.#source().then(
      (transport) => {
        if (this.#transport === undefined && !this.#isClosed) this.#attach(transport);
        // In the same turn, so that no later call overtakes them.
        for (let task = this.#early.shift(); task !== undefined; task = this.#early.shift()) task.run(transport);
        return transport;
      },
      (error: unknown) => {
        this.#loading = undefined;
        for (const task of this.#early.splice(0)) task.fail(error);
        throw error;
      },
    ));
  }

  /**
   * Calls `run` once the transport is loaded, in the order of the calls. Calls `fail` with the error if it cannot be loaded, and with
   * `undefined` if the host is closed first.
   */
  whenLoaded(run: (transport: Transport) => void, fail: (error: unknown) => void): void {
    if (this.#isClosed) fail(undefined);
    else if (this.#transport !== undefined && this.#early.length === 0) run(this.#transport);
    else {
      this.#early.push({ run, fail });
      // The task gets the failure.
      this.load().catch(() => undefined);
    }
  }

  /**
   * The public life cycle of a facade whose sockets stay open from start to end. `start` may be repeated, even after a failure; it rejects with
   * `CLOSED` after the end.
   */
  life(plan: SessionLife<Event>): Startable<SessionEvents> {
    let starting: Promise<void> | undefined;
    const close = () => this.close(plan.close ?? plan.drain);
    return {
      on: (event, listener) => this.#events.on(event, listener),
      start: () => {
        if (this.#isClosed) starting = undefined;
        return (starting ??= this.#begin(plan).catch((error: unknown) => {
          starting = undefined;
          throw error;
        }));
      },
      drain: async () => {
        if (plan.drain !== undefined && this.#driver !== undefined) {
          this.dispatch(plan.drain);
          await this.#ended;
        }
        await close();
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  async #begin({ sockets, started }: SessionLife<Event>): Promise<void> {
    await this.load();
    if (this.#isClosed) throw new ProjError('CLOSED', 'start after close');
    try {
      for (const [number, request] of sockets.entries()) {
        this.open(number, request);
        this.assertOpened();
      }
    } catch (error) {
      for (const number of sockets.keys()) this.closeSocket(number, false);
      throw error;
    }
    this.#tell(started);
  }

  /** Delivers an event. No effect before the transport is loaded and after the end. */
  dispatch(event: Event): void {
    this.#driver?.dispatch(event);
  }

  /** Delivers the first event. Throws the transport's error if the engine then opens a socket with an unusable endpoint. */
  start(event: Event): void {
    this.dispatch(event);
    this.assertOpened();
  }

  /** Throws the transport's error if the last socket could not be opened. */
  assertOpened(): void {
    if (this.#refused !== undefined) throw this.#refused.cause as Error;
  }

  /** Connects a new socket. */
  open(socket: number, request: SocketRequest): void {
    const transport = this.#transport as Transport;
    this.#refused = undefined;
    // Earlier reports about these endpoints concern older sockets.
    for (const endpoint of request.endpoints) this.#met.delete(endpoint);
    let port: SocketPort | undefined;
    try {
      port = transport[request.kind ?? 'dealer'](request.port ?? {});
      for (const endpoint of request.endpoints) port.connect(endpoint);
      port.start(this.#listenerOf(socket, request));
      this.#ports.set(socket, port);
    } catch (error) {
      if (port !== undefined) this.#departures.add(port, 0);
      this.#unopened(socket, error);
    }
  }

  /** Binds a new socket once the closing ones have freed their endpoints. Messages may be sent to it at once. Never rejects. */
  async bind(socket: number, request: SocketRequest): Promise<void> {
    try {
      const port = (this.#transport as Transport)[request.kind ?? 'dealer'](request.port ?? {});
      this.#ports.set(socket, port);
      await this.#departures.over();
      for (const endpoint of request.endpoints) if (this.#ports.get(socket) === port) await port.bind(endpoint);
      if (this.#ports.get(socket) === port) port.start(this.#listenerOf(socket, request));
      this.#tell(this.#program.onBound?.(socket));
    } catch (error) {
      this.closeSocket(socket, false);
      this.#unopened(socket, error);
    }
  }

  /** Queues a message. Only routers need the peer. No effect if the socket is not open. */
  send(socket: number, frames: readonly Uint8Array[], peer: Peer = ROUTER_PEER): void {
    this.#ports.get(socket)?.send(peer, frames);
  }

  /** As {@link SocketPort.pause}. */
  pause(socket: number): void {
    this.#ports.get(socket)?.pause();
  }

  /** As {@link SocketPort.resume}. */
  resume(socket: number): void {
    this.#ports.get(socket)?.resume();
  }

  /** Closes a socket. With `flush`, unsent messages get its `lingerMs`; otherwise they are discarded. No effect if the socket is not open. */
  closeSocket(socket: number, flush: boolean): void {
    const port = this.#ports.get(socket);
    this.#ports.delete(socket);
    if (port !== undefined) this.#departures.add(port, flush ? undefined : 0);
  }

  /** Call it when the engine has ended: no event is delivered afterwards. */
  ended(): void {
    this.#isClosed = true;
    this.#driver?.stop();
    this.#end();
  }

  /** Resolves when the engine has ended. */
  get done(): Promise<void> {
    return this.#ended;
  }

  /** Delivers the event that tells the engine to end. Resolves when it has ({@link ended}) and all sockets are closed. May be repeated. */
  async finish(event: Event): Promise<void> {
    this.dispatch(event);
    await this.#ended;
    await this.over();
  }

  /** Delivers a last event, then ends. Resolves when all sockets are closed. May be repeated. */
  async close(event: Event | undefined): Promise<void> {
    this.#tell(event);
    this.#isClosed = true;
    for (const task of this.#early.splice(0)) task.fail(undefined);
    // The driver delivers the event after the current step, if any, so it has been delivered by then.
    await Promise.resolve();
    this.ended();
    for (const socket of [...this.#ports.keys()]) this.closeSocket(socket, true);
    await this.over();
  }

  /** Resolves when the sockets that are closing now are closed. */
  over(): Promise<void> {
    return this.#departures.over();
  }

  #attach(transport: Transport): void {
    this.#transport = transport;
    this.#driver = new Driver<Event, Effect>(this.#program.engine, transport, (effect) => {
      this.#program.perform(effect);
    });
  }

  #tell(event: Event | undefined): void {
    if (event !== undefined) this.#driver?.dispatch(event);
  }

  #unopened(socket: number, cause: unknown): void {
    this.#refused = { cause };
    const program = this.#program;
    if (program.onUnopened !== undefined) {
      this.#tell(program.onUnopened(socket, cause));
      return;
    }
    this.#fail(socket, cause);
  }

  #fail(socket: number, error: unknown): void {
    this.#tell(this.#program.onLost?.(socket, 'socket-failed'));
    if (this.#program.onError === undefined) this.#events.emit('error', error);
    else this.#program.onError(error);
  }

  #meet(endpoint: string, refusal: HandshakeRefusal | string | undefined): void {
    if (refusal === undefined) {
      this.#unmet.delete(endpoint);
      this.#met.add(endpoint);
    } else {
      this.#unmet.set(endpoint, refusal);
      this.#met.delete(endpoint);
    }
  }

  #listenerOf(socket: number, { endpoints }: SocketRequest): PortListener {
    const program = this.#program;
    const [endpoint = ''] = endpoints;
    const listener: PortListener = {
      onMessage: (peer, frames) => {
        if (this.#unmet.size > 0) this.#unmet.delete(endpoint);
        this.#tell(program.onMessage(socket, frames, peer));
      },
      onRejected: (_peer, reason) => {
        this.#tell(program.onRejected?.(socket, reason));
      },
      onPeerGone: () => {
        this.#met.delete(endpoint);
        this.#tell(program.onLost?.(socket, 'peer-gone'));
      },
      onUndeliverable: (_peer, frames) => {
        const event =
          program.onUndeliverable === undefined
            ? program.onLost?.(socket, 'undeliverable')
            : program.onUndeliverable(socket, frames);
        this.#tell(event);
      },
      onRefused: (refusal) => {
        this.#meet(endpoint, refusal);
        if (program.onRefused === undefined) this.#events.emit('refused', refusal);
        else program.onRefused(refusal);
      },
      onConnection: (reason) => {
        this.#meet(endpoint, reason);
      },
      onBroken: (error) => {
        this.#fail(socket, error);
      },
    };
    if (program.onSent !== undefined)
      listener.onSent = (_peer, frames) => {
        this.#tell(program.onSent?.(socket, frames));
      };
    return listener;
  }
}
