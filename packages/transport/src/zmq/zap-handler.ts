/** The ZAP handler (RFC 27), which decides for libzmq whether to admit a client. One per context, as long as a socket needs one. */
import type { Clock } from '@proj/heartbeat';
import { ProjError } from '../errors.js';
import { MessageReader } from './reader.js';
import { readZapRequest, zapAnswer } from './zap-request.js';
import type { ZapMalformed, ZapQuestion } from './zap-request.js';

const ENDPOINT = 'inproc://zeromq.zap.01';
/** A closed handler releases the endpoint some time later. */
const BIND_CHECKS = 200;
const BIND_CHECK_MS = 5;

/** The ROUTER as its handler needs it. */
export interface ZapSocket {
  bind(endpoint: string): Promise<void>;
  receive(): Promise<Uint8Array[]>;
  send(frames: Uint8Array[]): Promise<void>;
  close(): void;
}

/** One socket whose clients are checked. */
export interface ZapDoor {
  /** Whether this client may connect. */
  admits(publicKey: Uint8Array, address: string): boolean;
  /** The handler has failed: every client is refused. */
  onFailed(error: unknown): void;
}

interface Running {
  readonly socket: ZapSocket;
  readonly reader: MessageReader;
  readonly reading: Promise<void>;
}

/**
 * Answers for all CURVE servers of one context, each identified by its own ZAP domain. Keeps no state per client: requests wait in libzmq, one
 * per handshake. It has a socket only while there is a server, because a reading socket keeps the process alive.
 */
export class ZapHandler {
  /** Messages on the inproc endpoint that were not requests from libzmq. */
  malformed = 0;
  readonly #open: () => ZapSocket;
  readonly #clock: Clock;
  readonly #doors = new Map<string, ZapDoor>();
  #doorsMade = 0;
  #running: Promise<Running> | undefined;

  /** `open` makes a ROUTER in the context to answer for, with a send timeout of 0. */
  constructor(open: () => ZapSocket, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
  }

  /** Returns the domain for the socket. */
  register(door: ZapDoor): string {
    const domain = `proj-${++this.#doorsMade}`;
    this.#doors.set(domain, door);
    return domain;
  }

  /** Call it when the socket of that domain is closed. The last call ends the handler. */
  async unregister(domain: string): Promise<void> {
    this.#doors.delete(domain);
    if (this.#doors.size > 0) return;
    const ending = this.#running;
    this.#running = undefined;
    const running = await ending?.catch(() => undefined);
    running?.reader.stop();
    running?.socket.close();
    await running?.reading;
  }

  /** Resolves when requests are answered. Rejects with `UNAVAILABLE`. */
  async start(): Promise<void> {
    const starting = (this.#running ??= this.#start());
    try {
      await starting;
    } catch (error) {
      if (this.#running === starting) this.#running = undefined;
      throw error;
    }
  }

  async #start(): Promise<Running> {
    const socket = this.#open();
    try {
      await this.#bind(socket);
    } catch (cause) {
      socket.close();
      throw new ProjError('UNAVAILABLE', `${ENDPOINT}: cannot be bound, so no client could be admitted`, { cause });
    }
    const reader = new MessageReader(socket, this.#clock);
    const reading = reader.read(
      (frames) => {
        this.#answer(socket, readZapRequest(frames));
      },
      (error) => {
        for (const door of this.#doors.values()) door.onFailed(error);
      },
    );
    return { socket, reader, reading };
  }

  async #bind(socket: ZapSocket): Promise<void> {
    for (let check = 1; ; check++) {
      try {
        await socket.bind(ENDPOINT);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || check === BIND_CHECKS) throw error;
      }
      await new Promise<void>((resolve) => this.#clock.at(this.#clock.now() + BIND_CHECK_MS, resolve));
    }
  }

  #answer(socket: ZapSocket, request: ZapQuestion | ZapMalformed): void {
    if (request.kind === 'malformed') this.malformed++;
    const status = request.kind === 'malformed' ? 500 : this.#admits(request) ? 200 : 400;
    // With a send timeout of 0, libzmq has taken the message when the call returns. A client that has gone misses it.
    socket.send(zapAnswer(request, status)).catch(() => undefined);
  }

  /** An unknown domain belongs to a socket that is closing. */
  #admits({ domain, publicKey, address }: ZapQuestion): boolean {
    return this.#doors.get(domain)?.admits(publicKey, address) ?? false;
  }
}
