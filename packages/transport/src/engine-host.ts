/** The shell of every server: sockets, a timer, access rules, and the life cycle start, drain and close, around one engine. Knows no protocol. */
import { oncePerMinute } from '@proj/heartbeat';
import type { Access } from './access.js';
import { Driver } from './driver.js';
import { encodeZ85 } from './curve/z85.js';
import { Emitter } from './emitter.js';
import { RefusedPeers } from './engine/refused-peers.js';
import type { EngineSnapshot, ServerSnapshot } from './engine/snapshot.js';
import { ProjError } from './errors.js';
import type { HostEvents, HostProgram, RefusalCounts, SocketPlan } from './host-program.js';
import type { Startable } from './life.js';
import type {
  HandshakeRefusal,
  Peer,
  PortListener,
  PortOptions,
  PublisherPort,
  SocketPort,
  Transport,
} from './port.js';

interface Running<Event, Effect> {
  readonly transport: Transport;
  readonly ports: readonly SocketPort[];
  readonly publishers: readonly PublisherPort[];
  readonly driver: Driver<Event, Effect>;
}

/** An engine that reports its figures. */
interface Measured<Stats> {
  stats(): Stats;
  detail(now: number): EngineSnapshot;
}

/**
 * Runs one engine behind its sockets, which it numbers in the program's order. It is a complete server: a facade that adds options and methods
 * passes calls on; a facade that adds none returns its host.
 */
export class EngineHost<Event, Effect> implements Startable<HostEvents, string[][]> {
  readonly #program: HostProgram<Event, Effect>;
  readonly #transport: () => Promise<Transport>;
  readonly #own = new Emitter<HostEvents>();
  readonly #events: Pick<Emitter<HostEvents>, 'emit'>;
  readonly #refused = { key: 0, handshake: 0 };
  /** The refused connections, for operators: by key or address. */
  readonly #refusedPeers = new RefusedPeers();
  readonly #refusalNotes = oncePerMinute();
  #access: Access | undefined;
  #starting: Promise<string[][]> | undefined;
  #loaded: Transport | undefined;
  #running: Running<Event, Effect> | undefined;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #onDrained: () => void = () => undefined;
  #leaveBudget: () => void = () => undefined;

  /** `transport` is called once, by `start`, and its result is loaded. */
  constructor(program: HostProgram<Event, Effect>, transport: () => Promise<Transport>) {
    this.#program = program;
    this.#events = program.events ?? this.#own;
    this.#transport = transport;
    this.#access = program.access;
  }

  /** Also rejects with `CLOSED` after `close`. Resolves to the bound endpoints of each socket, then of each publisher. Idempotent. */
  start(): Promise<string[][]> {
    return (this.#starting ??= this.#start());
  }

  drain(): Promise<void> {
    return (this.#draining ??= this.#drain());
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close('at once'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** No effect if the program brings its own `events`. */
  on<Name extends keyof HostEvents>(event: Name, listener: (payload: HostEvents[Name]) => void): () => void {
    return this.#own.on(event, listener);
  }

  /** The transport; `undefined` before `start` has resolved and after `close`. */
  get transport(): Transport | undefined {
    return this.#closing === undefined ? this.#running?.transport : undefined;
  }

  /** A copy of the totals since construction. */
  get refusals(): RefusalCounts {
    return { refused: { ...this.#refused } };
  }

  /** The result of a server's `stats()`: the engine's figures and refused connections, and with `options` also the operator's view. */
  stats<Stats extends object>(
    engine: Measured<Stats>,
    options: { readonly detail: true } | undefined,
  ): Stats & RefusalCounts & { readonly detail?: ServerSnapshot } {
    const stats = { ...engine.stats(), ...this.refusals };
    if (options === undefined) return stats;
    const snapshot = engine.detail(this.transport?.clock.now() ?? 0);
    const clients = [...snapshot.clients, ...this.#refusedPeers.clients()];
    return { ...stats, detail: { ...snapshot, clients, ...this.refusals } };
  }

  /** Call it when the engine has ended. */
  drained(): void {
    this.#onDrained();
  }

  /** Queues a message at a socket. No effect while not running. */
  send(socket: number, peer: Peer, frames: readonly Uint8Array[]): void {
    this.#running?.ports[socket]?.send(peer, frames);
  }

  /** As {@link SocketPort.hold}. */
  hold(socket: number, peer: Peer, held: boolean): void {
    this.#running?.ports[socket]?.hold?.(peer, held);
  }

  /** As {@link SocketPort.release}. */
  release(socket: number, frames: readonly Uint8Array[]): void {
    this.#running?.ports[socket]?.release?.(frames);
  }

  /** Publishes a message to the subscribers that have the right that the publisher's plan requires for this name. No effect while not running. */
  publish(publisher: number, frames: readonly Uint8Array[], name: string): void {
    const port = this.#running?.publishers[publisher];
    const right = this.#program.publishers?.[publisher]?.hears;
    const access = this.#access;
    if (access === undefined || right === undefined) port?.publish(frames);
    else port?.publish(frames, (peer) => access.allows(peer, right, name));
  }

  /** Messages waiting at the socket because this peer does not read; 0 while not running. */
  pendingFor(socket: number, peer: Peer): number {
    return this.#running?.ports[socket]?.pendingFor(peer) ?? 0;
  }

  /**
   * Replaces the access rules at once, also for connected peers. Throws `OPTIONS_INVALID` and keeps the old ones if the transport cannot enforce
   * the new ones.
   */
  setAccess(access: Access): void {
    if (this.#loaded !== undefined) this.#checkAccess(access, this.#loaded);
    this.#access = access;
    if (this.#running !== undefined) this.#tellAccess(this.#running);
  }

  /** Delivers an event. No effect while not running. */
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
      for (const plan of sockets) ports.push(transport[plan.kind](this.#gated(plan, secured(plan.port ?? {}))));
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

  /** A method, because the field changes while `start` awaits. */
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
        onBroken: this.#onBroken,
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

  /** A dealer that binds does not choose the receiver of a message, so rights are checked at the handshake. */
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
        `${name}: option access: has rules for single keys, but this transport does not report its peers' keys; use zmtpTransport() of @proj/zmtp (programs: --transport zmtp), or rules for "*" only`,
      );
    const open = curve === undefined && sockets.find(({ serves }) => serves && !access.allows({}, 'serve', serves));
    if (open)
      throw new ProjError(
        'OPTIONS_INVALID',
        `${name}: option access: it restricts who may serve "${open.serves ?? ''}", which cannot be enforced without the option curve; set curve`,
      );
  }

  #onRefused(refusal: HandshakeRefusal, { clock }: Transport): void {
    const { reason, cause = '', publicKey = [], address = '' } = refusal;
    this.#refused[reason]++;
    this.#refusedPeers.add(peerOf(refusal), reason);
    const about = [reason, cause, publicKey.join(','), address].join(' ');
    if (this.#refusalNotes.allow(about, clock.now())) this.#events.emit('refused', refusal);
  }

  readonly #onBroken = (error: Error): void => {
    this.#events.emit('broken', error);
  };

  #listen(plan: SocketPlan<Event>, driver: Driver<Event, Effect>, transport: Transport): PortListener {
    const tell = (event: Event | undefined) => {
      if (event !== undefined) driver.dispatch(event);
    };
    const listener: PortListener = {
      onMessage: (peer, frames) => {
        tell(plan.onMessage(peer, frames));
      },
      onPeerGone: (peer) => {
        tell(plan.onPeerGone?.(peer));
      },
      onUndeliverable: (peer, frames, reason, others) => {
        tell(plan.onUndeliverable?.(peer, frames, reason, others));
      },
      onRejected: (peer, reason) => {
        tell(plan.onRejected?.(peer, reason));
      },
      onRefused: (refusal) => {
        this.#onRefused(refusal, transport);
      },
      onBroken: this.#onBroken,
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
    const { drain } = this.#program;
    if (running !== undefined && drain !== undefined && !this.#isClosing()) {
      const drained = new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
      running.driver.dispatch(drain);
      await drained;
    }
    await (this.#closing ??= this.#close('drained'));
  }

  async #close(how: 'at once' | 'drained'): Promise<void> {
    await this.#starting?.catch(() => undefined);
    this.#running?.driver.stop();
    this.#leaveBudget();
    // `close` has overtaken a drain: lets the drain's caller continue.
    this.#onDrained();
    const lingers = how === 'drained' ? this.#program.sockets.map(({ drainLingerMs }) => drainLingerMs) : [];
    const { ports = [], publishers = [] } = this.#running ?? {};
    await closeAll([...ports, ...publishers], lingers);
  }
}

/** The peer of a refused connection: its key, or else its address without the port, which changes with each attempt. */
function peerOf({ publicKey, address = 'unknown address' }: HandshakeRefusal): Peer {
  const key = publicKey === undefined ? address.replace(/:\d+$/, '') : encodeZ85(publicKey);
  return { key, id: Buffer.from(key), ...(publicKey && { publicKey }) };
}

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
