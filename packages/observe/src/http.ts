/** The HTTP side: the page, metrics, health, the model as a document and as a stream, actions. Knows no protocol. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import helmet from '@fastify/helmet';
import { systemClock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { act, parseAction } from './actions.js';
import { addressesOf, isLocalName, isLoopback, parseListen } from './addresses.js';
import { readAssets } from './assets.js';
import type { Asset } from './assets.js';
import { expose, formatFor, FORMATS } from './exposition.js';
import { SERVER_FAMILIES, SERVICES_MAX, ServiceNames } from './families.js';
import { Front } from './front.js';
import type { Model } from './model.js';
import type { Observer } from './observe.js';
import { processFamilies } from './process-families.js';
import { REFUSALS } from './refusals.js';
import type { Refusal, RequestHead } from './refusals.js';
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
/**
 * Connections that the system queues until we accept them. Beyond this, it asks clients to try again after a second or more: so a crowd
 * comes little by little.
 */
const BACKLOG = 64;
/** Floods get little of a core. A connection takes one turn, for its only request. */
const TURNS = { perSecond: 15, savedMax: 50, spacingMs: 5, waitingMax: 1024, waitMs: 8000 };
/** Time limit for the headers, and for the body, of a request. */
const REQUEST_MS = 10_000;
/**
 * A crowd waits here: connections that are cut at once come back at once, and that costs more than keeping them. Room for all that wait, all
 * that have had turns within {@link REQUEST_MS}, and all streams: so one address cannot keep others out.
 */
const FRONT = { connectionsMax: 1408, headMaxBytes: HEADERS_MAX_BYTES, headMs: REQUEST_MS };
const STREAMS_MAX = 64;
const STREAM_UNREAD_MAX_BYTES = 8 * 2 ** 20;
const NO_PAGE = 'This program was built without its page. See /metrics and /api/model.';
const ACTIONS = '/api/actions';
const DEAD = '/api/dead/';
const EVENTS = '/api/events';
/** What anyone on this machine may read. */
const READS: ReadonlySet<string> = new Set(['/readyz', '/metrics', '/api/model', EVENTS]);
const PATHS: ReadonlySet<string> = new Set(['/', '/healthz', ACTIONS, ...READS]);
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
  const endpoint = new Endpoint(options, isLocal);
  const turns = new HttpTurns(TURNS, systemClock);
  const front = new Front({ ...FRONT, isLocal }, turns, (head, address) => endpoint.refusalOf(head, address));
  const limits = { maxHeaderSize: HEADERS_MAX_BYTES, headersTimeout: REQUEST_MS, connectionsCheckingInterval: 1000 };
  const app = Fastify({
    bodyLimit: OTHER_BODY_MAX_BYTES,
    requestTimeout: REQUEST_MS,
    connectionTimeout: 0,
    forceCloseConnections: true,
    exposeHeadRoutes: true,
    http: limits,
  });
  front.guard(app.server);
  app.addHook('onRequest', (request, _reply, done) => {
    front.pass(request.raw, request.ip, done);
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
  await endpoint.routes(app);
  const close = async (): Promise<void> => {
    turns.close();
    front.close();
    endpoint.close();
    await app.close();
  };
  const [first = host, ...others] = await addressesOf(host);
  try {
    await app.listen({ host: first, port, backlog: BACKLOG });
  } catch (error) {
    await close();
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new ProjError('ADDRESS_IN_USE', `http: ${options.listen} is in use`);
    throw new ProjError('OPTIONS_INVALID', `http: cannot listen on "${options.listen}" (${message})`);
  }
  const stopDeltas = observer.onDelta((delta) => {
    endpoint.streams.send(delta);
  });
  const { port: bound } = app.server.address() as AddressInfo;
  const beside = others.map((address) => {
    const server = createServer({ ...limits, requestTimeout: REQUEST_MS }, (request, response) => {
      app.routing(request, response);
    });
    front.guard(server);
    return server.listen({ host: address, port: bound, backlog: BACKLOG });
  });
  // The first address is enough, for example on machines without IPv6.
  await Promise.allSettled(beside.map((server) => once(server, 'listening')));
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}/`,
    close: async () => {
      stopDeltas();
      for (const server of beside) server.close().closeAllConnections();
      await close();
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
  #assets: ReadonlyMap<string, Asset> = new Map();
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
      if (this.#isLocal && !isLocalName(request.headers.host)) await send(reply, REFUSALS.foreign);
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
    app.get(EVENTS, { ...read, exposeHeadRoute: false }, (request, reply) => {
      this.#stream(request, reply);
    });
    app.get<{ Params: { id: string } }>(`${DEAD}:id`, bodies, async ({ params }, reply) => {
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
    app.post(ACTIONS, actions, (request, reply) => this.#act(request, reply));
    if (folder !== undefined) this.#assets = await readAssets(folder);
    app.get('/*', async (request, reply) => {
      const path = request.url.split('?', 1).join('');
      const asset = this.#assets.get(path === '/' ? '/index.html' : path);
      if (asset === undefined && path !== '/') return send(reply, REFUSALS.notFound);
      if (asset === undefined) return reply.code(404).send({ error: NO_PAGE });
      return reply
        .header('cache-control', asset.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
        .type(asset.type)
        .send(asset.body);
    });
  }

  /** What the head of a request shows to be refused. The routes repeat these rules for heads that are not plain. */
  refusalOf({ method, path, headers }: RequestHead, address: string): Refusal | undefined {
    if (method !== 'GET' && method !== 'POST') return undefined;
    const name = decoded(path);
    if (name === undefined) return REFUSALS.noPath;
    if (this.#isLocal && !isLocalName(headers.get('host'))) return REFUSALS.foreign;
    const isDead = name.startsWith(DEAD);
    const isAction = method === 'POST' && name === ACTIONS;
    if (isAction || (isDead && this.#guard !== undefined) || (!this.#isLocal && READS.has(name))) {
      const refusal = this.#checkToken(headers.get('authorization'), address, path);
      if (refusal !== undefined) return refusal;
    }
    if (Number(headers.get('content-length') ?? 0) > (isAction ? BODY_MAX_BYTES : OTHER_BODY_MAX_BYTES))
      return REFUSALS.longBody;
    if (!isDead && !PATHS.has(name) && !this.#assets.has(name)) return REFUSALS.notFound;
    return name === EVENTS && this.streams.isFull ? REFUSALS.streams : undefined;
  }

  readonly #authorize = async ({ headers, ip, url }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const refusal = this.#checkToken(headers.authorization, ip, url.split('?', 1).join(''));
    if (refusal !== undefined) await send(reply, refusal);
  };

  #checkToken(authorization: string | undefined, address: string, path: string): Refusal | undefined {
    const verdict = this.#guard?.check(authorization, address);
    if (verdict === 'ok') return undefined;
    if (verdict === undefined) return REFUSALS.noActions;
    if (verdict !== 'missing') this.#options.onAudit?.({ event: 'token refused', verdict, address, path });
    return REFUSALS[verdict];
  }

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
      void send(reply, REFUSALS.streams);
      return;
    }
    const headers = reply.getHeaders() as Record<string, string>;
    reply.hijack();
    request.raw.socket.setNoDelay(true);
    // Not in chunks: then each event is one write of the bytes that all streams share.
    reply.raw.removeHeader('transfer-encoding');
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

function send(reply: FastifyReply, { status, error, headers = {} }: Refusal): FastifyReply {
  return reply.code(status).headers(headers).send({ error });
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
