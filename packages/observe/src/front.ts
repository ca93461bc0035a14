/** Stands in front of the HTTP server: a connection gets one turn and one request, and costs little unless that can be served. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { encodeRefusal, parseHead, REFUSALS } from './refusals.js';
import type { Refusal, RequestHead } from './refusals.js';
import type { HttpTurns } from './turns.js';

/** Bounds of a {@link Front}. */
export interface FrontBounds {
  readonly connectionsMax: number;
  readonly headMaxBytes: number;
  /** From the turn of a connection to the end of its head. */
  readonly headMs: number;
  /** All connections wait in one line: on loopback, a program takes any of 127.0.0.0/8 as its address. */
  readonly isLocal: boolean;
}

/** Pieces in which a head may arrive. A client that sends it byte by byte would have us wake for each. */
const PIECES_MAX = 8;
/** How long a client has to read that it is refused. */
const LINGER_MS = 1000;
const END = /\r?\n\r?\n/;

/** Lets connections through to HTTP servers one by one, and refuses what is plain from the head of the request. */
export class Front {
  readonly #bounds: FrontBounds;
  readonly #turns: HttpTurns;
  readonly #refuse: (head: RequestHead, address: string) => Refusal | undefined;
  readonly #passed = new WeakSet<Socket>();
  readonly #held = new Set<Socket>();

  constructor(
    bounds: FrontBounds,
    turns: HttpTurns,
    refuse: (head: RequestHead, address: string) => Refusal | undefined,
  ) {
    this.#bounds = bounds;
    this.#turns = turns;
    this.#refuse = refuse;
  }

  /** Stands in front of this server. */
  guard(server: Server): void {
    server.maxConnections = this.#bounds.connectionsMax;
    server.maxRequestsPerSocket = 1;
    // The limit alone would leave it to the client to end the connection.
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      response.setHeader('connection', 'close');
    });
    server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(417, { connection: 'close' }).end();
    });
    // As the option of a net.Server, which http does not pass on: without it, whatever arrives before its turn is read at once.
    Object.assign(server, { pauseOnConnect: true });
    const listeners = server.listeners('connection');
    server.removeAllListeners('connection');
    const admit = (socket: Socket): void => {
      this.#admit(socket, () => {
        for (const listener of listeners) Reflect.apply(listener, server, [socket]);
      });
    };
    server.on('connection', (socket: Socket) => {
      // A client may leave before its turn.
      socket.on('error', ignore);
      this.#turns.take(this.#bounds.isLocal ? '' : (socket.remoteAddress ?? ''), socket, admit);
    });
  }

  /** Calls `go` when it is the turn of this request: at once if its connection had one, as all have on Node. */
  pass(request: IncomingMessage, address: string, go: () => void): void {
    if (this.#passed.has(request.socket)) go();
    else this.#turns.take(address, request, go);
  }

  /** Cuts connections whose heads it still reads, or which it has refused. */
  close(): void {
    for (const socket of this.#held) socket.destroy();
  }

  #admit(socket: Socket, serve: () => void): void {
    const { remoteAddress: address = '' } = socket;
    this.#readHead(socket, (bytes) => {
      const refusal = this.#refusalOf(bytes, address);
      if (refusal === undefined) {
        this.#passed.add(socket);
        socket.unshift(bytes);
        serve();
        socket.resume();
      } else this.#end(socket, encodeRefusal(refusal));
    });
  }

  /** Says it and leaves the connection open for a moment: to close it while it holds unread bytes would take the answer back. */
  #end(socket: Socket, answer: Uint8Array): void {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    this.#held.add(socket);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#held.delete(socket);
    });
    socket.end(answer);
  }

  #readHead(socket: Socket, then: (bytes: Buffer) => void): void {
    const pieces: Buffer[] = [];
    let isCut = false;
    const cut = (): void => {
      isCut = true;
      socket.destroy();
    };
    const end = (): void => {
      socket.destroy();
    };
    const timer = setTimeout(cut, this.#bounds.headMs).unref();
    const forget = (): void => {
      clearTimeout(timer);
      this.#held.delete(socket);
    };
    const left = (): void => {
      forget();
      // It may have left long ago: nobody notices that while a connection is not read.
      if (!isCut) this.#turns.giveBack();
    };
    const read = (piece: Buffer): void => {
      pieces.push(piece);
      const bytes = pieces.length === 1 ? piece : Buffer.concat(pieces);
      if (bytes.length < this.#bounds.headMaxBytes && !END.test(bytes.toString('latin1')) && isText(bytes)) {
        if (pieces.length === PIECES_MAX) cut();
        return;
      }
      forget();
      socket.off('close', left).off('data', read).off('end', end).pause();
      then(bytes);
    };
    this.#held.add(socket);
    socket.once('close', left).on('data', read).once('end', end).resume();
  }

  #refusalOf(bytes: Buffer, address: string): Refusal | undefined {
    const text = bytes.toString('latin1', 0, this.#bounds.headMaxBytes);
    const end = END.exec(text);
    if (end === null) return bytes.length < this.#bounds.headMaxBytes ? undefined : REFUSALS.longHead;
    const head = parseHead(text.slice(0, end.index));
    return head && this.#refuse(head, address);
  }
}

const ignore = (): void => undefined;

/** Whether it may become a request: HTTP begins with a letter, TLS does not. */
function isText(bytes: Buffer): boolean {
  return /^[A-Z\r\n]/.test(bytes.toString('latin1', 0, 1));
}
