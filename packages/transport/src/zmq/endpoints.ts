/** The endpoints that one zeromq.js socket is bound and connected to. */
import type { Clock } from '@proj/heartbeat';
import type { CurveGuard } from './curve-guard.js';
import { checkEndpoint, endpointError, isIpv6, isServed, refuseServedPath } from './endpoint.js';

/** How often, and at what interval, a closed socket checks whether libzmq has released an endpoint. */
const RELEASE_CHECKS = 100;
const RELEASE_CHECK_MS = 10;

/** What it uses of a socket. */
export interface EndpointSocket {
  ipv6: boolean;
  readonly lastEndpoint: string | null;
  bind(endpoint: string): Promise<void>;
  connect(endpoint: string): void;
}

/** Binds and connects a socket. */
export class BoundEndpoints {
  readonly #socket: EndpointSocket;
  readonly #clock: Clock;
  readonly #assertOpen: (endpoint: string) => void;
  readonly #guard: CurveGuard | undefined;
  readonly #bound: string[] = [];
  #setup: Promise<unknown> = Promise.resolve();

  /** `assertOpen` throws if it is too late for another endpoint; `guard` is that of a socket with CURVE. */
  constructor(socket: EndpointSocket, clock: Clock, assertOpen: (endpoint: string) => void, guard?: CurveGuard) {
    this.#socket = socket;
    this.#clock = clock;
    this.#assertOpen = assertOpen;
    this.#guard = guard;
  }

  /** As `SocketPort.bind`, one at a time: libzmq's socket must not be used while it binds. */
  bind(endpoint: string): Promise<string> {
    const bound = this.#setup.then(() => this.#bind(endpoint));
    this.#setup = bound.catch(() => undefined);
    return bound;
  }

  /** As `SocketPort.connect`. */
  connect(endpoint: string): void {
    this.#prepare(endpoint);
    try {
      if (this.#guard === undefined) this.#socket.connect(endpoint);
      else this.#guard.connect(endpoint);
    } catch (cause) {
      throw endpointError(endpoint, cause);
    }
  }

  /** Resolves when the socket is free again. */
  async settled(): Promise<void> {
    await this.#setup;
  }

  /** Call it after closing the socket. Resolves when its endpoints can be bound again. */
  async released(): Promise<void> {
    await Promise.all(this.#bound.map((endpoint) => this.#released(endpoint)));
  }

  async #bind(endpoint: string): Promise<string> {
    this.#prepare(endpoint);
    await refuseServedPath(endpoint);
    await this.#guard?.ready();
    this.#assertOpen(endpoint);
    try {
      await this.#socket.bind(endpoint);
    } catch (cause) {
      throw endpointError(endpoint, cause);
    }
    const bound = this.#socket.lastEndpoint ?? endpoint;
    this.#bound.push(bound);
    return bound;
  }

  #prepare(endpoint: string): void {
    checkEndpoint(endpoint);
    this.#guard?.check(endpoint);
    this.#assertOpen(endpoint);
    if (isIpv6(endpoint)) this.#socket.ipv6 = true;
  }

  /** libzmq ends a listener some time after its socket was closed. Bounded, because the endpoint may have a new owner by then. */
  async #released(endpoint: string): Promise<void> {
    for (let check = 0; check < RELEASE_CHECKS; check++) {
      if (!(await isServed(endpoint))) return;
      await new Promise<void>((resolve) => this.#clock.at(this.#clock.now() + RELEASE_CHECK_MS, resolve));
    }
  }
}
