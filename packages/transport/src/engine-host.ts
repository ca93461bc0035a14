/** The half of a server that has sockets, a timer and a life: start, drain, close. What happens on them is the engine's business. No protocol. */
import { oncePerMinute } from '@proj/heartbeat';
import type { Access, AccessRight } from './access.js';
import { Driver } from './driver.js';
import type { Engine } from './engine/engine.js';
import { ProjError } from './errors.js';
import type {
  CurveOptions,
  HandshakeRefusal,
  Peer,
  PortListener,
  PortOptions,
  PublisherPort,
  RejectReason,
  SocketPort,
  Transport,
  UndeliverableReason,
} from './port.js';

/** One socket of a server, and what its happenings are to the engine: `undefined` for what it need not know. */
export interface SocketPlan<Event> {
  readonly kind: 'router' | 'dealer';
  /** Where to bind it; port `*` allowed. Default: nowhere. */
  readonly bind?: readonly string[];
  /** What to connect it to. Default: nothing. */
  readonly connect?: readonly string[];
  readonly port: PortOptions;
  /** Of a dealer that binds, which serves whoever is connected: what one must have the right to serve to come in. Default: nothing. */
  readonly serves?: string;
  /** How long its `close` may take after a drain, in milliseconds. Default: `lingerMs` of the port. */
  readonly drainLingerMs?: number;
  onMessage(peer: Peer, frames: Uint8Array[]): Event | undefined;
  onPeerGone(peer: Peer): Event | undefined;
  onUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason): Event | undefined;
  onRejected(peer: Peer, reason: RejectReason): Event | undefined;
  /** Of a dealer whose port `tellsPeers`. */
  onPeerCame?(peer: Peer): Event | undefined;
  /** Absent, nothing is asked of the port. */
  onSent?(peer: Peer, frames: readonly Uint8Array[]): Event | undefined;
}

/** One PUB socket of a server, or an XPUB where its port `tellsSubscriptions`. */
export interface PublisherPlan<Event> {
  /** Where to bind it; port `*` allowed. */
  readonly bind: readonly string[];
  readonly port: PortOptions;
  /** The right that one must have for the name of a message to hear it. Default: whoever is let in hears all. */
  readonly hears?: AccessRight;
  /** What is subscribed to, by anybody. Default: nobody need know. */
  onSubscription?(prefix: Uint8Array, wanted: boolean): Event | undefined;
}

/** What a server of one protocol plugs in. */
export interface HostProgram<Event, Effect> {
  /** Name of the facade, for messages of errors. */
  readonly name: string;
  readonly engine: Engine<Event, Effect>;
  readonly sockets: readonly SocketPlan<Event>[];
  /** Default: none. */
  readonly publishers?: readonly PublisherPlan<Event>[];
  /** CURVE of every socket whose own options have none. */
  readonly curve?: CurveOptions;
  /** Who may do what, from the start on; needs {@link onAccess}. Default: everybody may do everything. */
  readonly access?: Access | undefined;
  /** The event that tells the engine who may do what. Comes first of all, and again with each {@link EngineHost.setAccess}. */
  readonly onAccess?: (access: Access) => Event;
  /** The event that tells the engine whether memory is short. Comes with each change, where the transport has a budget. Default: it need not know. */
  readonly onMemory?: (isTight: boolean) => Event;
  /** The first event, before anything that happens on a socket. Default: none. */
  readonly started?: Event;
  /** The event that tells the engine to come to an end; it answers by `perform`, which then calls {@link EngineHost.drained}. */
  readonly drain: Event;
  perform(effect: Effect): void;
  /** A peer was not let in; told of the same key or address, and the same cause, at most once a minute. */
  onRefused?(refusal: HandshakeRefusal): void;
  /** A socket failed for good. */
  onBroken(error: Error): void;
}

/** How many handshakes of CURVE have failed, by reason. */
export interface RefusalCounts {
  readonly refused: Readonly<Record<HandshakeRefusal['reason'], number>>;
}

interface Running<Event, Effect> {
  readonly transport: Transport;
  readonly ports: readonly SocketPort[];
  readonly publishers: readonly PublisherPort[];
  readonly driver: Driver<Event, Effect>;
}

/** Runs one engine behind its sockets. */
export class EngineHost<Event, Effect> {
  readonly #program: HostProgram<Event, Effect>;
  readonly #transport: () => Promise<Transport>;
  readonly #refused = { key: 0, handshake: 0 };
  readonly #refusalNotes = oncePerMinute();
  #access: Access | undefined;
  #starting: Promise<string[][]> | undefined;
  #loaded: Transport | undefined;
  #running: Running<Event, Effect> | undefined;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #onDrained: () => void = () => undefined;
  #leaveBudget: () => void = () => undefined;

  /** `transport` is asked at the start, once, and loaded then. */
  constructor(program: HostProgram<Event, Effect>, transport: () => Promise<Transport>) {
    this.#program = program;
    this.#transport = transport;
    this.#access = program.access;
  }

  /**
   * Binds, connects and serves; resolves to the bound endpoints of each socket, then of each publisher. Rejects with what the transport says, or with
   * `CLOSED`, and nothing is left bound. One start, however often it is called.
   */
  start(): Promise<string[][]> {
    return (this.#starting ??= this.#start());
  }

  /** Lets the engine come to its end, then closes. Idempotent. */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain());
  }

  /** Closes at once. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close('at once'));
  }

  /** What it runs on; `undefined` before `start` has resolved and after `close`. */
  get transport(): Transport | undefined {
    return this.#closing === undefined ? this.#running?.transport : undefined;
  }

  /** Totals so far, as a copy. */
  get refusals(): RefusalCounts {
    return { refused: { ...this.#refused } };
  }

  /** To be called when the engine has come to its end. */
  drained(): void {
    this.#onDrained();
  }

  /** Queues a message at a socket, by its place in the program; does nothing while not running. */
  send(socket: number, peer: Peer, frames: readonly Uint8Array[]): void {
    this.#running?.ports[socket]?.send(peer, frames);
  }

  /** As {@link SocketPort.hold}, at a socket by its place in the program. */
  hold(socket: number, peer: Peer, held: boolean): void {
    this.#running?.ports[socket]?.hold?.(peer, held);
  }

  /** As {@link SocketPort.release}, at a socket by its place in the program. */
  release(socket: number, frames: readonly Uint8Array[]): void {
    this.#running?.ports[socket]?.release?.(frames);
  }

  /**
   * Hands a message to whoever subscribed at a publisher, by its place in the program, and has the right that its plan asks for
   * this name; does nothing while not running.
   */
  publish(publisher: number, frames: readonly Uint8Array[], name: string): void {
    const port = this.#running?.publishers[publisher];
    const right = this.#program.publishers?.[publisher]?.hears;
    const access = this.#access;
    if (access === undefined || right === undefined) port?.publish(frames);
    else port?.publish(frames, (peer) => access.allows(peer, right, name));
  }

  /** Messages at that socket that wait for this peer, which does not read; 0 while not running. */
  pendingFor(socket: number, peer: Peer): number {
    return this.#running?.ports[socket]?.pendingFor(peer) ?? 0;
  }

  /**
   * Puts other rules in force, also those who were let in before are measured by. Throws `OPTIONS_INVALID` where the transport
   * cannot tell the keys that the rules name, and the old ones stay.
   */
  setAccess(access: Access): void {
    if (this.#loaded !== undefined) this.#checkAccess(access, this.#loaded);
    this.#access = access;
    if (this.#running !== undefined) this.#tellAccess(this.#running);
  }

  /** Delivers an event; does nothing while not running. */
  dispatch(event: Event): void {
    this.#running?.driver.dispatch(event);
  }

  async #start(): Promise<string[][]> {
    const { name, sockets, publishers: plans = [], curve } = this.#program;
    const secured = (port: PortOptions): PortOptions => (curve === undefined ? port : { curve, ...port });
    if (this.#isClosing()) throw new ProjError('CLOSED', `${name}: start after close`);
    const transport = await this.#transport();
    await transport.load();
    if (this.#access !== undefined) this.#checkAccess(this.#access, transport);
    this.#loaded = transport;
    const ports: SocketPort[] = [];
    const publishers: PublisherPort[] = [];
    try {
      for (const plan of sockets) ports.push(transport[plan.kind](this.#gated(plan, secured(plan.port))));
      for (const { port } of plans) publishers.push(transport.publisher(secured(port)));
      const bound = await bindAll([...ports, ...publishers], [...sockets, ...plans]);
      if (this.#isClosing()) throw new ProjError('CLOSED', `${name}: closed while it started`);
      connectAll(ports, sockets);
      this.#serve(ports, publishers, transport);
      return bound;
    } catch (error) {
      await closeAll([...ports, ...publishers]);
      throw error;
    }
  }

  /** A method, since the field changes while `start` awaits. */
  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  #serve(ports: readonly SocketPort[], publishers: readonly PublisherPort[], transport: Transport): void {
    const { engine, sockets, started } = this.#program;
    const driver = new Driver<Event, Effect>(engine, transport, (effect) => {
      this.#program.perform(effect);
    });
    this.#running = { transport, ports, publishers, driver };
    this.#tellAccess(this.#running);
    for (const [index, publisher] of publishers.entries())
      publisher.start({
        onSubscription: (prefix, wanted) => {
          const event = this.#program.publishers?.[index]?.onSubscription?.(prefix, wanted);
          if (event !== undefined) driver.dispatch(event);
        },
        onRefused: (refusal) => {
          this.#onRefused(refusal, transport);
        },
        onBroken: (error) => {
          this.#program.onBroken(error);
        },
      });
    this.#joinBudget(this.#running);
    for (const [index, plan] of sockets.entries()) ports[index]?.start(this.#listen(plan, driver, transport));
    if (started !== undefined) driver.dispatch(started);
  }

  #joinBudget({ transport, driver }: Running<Event, Effect>): void {
    const { engine, onMemory } = this.#program;
    let wasTight = false;
    const leave = transport.memory?.add({
      get heldBytes() {
        return engine.heldBytes ?? 0;
      },
      onLevel: (level) => {
        const isTight = level !== 'ok';
        if (isTight === wasTight) return;
        wasTight = isTight;
        if (onMemory !== undefined) driver.dispatch(onMemory(isTight));
      },
    });
    if (leave !== undefined) this.#leaveBudget = leave;
  }

  #tellAccess({ driver, ports }: Running<Event, Effect>): void {
    const event = this.#access && this.#program.onAccess?.(this.#access);
    if (event === undefined) return;
    driver.dispatch(event);
    for (const [index, { serves }] of this.#program.sockets.entries())
      if (serves !== undefined) ports[index]?.recheck?.();
  }

  /** What a dealer hands out cannot be addressed: its door is where rights are looked at. */
  #gated({ serves }: SocketPlan<Event>, port: PortOptions): PortOptions {
    const { curve } = port;
    if (serves === undefined || curve?.role !== 'server') return port;
    const authorize = (publicKey: Uint8Array): boolean =>
      curve.authorize?.(publicKey) !== false && this.#access?.allows({ publicKey }, 'serve', serves) !== false;
    return { ...port, curve: { ...curve, authorize } };
  }

  #checkAccess(access: Access, { tellsKeys = false }: Transport): void {
    const { name, sockets, curve } = this.#program;
    if (access.namesKeys && !tellsKeys)
      throw new ProjError(
        'OPTIONS_INVALID',
        `${name}: option access: has rules for single keys, and messages of this transport do not tell theirs; use zmtpTransport() of @proj/zmtp (programs: --transport zmtp), or rules for "*" alone`,
      );
    const open = curve === undefined && sockets.find(({ serves }) => serves && !access.allows({}, 'serve', serves));
    if (open)
      throw new ProjError(
        'OPTIONS_INVALID',
        `${name}: option access: not everybody may serve "${open.serves ?? ''}", and without option curve nobody can be kept from it; set curve`,
      );
  }

  #onRefused(refusal: HandshakeRefusal, { clock }: Transport): void {
    const { reason, cause = '', publicKey = [], address = '' } = refusal;
    this.#refused[reason]++;
    const about = [reason, cause, publicKey.join(','), address].join(' ');
    if (this.#refusalNotes.allow(about, clock.now())) this.#program.onRefused?.(refusal);
  }

  #listen(plan: SocketPlan<Event>, driver: Driver<Event, Effect>, transport: Transport): PortListener {
    const tell = (event: Event | undefined) => {
      if (event !== undefined) driver.dispatch(event);
    };
    const listener: PortListener = {
      onMessage: (peer, frames) => {
        tell(plan.onMessage(peer, frames));
      },
      onPeerGone: (peer) => {
        tell(plan.onPeerGone(peer));
      },
      onUndeliverable: (peer, frames, reason) => {
        tell(plan.onUndeliverable(peer, frames, reason));
      },
      onRejected: (peer, reason) => {
        tell(plan.onRejected(peer, reason));
      },
      onRefused: (refusal) => {
        this.#onRefused(refusal, transport);
      },
      onBroken: (error) => {
        this.#program.onBroken(error);
      },
    };
    if (plan.onPeerCame !== undefined)
      listener.onPeerCame = (peer) => {
        tell(plan.onPeerCame?.(peer));
      };
    if (plan.onSent !== undefined)
      listener.onSent = (peer, frames) => {
        tell(plan.onSent?.(peer, frames));
      };
    return listener;
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
    await (this.#closing ??= this.#close('drained'));
  }

  async #close(how: 'at once' | 'drained'): Promise<void> {
    await this.#starting?.catch(() => undefined);
    this.#running?.driver.stop();
    this.#leaveBudget();
    // Whoever waits for a drain that `close` has overtaken.
    this.#onDrained();
    const lingers = how === 'drained' ? this.#program.sockets.map(({ drainLingerMs }) => drainLingerMs) : [];
    const { ports = [], publishers = [] } = this.#running ?? {};
    await closeAll([...ports, ...publishers], lingers);
  }
}

/** What every socket of a server can do. */
type Bindable = Pick<SocketPort, 'bind' | 'close'>;

async function bindAll(
  ports: readonly Bindable[],
  plans: readonly { readonly bind?: readonly string[] }[],
): Promise<string[][]> {
  const bound: string[][] = [];
  for (const [index, port] of ports.entries()) {
    const endpoints: string[] = [];
    for (const endpoint of plans[index]?.bind ?? []) endpoints.push(await port.bind(endpoint));
    bound.push(endpoints);
  }
  return bound;
}

function connectAll(ports: readonly SocketPort[], plans: readonly SocketPlan<unknown>[]): void {
  for (const [index, port] of ports.entries())
    for (const endpoint of plans[index]?.connect ?? []) port.connect(endpoint);
}

async function closeAll(ports: readonly Bindable[], lingers: readonly (number | undefined)[] = []): Promise<void> {
  await Promise.all(
    ports.map((port, index) => {
      const lingerMs = lingers[index];
      return port.close(lingerMs === undefined ? {} : { lingerMs });
    }),
  );
}
