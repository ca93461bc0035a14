/** The HTTP side: the page, metrics, health, the model as a document and as a stream, actions. Knows no protocol. */
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import helmet from '@fastify/helmet';
import { systemClock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { act, parseAction } from './actions.js';
import { readAssets } from './assets.js';
import type { Asset } from './assets.js';
import { expose, formatFor, FORMATS } from './exposition.js';
import { SERVER_FAMILIES, SERVICES_MAX, ServiceNames } from './families.js';
import type { Model } from './model.js';
import type { Observer } from './observe.js';
import { processFamilies } from './process-families.js';
import { snapshotOf } from './server.js';
import { EventStreams } from './streams.js';
import { TokenGuard } from './token.js';
import { HttpTurns } from './turns.js';

export { observe } from './observe.js';
export type { Note } from './notes.js';
export type { ObserveOptions, Observer } from './observe.js';
export type { DeadLetter, Detailed, ObservedServer, ServerActions } from './server.js';

const TOKEN_MIN = 16;
/** Of an action. No other request has a body. */
const BODY_MAX_BYTES = 1_048_576;
const OTHER_BODY_MAX_BYTES = 1024;
const HEADERS_MAX_BYTES = 8192;
const CONNECTIONS_MAX = 256;
/**
 * Connections that the system queues until we accept them. Beyond this, a client believes it is connected and retries only after a second or
 * more: 1,000 clients at once would seem to hang.
 */
const BACKLOG = 2048;
/** Each request takes a turn and 0.2 to 0.4 ms, so floods get at most 2 % of a core. A new connection takes the turn of its first request. */
const TURNS = { perSecond: 50, savedMax: 50, waitingMax: 512 };
/** Time limit for the headers and body of a request. */
const REQUEST_MS = 10_000;
const STREAMS_MAX = 64;
const STREAM_UNREAD_MAX_BYTES = 8 * 2 ** 20;
/** A scrape within this time of the last one gets the same figures. */
const SCRAPE_MS = 250;

/** An audit line or a failure, for the log of the program. */
export type HttpRecord = Readonly<Record<string, unknown>>;

/** What to serve, and where. */
export interface HttpOptions {
  /** `HOST:PORT`; port 0 picks a free port. */
  readonly listen: string;
  readonly observer: Observer;
  /** At least 16 characters. Enables actions. On non-loopback hosts it is required, and protects everything but the page and `/healthz`. */
  readonly token?: string;
  /** Folder of the page. Default: no page. */
  readonly assets?: string;
  /** Number of services with their own series. Default: 1000. */
  readonly maxServices?: number;
  /** Shuts the process down in order. Default: the action `drain-process` is not available. */
  readonly onDrain?: () => void;
  /** Called for every action and every wrong token. */
  readonly onAudit?: (record: HttpRecord) => void;
  /** Limit of open event streams. Default: 64. */
  readonly streamsMax?: number;
  /** Unread bytes of a stream before it is cut. Default: 8 MiB. */
  readonly streamUnreadMaxBytes?: number;
}

/** A running server. */
export interface HttpServer {
  /** Includes the port that was bound. */
  readonly url: string;
  /** Cuts all connections. */
  close(): Promise<void>;
}

/**
 * Serves an observer over HTTP. Rejects with `OPTIONS_INVALID` for an invalid address, a short token, or a non-loopback address without a token;
 * with `ADDRESS_IN_USE` if the address is taken.
 */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { host, port } = parseListen(options.listen);
  const { token, observer } = options;
  const isLocal = isLoopback(host);
  if (token !== undefined && token.length < TOKEN_MIN)
    throw new ProjError(
      'OPTIONS_INVALID',
      `http: the token has ${token.length} characters, it must have at least ${TOKEN_MIN}`,
    );
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new ProjError(
      'OPTIONS_INVALID',
      'http: the token contains spaces or non-ASCII characters, which a header cannot carry: choose another one',
    );
  if (token === undefined && !isLocal)
    throw new ProjError(
      'OPTIONS_INVALID',
      `http: "${options.listen}" is reachable from other machines and needs a token: set a token file, or listen on 127.0.0.1`,
    );
  const app = Fastify({
    bodyLimit: OTHER_BODY_MAX_BYTES,
    requestTimeout: REQUEST_MS,
    connectionTimeout: 0,
    keepAliveTimeout: 5000,
    forceCloseConnections: true,
    exposeHeadRoutes: true,
    http: { maxHeaderSize: HEADERS_MAX_BYTES, headersTimeout: REQUEST_MS, connectionsCheckingInterval: 1000 },
    // Answered before any hook, and so without a turn: the next one takes a connection, which needs a turn.
    frameworkErrors: ({ statusCode = 400, message }, _request, reply) => {
      void (reply as FastifyReply).code(statusCode).header('connection', 'close').send({ error: message });
    },
  });
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(417, { connection: 'close' }).end();
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  const turns = new HttpTurns(TURNS, systemClock);
  const fresh = admitByTurns(app.server, turns);
  app.addHook('onRequest', (request, _reply, done) => {
    if (fresh.delete(request.raw.socket)) done();
    else turns.take(request.ip, request.raw, done);
  });
  await app.register(helmet, {
    global: false,
    strictTransportSecurity: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
  });
  // Helmet computes its headers for every request, which costs more than the answer. They are always the same.
  let security: OutgoingHttpHeaders | undefined;
  app.addHook('onRequest', (_request, reply, done) => {
    if (security === undefined) {
      reply.helmet();
      security = reply.raw.getHeaders();
    } else for (const [name, value] of Object.entries(security)) reply.raw.setHeader(name, value ?? '');
    done();
  });
  const endpoint = new Endpoint(options, isLocal);
  await endpoint.routes(app);
  try {
    await app.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    turns.close();
    endpoint.close();
    await app.close();
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new ProjError('ADDRESS_IN_USE', `http: ${options.listen} is in use`);
    throw new ProjError('OPTIONS_INVALID', `http: cannot listen on "${options.listen}" (${message})`);
  }
  const stopDeltas = observer.onDelta((delta) => {
    endpoint.streams.send(delta);
  });
  const bound = app.server.address();
  const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${boundPort}/`,
    close: async () => {
      stopDeltas();
      turns.close();
      endpoint.close();
      await app.close();
    },
  };
}

/** What the routes need. */
class Endpoint {
  readonly streams: EventStreams;
  readonly #options: HttpOptions;
  readonly #isLocal: boolean;
  readonly #guard: TokenGuard | undefined;
  readonly #names: ServiceNames;
  readonly #process = processFamilies();
  #shown: { readonly model: Model; readonly json: Buffer } | undefined;
  readonly #texts = new Map<string, { readonly text: string; readonly until: number }>();

  constructor(options: HttpOptions, isLocal: boolean) {
    this.#options = options;
    this.#isLocal = isLocal;
    this.#guard = options.token === undefined ? undefined : new TokenGuard(options.token);
    this.#names = new ServiceNames(options.maxServices ?? SERVICES_MAX);
    const { streamsMax = STREAMS_MAX, streamUnreadMaxBytes = STREAM_UNREAD_MAX_BYTES } = options;
    this.streams = new EventStreams({ streamsMax, unreadMaxBytes: streamUnreadMaxBytes });
  }

  close(): void {
    this.streams.close();
    this.#process.close();
  }

  async routes(app: FastifyInstance): Promise<void> {
    const { observer, assets: folder } = this.#options;
    app.addHook('onRequest', async (request, reply) => {
      if (this.#isLocal && !isLocalName(request.headers.host))
        await reply.code(403).send({ error: 'Use the address of this server or localhost.' });
    });
    const read = { onRequest: this.#isLocal ? [] : [this.#authorize] };
    const bodies = { onRequest: this.#guard === undefined ? [] : [this.#authorize] };
    app.get('/healthz', () => ({ status: 'ok' }));
    app.get('/readyz', read, async (_request, reply) => {
      const reasons = this.#reasons();
      await reply.code(reasons.length === 0 ? 200 : 503).send({ ready: reasons.length === 0, reasons });
    });
    app.get('/metrics', read, async (request, reply) => {
      const format = formatFor(request.headers.accept);
      await reply.header('content-type', FORMATS[format]).header('vary', 'accept').send(this.#metrics(format));
    });
    app.get('/api/model', read, async (_request, reply) => {
      await reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(this.#json());
    });
    app.get('/api/events', { ...read, exposeHeadRoute: false }, (request, reply) => {
      this.#stream(request, reply);
    });
    app.get<{ Params: { id: string } }>('/api/dead/:id', bodies, async ({ params }, reply) => {
      for (const { deadLetters } of observer.servers) {
        if (deadLetters === undefined) continue;
        for await (const { key, body } of deadLetters())
          if (key === params.id)
            return reply
              .header('cache-control', 'no-store')
              .header('content-disposition', 'attachment')
              .type('application/octet-stream')
              .send(Buffer.concat(body));
      }
      return reply.code(404).send({ error: 'There is no such dead letter.' });
    });
    const actions = { onRequest: [this.#authorize], bodyLimit: BODY_MAX_BYTES };
    app.post('/api/actions', actions, (request, reply) => this.#act(request, reply));
    const assets = folder === undefined ? new Map<string, Asset>() : await readAssets(folder);
    app.get('/*', async (request, reply) => {
      const path = request.url.split('?', 1).join('');
      const asset = assets.get(path === '/' ? '/index.html' : path);
      if (asset === undefined)
        return reply.code(404).send({
          error: path === '/' ? 'This program was built without its page. See /metrics and /api/model.' : 'Not found.',
        });
      return reply
        .header('cache-control', asset.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
        .type(asset.type)
        .send(asset.body);
    });
  }

  readonly #authorize = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const verdict = this.#guard?.check(request.headers.authorization, request.ip);
    if (verdict === 'ok') return;
    // Otherwise Node would read the body to its end.
    reply.header('connection', 'close');
    reply.raw.once('finish', () => request.raw.socket.destroy());
    if (verdict === undefined) {
      await reply.code(403).send({ error: 'Actions need a token: start the program with --http-token-file.' });
      return;
    }
    if (verdict !== 'missing')
      this.#options.onAudit?.({
        event: 'token refused',
        verdict,
        address: request.ip,
        path: request.url.split('?', 1).join(''),
      });
    if (verdict === 'too-many')
      await reply.code(429).header('retry-after', '60').send({ error: 'Too many wrong tokens: wait a minute.' });
    else
      await reply
        .code(401)
        .header('www-authenticate', 'Bearer')
        .send({ error: `The token is ${verdict}.` });
  };

  #reasons(): { readonly server: string; readonly reason: string }[] {
    const { observer } = this.#options;
    const faults = observer.servers.flatMap(({ protocol, fault }) => {
      const found = fault?.();
      return found === undefined ? [] : [{ server: protocol, reason: found.code }];
    });
    return observer.isDraining ? [{ server: 'process', reason: 'draining' }, ...faults] : faults;
  }

  #metrics(format: 'prometheus' | 'openmetrics'): string {
    const now = performance.now();
    const kept = this.#texts.get(format);
    if (kept !== undefined && now < kept.until) return kept.text;
    const { observer } = this.#options;
    const servers = this.#names.bound(observer.servers.map(({ protocol, facade }) => snapshotOf(protocol, facade)));
    const families = [
      ...SERVER_FAMILIES.map((family) => [family, family.samples(servers)] as const),
      ...this.#process.families.map((family) => [family, family.samples(observer.model)] as const),
    ];
    const text = expose(families, format);
    this.#texts.set(format, { text, until: performance.now() + SCRAPE_MS });
    return text;
  }

  /** The model, whose text is made once for all who ask within a second. */
  #json(): Buffer {
    const { model } = this.#options.observer;
    if (this.#shown?.model !== model) this.#shown = { model, json: Buffer.from(JSON.stringify(model)) };
    return this.#shown.json;
  }

  #stream(request: FastifyRequest, reply: FastifyReply): void {
    if (this.streams.isFull) {
      void reply
        .code(503)
        .header('retry-after', '5')
        .header('connection', 'close')
        .send({ error: 'Too many open event streams.' });
      return;
    }
    const headers = reply.getHeaders() as Record<string, string>;
    reply.hijack();
    request.raw.socket.setNoDelay(true);
    reply.raw.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    this.streams.add(reply.raw, this.#json());
  }

  async #act(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { observer, onDrain, onAudit } = this.#options;
    const { origin, host } = request.headers;
    // A foreign page cannot send the token's header; this check repeats that rule.
    if (origin !== undefined && origin !== `http://${host ?? ''}` && origin !== `https://${host ?? ''}`)
      return this.#refuse(request, reply, 403, 'Actions are accepted only from the page of this program.');
    const action = parseAction(request.body);
    if (action === undefined) return this.#refuse(request, reply, 400, 'This is not a valid action.');
    try {
      const result = await act(action, observer.servers, onDrain);
      onAudit?.({ event: 'action', address: request.ip, ...action, ...result });
      return await reply.code(result.ok ? 200 : 409).send(result);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      onAudit?.({ event: 'action', address: request.ip, ...action, ok: false, text });
      return reply.code(500).send({ ok: false, count: 0, text });
    }
  }

  /** Also logs an authorized request that is not a valid action. */
  #refuse({ ip }: FastifyRequest, reply: FastifyReply, code: 400 | 403, text: string): FastifyReply {
    this.#options.onAudit?.({ event: 'action', address: ip, ok: false, text });
    return reply.code(code).send({ ok: false, count: 0, text });
  }
}

/** A connection is served once it has its turn; before, Node reads a first piece of it. Returns those that have not used it for a request. */
function admitByTurns(server: Server, turns: HttpTurns): WeakSet<Socket> {
  const fresh = new WeakSet<Socket>();
  const serve = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    // A client may leave before its turn.
    socket.on('error', () => undefined);
    // `requestTimeout` does not cover a connection that never sends a byte.
    const timer = setTimeout(() => {
      if (socket.bytesRead === 0) socket.destroy();
    }, REQUEST_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
    });
    turns.take(socket.remoteAddress ?? '', socket, () => {
      fresh.add(socket);
      for (const listener of serve) Reflect.apply(listener, server, [socket]);
    });
  });
  return fresh;
}

/** The host and port in `HOST:PORT` or `[HOST]:PORT`. Throws `OPTIONS_INVALID`. */
function parseListen(listen: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port = ''] = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(listen) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    throw new ProjError('OPTIONS_INVALID', `http: "${listen}" must be HOST:PORT, such as 127.0.0.1:8055`);
  return { host, port: Number(port) };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Rejects names that foreign DNS could point at us. */
function isLocalName(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isIP(name) !== 0;
}
