/** CURVE on one libzmq socket: its keys, which clients it admits, and reports of failed handshakes. */
import type { Clock, Timer } from '@proj/heartbeat';
import type { Event } from 'zeromq';
import { ProjError } from '../errors.js';
import type { CurveOptions, HandshakeRefusal } from '../port.js';
import type { ZapHandler } from './zap-handler.js';

const ZMQ_CURVE_SERVER = 47;
const ZMQ_CURVE_PUBLICKEY = 48;
const ZMQ_CURVE_SECRETKEY = 49;
const ZMQ_CURVE_SERVERKEY = 50;
const ZMQ_ZAP_DOMAIN = 55;
/** Without this option, a socket without its handler would admit every client. */
const ZMQ_ZAP_ENFORCE_DOMAIN = 93;

/** ZAP status for a client that is not authorized. */
const NOT_ADMITTED = 400;
/** libzmq gives up an endpoint for good once the other side has refused it; we retry, as after any other failure. */
const RETRY_MS = 1000;
/** Events handled before the event loop gets its turn. */
const EVENTS_PER_TURN = 64;

/** The socket as its guard needs it. Its option setters exist at run time, though the public types omit them. */
export interface GuardedSocket {
  readonly events: AsyncIterable<Event>;
  connect(endpoint: string): void;
  disconnect(endpoint: string): void;
  setBoolOption(option: number, value: boolean): void;
  setStringOption(option: number, value: Buffer): void;
}

/** The callbacks; see `PortListener`. */
export interface GuardListener {
  onRefused?(refusal: HandshakeRefusal): void;
  onBroken(error: Error): void;
}

/** Sets the keys at construction, before the first bind or connect. */
export class CurveGuard {
  readonly #socket: GuardedSocket;
  readonly #curve: CurveOptions;
  readonly #zap: ZapHandler;
  readonly #clock: Clock;
  /** Servers only. */
  readonly #domain: string | undefined;
  readonly #connected = new Map<string, Timer | undefined>();
  readonly #watching: Promise<void>;
  #listener: GuardListener | undefined;
  #live = true;

  constructor(socket: GuardedSocket, curve: CurveOptions, zap: ZapHandler, clock: Clock) {
    this.#socket = socket;
    this.#curve = curve;
    this.#zap = zap;
    this.#clock = clock;
    this.#domain = this.#arm();
    this.#watching = this.#watch();
  }

  /** Throws `OPTIONS_INVALID` for an endpoint that would not be encrypted: within a process libzmq skips every handshake. */
  check(endpoint: string): void {
    if (!endpoint.startsWith('inproc:')) return;
    const advice = 'use tcp:// or ipc://, or omit the option curve';
    throw new ProjError('OPTIONS_INVALID', `endpoint ${JSON.stringify(endpoint)}: has no CURVE; ${advice}`);
  }

  /** Resolves when the socket may be bound: from then on clients are checked. Rejects with `UNAVAILABLE`. */
  async ready(): Promise<void> {
    if (this.#domain !== undefined) await this.#zap.start();
  }

  /** Connects now, or as soon as clients are checked. */
  connect(endpoint: string): void {
    if (this.#domain === undefined) this.#socket.connect(endpoint);
    else void this.#connectWhenReady(endpoint);
    this.#connected.set(endpoint, undefined);
  }

  /** Reports failures from now on. */
  start(listener: GuardListener): void {
    this.#listener = listener;
  }

  /** Reports nothing any more. */
  stop(): void {
    this.#live = false;
    for (const timer of this.#connected.values()) timer?.cancel();
    this.#connected.clear();
  }

  /** Call it after closing the socket. */
  async close(): Promise<void> {
    this.stop();
    if (this.#domain !== undefined) await this.#zap.unregister(this.#domain);
    await this.#watching;
  }

  #arm(): string | undefined {
    const { role, keys } = this.#curve;
    const socket = this.#socket;
    socket.setStringOption(ZMQ_CURVE_SECRETKEY, Buffer.from(keys.secretKey));
    if (role === 'client') {
      socket.setStringOption(ZMQ_CURVE_PUBLICKEY, Buffer.from(keys.publicKey));
      socket.setStringOption(ZMQ_CURVE_SERVERKEY, Buffer.from(this.#curve.serverKey));
      return undefined;
    }
    const domain = this.#zap.register({ admits: this.#admits, onFailed: this.#onFailed });
    socket.setBoolOption(ZMQ_CURVE_SERVER, true);
    socket.setStringOption(ZMQ_ZAP_DOMAIN, Buffer.from(domain));
    socket.setBoolOption(ZMQ_ZAP_ENFORCE_DOMAIN, true);
    return domain;
  }

  readonly #admits = (publicKey: Uint8Array, address: string): boolean => {
    if (this.#curve.role === 'client') return false;
    const { authorize } = this.#curve;
    if (authorize === undefined || isTrue(() => authorize(publicKey))) return true;
    this.#tell({ reason: 'key', publicKey, ...(address === '' ? {} : { address }) });
    return false;
  };

  readonly #onFailed = (error: unknown): void => {
    if (this.#live) this.#listener?.onBroken(error instanceof Error ? error : new Error(String(error)));
  };

  async #connectWhenReady(endpoint: string): Promise<void> {
    try {
      await this.#zap.start();
      if (this.#live) this.#socket.connect(endpoint);
    } catch (error) {
      this.#onFailed(error);
    }
  }

  #tell(refusal: HandshakeRefusal): void {
    if (this.#live) this.#listener?.onRefused?.(refusal);
  }

  /** The only reader of the socket's events, until the socket is closed. If they fail, everything else continues. */
  async #watch(): Promise<void> {
    let handled = 0;
    try {
      for await (const event of this.#socket.events) {
        this.#onEvent(event);
        if (++handled % EVENTS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    } catch {
      // The stream ends with the socket, one way or the other.
    }
  }

  #onEvent(event: Event): void {
    switch (event.type) {
      case 'handshake:error:auth':
        // The handler itself reports refused clients, with key and address.
        if (this.#curve.role === 'server' && event.error.status === NOT_ADMITTED) return;
        this.#tell(this.#refusalAt(event.address, event.error.status === NOT_ADMITTED ? 'key' : 'handshake'));
        this.#retry(event.address);
        break;
      case 'handshake:error:protocol':
        this.#tell({ ...this.#refusalAt(event.address, 'handshake'), ...causeOf(event.error.code) });
        this.#retry(event.address);
        break;
      case 'handshake:error:other':
        // The other side closed the connection, as a server with another key does; libzmq itself retries.
        this.#tell(this.#refusalAt(event.address, 'handshake'));
        break;
      default:
        break;
    }
  }

  /** Events of a bound socket name its own endpoint, not the peer's address. */
  #refusalAt(endpoint: string, reason: HandshakeRefusal['reason']): HandshakeRefusal {
    const isOurs = this.#connected.has(endpoint);
    const publicKey = this.#curve.role === 'client' ? this.#curve.keys.publicKey : undefined;
    return {
      reason,
      ...(isOurs ? { address: endpoint } : {}),
      ...(publicKey === undefined ? {} : { publicKey }),
    };
  }

  #retry(endpoint: string): void {
    if (!this.#connected.has(endpoint)) return;
    this.#connected.get(endpoint)?.cancel();
    const again = this.#clock.at(this.#clock.now() + RETRY_MS, () => {
      this.#connected.set(endpoint, undefined);
      this.#reconnect(endpoint);
    });
    this.#connected.set(endpoint, again);
  }

  #reconnect(endpoint: string): void {
    try {
      this.#socket.disconnect(endpoint);
    } catch {
      // libzmq has already forgotten the endpoint.
    }
    try {
      this.#socket.connect(endpoint);
    } catch (error) {
      this.#onFailed(error);
    }
  }
}

function causeOf(code: string | undefined): Pick<HandshakeRefusal, 'cause'> {
  if (code === 'ERR_ZMTP_CRYPTOGRAPHIC') return { cause: 'server-key' };
  return code === 'ERR_ZMTP_MECHANISM_MISMATCH' ? { cause: 'mechanism' } : {};
}

/** If the check throws, the client is refused. */
function isTrue(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
