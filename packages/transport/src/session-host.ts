/** The half of a peer that has sockets, a timer and a transport that may come late. What happens on them is the engine's business. No protocol. */
import { Departures } from './departures.js';
import { Driver } from './driver.js';
import type { Engine } from './engine/engine.js';
import { ROUTER_PEER } from './port.js';
import type { HandshakeRefusal, Peer, PortListener, PortOptions, RejectReason, SocketPort, Transport } from './port.js';

/** Why a socket is of no use any more: its connection ended, what was sent did not go out, or it broke. */
export type SocketLoss = 'peer-gone' | 'undeliverable' | 'socket-failed';

/** What a client, worker or scheduler of one protocol plugs in. Events are `undefined` for what the engine need not know. */
export interface SessionProgram<Event, Effect> {
  readonly engine: Engine<Event, Effect>;
  perform(effect: Effect): void;
  onMessage(socket: number, frames: Uint8Array[], peer: Peer): Event | undefined;
  /** A message over the socket's limits was dropped before it was decoded. */
  onRejected(socket: number, reason: RejectReason): Event | undefined;
  onLost(socket: number, reason: SocketLoss): Event | undefined;
  /** Default: the socket is lost as `undeliverable`. */
  onUndeliverable?(socket: number, frames: readonly Uint8Array[]): Event | undefined;
  /** A socket could not be opened or bound. Default: it is lost as `socket-failed`, and {@link onError} is told. */
  onUnopened?(socket: number, cause: unknown): Event | undefined;
  /** A socket of {@link SessionHost.bind} is bound. */
  onBound?(socket: number): Event | undefined;
  /** Absent, nothing is asked of the port. */
  onSent?(socket: number, frames: readonly Uint8Array[]): Event | undefined;
  /** A handshake of CURVE has failed; it is tried again. */
  onRefused(refusal: HandshakeRefusal): void;
  /** A socket could not be opened, or failed for good. */
  onError?(error: unknown): void;
}

/** How one socket is made. */
export interface SocketRequest {
  /** What it connects to, or binds. */
  readonly endpoints: readonly string[];
  readonly port: PortOptions;
  /** Default: `dealer`. */
  readonly kind?: 'dealer' | 'router';
}

/** Why nobody was met at an endpoint: a handshake came to nothing, or there was no connection, for this reason. */
export interface Unmet {
  readonly endpoint: string;
  readonly reason: HandshakeRefusal | string;
}

/** What waits for the transport. */
interface EarlyTask {
  readonly run: (transport: Transport) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Runs one engine whose sockets come and go, by the numbers the engine gives them. A number is never used again. Where the
 * transport is given as a function, it is loaded with the first {@link whenLoaded} or {@link load}.
 */
export class SessionHost<Event, Effect> {
  readonly #program: SessionProgram<Event, Effect>;
  readonly #source: () => Promise<Transport>;
  readonly #ports = new Map<number, SocketPort>();
  readonly #departures: Departures;
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

  /** `departures`: where its sockets go that are closed, if others leave there too. */
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

  /** What it runs on, once it is loaded. */
  get transport(): Transport | undefined {
    return this.#transport;
  }

  /** Tasks that wait for the transport. */
  get early(): number {
    return this.#early.length;
  }

  /** Messages that wait in the socket where most of them do. */
  get pending(): number {
    let most = 0;
    for (const port of this.#ports.values()) most = Math.max(most, port.pending);
    return most;
  }

  /** Which of these endpoints could not be reached, or did not let us in, while nobody was met there since; as far as the transport tells. */
  unmet(endpoints: readonly string[]): Unmet[] {
    return [...new Set(endpoints)].flatMap((endpoint) => {
      const reason = this.#unmet.get(endpoint);
      return reason === undefined ? [] : [{ endpoint, reason }];
    });
  }

  /** Which of these endpoints are connected, or were when their socket was closed; as far as the transport tells. */
  met(endpoints: readonly string[]): string[] {
    return [...new Set(endpoints)].filter((endpoint) => this.#met.has(endpoint));
  }

  /** Loads the transport, once; after a failure the next call tries again. Rejects with what it says, such as `UNAVAILABLE`. */
  load(): Promise<Transport> {
    return (this.#loading ??= this.#source().then(
      (transport) => {
        if (this.#transport === undefined && !this.#isClosed) this.#attach(transport);
        // In the same turn: a task that comes later must not overtake them.
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
   * Runs `run` as soon as the transport is there, in the order of the calls; or `fail`, with the reason, when it cannot be loaded, and
   * without one when the host is closed first.
   */
  whenLoaded(run: (transport: Transport) => void, fail: (error: unknown) => void): void {
    if (this.#isClosed) fail(undefined);
    else if (this.#transport !== undefined && this.#early.length === 0) run(this.#transport);
    else {
      this.#early.push({ run, fail });
      // Told by the task.
      this.load().catch(() => undefined);
    }
  }

  /** Delivers an event; does nothing before the transport is loaded and after the end. */
  dispatch(event: Event): void {
    this.#driver?.dispatch(event);
  }

  /** Delivers the first event. Throws what the transport has against the endpoint of the socket that it opens. */
  start(event: Event): void {
    this.dispatch(event);
    this.assertOpened();
  }

  /** Throws what the transport had against the socket opened last, if it had anything. */
  assertOpened(): void {
    if (this.#refused !== undefined) throw this.#refused.cause as Error;
  }

  /** Connects a new socket. */
  open(socket: number, request: SocketRequest): void {
    const transport = this.#transport as Transport;
    this.#refused = undefined;
    // Of its own connection nothing is known yet.
    for (const endpoint of request.endpoints) this.#met.delete(endpoint);
    let port: SocketPort | undefined;
    try {
      port = transport[request.kind ?? 'dealer'](request.port);
      for (const endpoint of request.endpoints) port.connect(endpoint);
      port.start(this.#listenerOf(socket, request));
      this.#ports.set(socket, port);
    } catch (error) {
      if (port !== undefined) this.#departures.add(port, 0);
      this.#unopened(socket, error);
    }
  }

  /** Binds a new one, once those that are leaving have given their endpoints back; send to it from then on. Never rejects. */
  async bind(socket: number, request: SocketRequest): Promise<void> {
    try {
      const port = (this.#transport as Transport)[request.kind ?? 'dealer'](request.port);
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

  /** Queues a message; of a dealer, for whoever it is connected to. Does nothing for a socket that is not open. */
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

  /** Closes a socket. What it has not sent yet gets its `lingerMs` with `flush`, else it is discarded. Does nothing for one that is not open. */
  closeSocket(socket: number, flush: boolean): void {
    const port = this.#ports.get(socket);
    this.#ports.delete(socket);
    if (port !== undefined) this.#departures.add(port, flush ? undefined : 0);
  }

  /** To be called when the engine has come to its end: no event is delivered after it. */
  ended(): void {
    this.#isClosed = true;
    this.#driver?.stop();
    this.#end();
  }

  /** Resolves when the engine has come to its end. */
  get done(): Promise<void> {
    return this.#ended;
  }

  /** Tells the engine to end; resolves when it has ({@link ended}) and its sockets are closed. May be repeated. */
  async finish(event: Event): Promise<void> {
    this.dispatch(event);
    await this.#ended;
    await this.over();
  }

  /** Delivers a last event and ends; resolves when all sockets are closed. */
  async close(event: Event): Promise<void> {
    this.dispatch(event);
    this.#isClosed = true;
    for (const task of this.#early.splice(0)) task.fail(undefined);
    // The driver delivers the event when the current step, if any, is done: not later than this.
    await Promise.resolve();
    this.ended();
    for (const socket of [...this.#ports.keys()]) this.closeSocket(socket, true);
    await this.over();
  }

  /** Resolves when those sockets are closed that are leaving now. */
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
    this.#tell(program.onLost(socket, 'socket-failed'));
    program.onError?.(cause);
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
        this.#tell(program.onRejected(socket, reason));
      },
      onPeerGone: () => {
        this.#met.delete(endpoint);
        this.#tell(program.onLost(socket, 'peer-gone'));
      },
      onUndeliverable: (_peer, frames) => {
        const event =
          program.onUndeliverable === undefined
            ? program.onLost(socket, 'undeliverable')
            : program.onUndeliverable(socket, frames);
        this.#tell(event);
      },
      onRefused: (refusal) => {
        this.#meet(endpoint, refusal);
        program.onRefused(refusal);
      },
      onConnection: (reason) => {
        this.#meet(endpoint, reason);
      },
      onBroken: (error) => {
        this.#tell(program.onLost(socket, 'socket-failed'));
        program.onError?.(error);
      },
    };
    if (program.onSent !== undefined)
      listener.onSent = (_peer, frames) => {
        this.#tell(program.onSent?.(socket, frames));
      };
    return listener;
  }
}
