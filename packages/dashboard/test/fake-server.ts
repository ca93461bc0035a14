/** The HTTP interface of a program, with invented data: for `npx vite` and for tests of the page without a broker. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Action, ActionResult } from '@proj/observe/model';
import { deadBody, FakeProgram } from './fake-data.js';
import type { Size } from './fake-data.js';

/** The token that the fake takes. */
export const FAKE_TOKEN = 'let-me-in';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** As strict as the real server, so that nothing works here that does not work there. */
const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** What may be other than usual. */
export interface FakeOptions extends Partial<Size> {
  /** Nothing is shown without the token. */
  readonly isLocked?: boolean;
}

/** `/api` of a program; other paths go to `next`. */
export interface FakeApi {
  readonly program: FakeProgram;
  readonly handle: (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
  /** Ends the streams of events, as a restart does. */
  readonly cut: () => void;
  readonly close: () => void;
}

/** A fake with 1,000 workers and 10,000 services, unless another size is given. */
export function fakeApi({ isLocked = false, ...size }: FakeOptions = {}): FakeApi {
  const program = new FakeProgram(Date.now(), { services: 10_000, workers: 1000, clients: 120, ...size });
  const streams = new Set<ServerResponse>();
  const timer = setInterval(() => {
    const delta = JSON.stringify(program.tick(Date.now()));
    for (const stream of streams) stream.write(`event: delta\ndata: ${delta}\n\n`);
  }, 1000);
  const handle = (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const path = new URL(request.url ?? '/', 'http://fake').pathname;
    if (isLocked && path.startsWith('/api/') && !isKnown(request)) response.writeHead(401).end();
    else if (path === '/api/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(`event: model\ndata: ${JSON.stringify(program.model)}\n\n`);
      streams.add(response);
      response.on('close', () => streams.delete(response));
    } else if (path.startsWith('/api/dead/')) {
      const row = program.model.deadLetters[decodeURIComponent(path.slice('/api/dead/'.length))];
      if (!isKnown(request)) response.writeHead(401).end();
      else if (row === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(deadBody(row));
    } else if (path === '/api/actions' && request.method === 'POST') void answer(program, request, response);
    else next();
  };
  const cut = (): void => {
    for (const stream of streams) stream.end();
  };
  const close = (): void => {
    clearInterval(timer);
    cut();
  };
  return { program, handle, cut, close };
}

/** A fake program that serves the built page on a port of its own. */
export async function startFakeServer(options?: FakeOptions): Promise<FakeApi & { readonly url: string }> {
  const api = fakeApi(options);
  const server = createServer((request, response) =>
    api.handle(request, response, () => void serveFile(request.url ?? '/', response)),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    api.close();
    server.closeAllConnections();
    server.close();
  };
  return { ...api, close, url: `http://127.0.0.1:${port}/` };
}

async function serveFile(url: string, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(url, 'http://fake');
  const file = fileURLToPath(new URL(join('../dist', pathname === '/' ? 'index.html' : pathname), import.meta.url));
  const bytes = await readFile(file).catch(() => undefined);
  if (bytes === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain', ...SECURITY }).end(bytes);
}

function isKnown({ headers }: IncomingMessage): boolean {
  return headers.authorization === `Bearer ${FAKE_TOKEN}`;
}

async function answer(program: FakeProgram, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const piece of request) text += String(piece);
  const mayAct = isKnown(request);
  const result = mayAct
    ? perform(program, JSON.parse(text) as Action)
    : { ok: false, count: 0, text: 'A token is needed.' };
  response.writeHead(mayAct ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(result));
}

function perform(program: FakeProgram, action: Action): ActionResult {
  switch (action.action) {
    case 'requeue-dead':
    case 'discard-dead': {
      const count = program.takeDead(action.ids);
      const done = action.action === 'requeue-dead' ? 'returned to the queue' : 'discarded';
      return { ok: count > 0, count, text: `${count} dead letter${count === 1 ? '' : 's'} ${done}.` };
    }
    case 'drain-worker':
    case 'disconnect-worker': {
      const isKnown = program.killWorker(`${action.protocol}/${action.id}`);
      return { ok: isKnown, count: Number(isKnown), text: isKnown ? `${action.id} was told.` : 'No such worker.' };
    }
    case 'drain-process':
      program.drain();
      return { ok: true, count: 1, text: 'The program drains.' };
    case 'purge':
      return action.confirm === action.name
        ? { ok: true, count: 120, text: `${action.name} is empty.` }
        : { ok: false, count: 0, text: 'The confirmation is not the name of the queue.' };
    case 'drain-service':
    case 'pause':
    case 'resume':
      return { ok: true, count: 1, text: `${action.name}: done.` };
  }
}
