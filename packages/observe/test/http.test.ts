import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { serveHttp } from '../src/http.js';
import type { HttpOptions } from '../src/http.js';
import { observe } from '../src/observe.js';
import type { ObservedServer } from '../src/server.js';
import { fakeServer, service } from './fake-server.js';

const TOKEN = 'correct-horse-battery';
const BEARER = { authorization: `Bearer ${TOKEN}` };
const ended: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

interface Answer {
  /** 0 if the server cut the connection. */
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** A running server of a fake, and a way to query it. */
async function start(options: Partial<HttpOptions> = {}, server: Partial<ObservedServer> = {}) {
  const fake = fakeServer({ protocol: 'pzq', services: [service()] });
  const observer = observe({
    name: 'test',
    version: '1.2.3',
    servers: [{ protocol: 'pzq', facade: fake, ...server }],
    every: () => () => undefined,
  });
  const http = await serveHttp({ listen: '127.0.0.1:0', observer, ...options });
  ended.push(
    () => http.close(),
    () => {
      observer.close();
    },
  );
  const ask = async (
    path: string,
    init: { method?: string; headers?: OutgoingHttpHeaders; body?: string } = {},
  ): Promise<Answer> => {
    const sent = request({
      host: '127.0.0.1',
      agent: false,
      port: new URL(http.url).port,
      path,
      method: init.method ?? 'GET',
      headers: init.headers,
    });
    sent.on('error', () => undefined);
    sent.end(init.body);
    const [response] = (await once(sent, 'response').catch(() => [])) as [IncomingMessage?];
    if (response === undefined) return { status: 0, headers: {}, text: '' };
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  };
  const act = (action: object, headers: OutgoingHttpHeaders = BEARER) =>
    ask('/api/actions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(action),
    });
  /** An open event stream. */
  const stream = async () => {
    const sent = request(new URL('/api/events', http.url), { agent: false });
    sent.on('error', () => undefined);
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    ended.push(() => void sent.destroy());
    return response;
  };
  return { fake, observer, http, ask, act, stream, port: Number(new URL(http.url).port) };
}

async function* letters(...keys: readonly string[]) {
  for (const key of keys) {
    await Promise.resolve();
    yield { key, reason: 'deliveries', deliveries: 3, diedMicros: 1e15, body: [Buffer.from('hel'), Buffer.from('lo')] };
  }
}

describe('what can be read', () => {
  it('is alive, ready, or says why not', async () => {
    const faults: { code: string; text: string }[] = [];
    const { ask, observer } = await start({}, { fault: () => faults[0] });
    expect((await ask('/healthz')).status).toBe(200);
    expect((await ask('/readyz')).status).toBe(200);
    faults.push({ code: 'ENOSPC', text: 'no space' });
    observer.draining();
    const { status, text } = await ask('/readyz');
    expect([status, JSON.parse(text)]).toEqual([
      503,
      {
        ready: false,
        reasons: [
          { server: 'process', reason: 'draining' },
          { server: 'pzq', reason: 'ENOSPC' },
        ],
      },
    ]);
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('serves both formats of metrics', async () => {
    const { ask } = await start();
    const plain = await ask('/metrics');
    expect(plain.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(plain.text).toContain('proj_workers{protocol="pzq",service="echo"} 1\n');
    expect(plain.text).toContain('process_cpu_seconds_total ');
    const open = await ask('/metrics', { headers: { accept: 'application/openmetrics-text' } });
    expect(open.headers['content-type']).toMatch('application/openmetrics-text');
    expect(open.text).toMatch(/# EOF\n$/);
  });

  it('streams the model, then deltas', async () => {
    const { fake, observer, stream } = await start();
    const response = await stream();
    const chunks: string[] = [];
    response.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
    await once(response, 'data');
    fake.snapshot = { ...fake.snapshot, services: [service({ waiting: 5 })] };
    observer.tick();
    await once(response, 'data');
    const [first, second] = chunks
      .join('')
      .split('\n\n')
      .filter((event) => event !== '')
      .map((event) => JSON.parse(event.slice(event.indexOf('{'))) as object);
    expect(first).toMatchObject({ process: { name: 'test' }, services: { 'pzq/echo': { waiting: 0 } } });
    expect(second).toMatchObject({ services: { 'pzq/echo': { waiting: 5 } } });
  });

  it('serves the files of the page and nothing beside them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'proj-page-'));
    ended.push(() => rm(folder, { recursive: true }));
    await mkdir(join(folder, 'page', 'assets'), { recursive: true });
    await writeFile(join(folder, 'secret.txt'), 'secret');
    await writeFile(join(folder, 'page', 'index.html'), '<p>page');
    await writeFile(join(folder, 'page', 'assets', 'a-1.js'), '1');
    const { ask } = await start({ assets: join(folder, 'page') });
    const page = await ask('/');
    expect([page.text, page.headers['content-type']]).toEqual(['<p>page', 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toMatch("default-src 'self'");
    expect(page.headers['x-content-type-options']).toBe('nosniff');
    expect((await ask('/assets/a-1.js')).headers['cache-control']).toMatch('immutable');
    for (const path of [
      '/../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e/secret.txt',
      '/assets/../../secret.txt',
      '//secret.txt',
      '/secret.txt',
      '/assets\\..\\..\\secret.txt',
      '/%00',
      '/%',
    ])
      expect([path, (await ask(path)).text]).toEqual([path, expect.not.stringContaining('secret"') as string]);
    const answers = await Promise.all(['/../secret.txt', '/..%2fsecret.txt'].map((path) => ask(path)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  });
});

describe('actions', () => {
  it('need the token', async () => {
    const { act, ask } = await start({ token: TOKEN });
    expect((await act({ action: 'drain-process' }, {})).status).toBe(401);
    expect((await act({ action: 'drain-process' }, { authorization: 'Bearer wrong-wrong-wrong' })).status).toBe(401);
    expect((await ask('/api/actions')).status).toBe(404);
  });

  it('are impossible without a token file', async () => {
    const { act } = await start();
    const { status, text } = await act({ action: 'drain-process' });
    expect([status, text]).toEqual([403, expect.stringContaining('--http-token-file')]);
  });

  it('after ten wrong tokens refuse the right one for a minute', async () => {
    const audit: object[] = [];
    const { act } = await start({ token: TOKEN, onDrain: () => undefined, onAudit: (record) => audit.push(record) });
    expect((await act({ action: 'drain-process' })).status).toBe(200);
    for (let index = 0; index < 10; index++)
      await act({ action: 'drain-process' }, { authorization: `Bearer ${index}` });
    expect((await act({ action: 'drain-process' })).status).toBe(429);
    expect(audit).toHaveLength(12);
  });

  it('call the server, are counted, and leave a line in the log', async () => {
    const audit: object[] = [];
    const calls: unknown[] = [];
    const actions = {
      pause: (name: string) => Promise.resolve(calls.push(name)),
      returnDeadLetters: (keys: Iterable<string>) => Promise.resolve(void calls.push([...keys])),
    };
    const { act } = await start(
      { token: TOKEN, onAudit: (record) => audit.push(record) },
      { actions, deadLetters: () => letters('one', 'two') },
    );
    expect(await act({ action: 'pause', protocol: 'pzq', name: 'orders' })).toMatchObject({ status: 200 });
    const requeued = await act({ action: 'requeue-dead', ids: ['two', 'gone'] });
    expect(JSON.parse(requeued.text)).toMatchObject({ ok: true, count: 1 });
    expect(calls).toEqual(['orders', ['two']]);
    expect(audit).toMatchObject([
      { event: 'action', address: '127.0.0.1', action: 'pause', name: 'orders', ok: true },
      { event: 'action', action: 'requeue-dead', ids: ['two', 'gone'], count: 1 },
    ]);
  });

  it.each([
    [{ action: 'purge', protocol: 'pzq', name: 'a', confirm: 'b' }, 409],
    [{ action: 'pause', protocol: 'mdp', name: 'a' }, 409],
    [{ action: 'pause', protocol: 'pzq', name: 'a' }, 409],
    [{ action: 'drain-worker', protocol: 'pzq', id: 'a' }, 409],
    [{ action: 'drain-worker', protocol: 'pzq', id: 5 }, 400],
    [{ action: 'drain-process', now: true }, 400],
    [{ action: 'toString' }, 400],
    [{ action: 'requeue-dead', ids: [1] }, 400],
    [[], 400],
  ])('%j is refused', async (action, status) => {
    const { act } = await start({ token: TOKEN });
    expect((await act(action)).status).toBe(status);
  });

  it('that a server does not support are not offered, and refused with what to do instead', async () => {
    const { act, observer } = await start({ token: TOKEN }, { actions: { drainWorker: () => Promise.resolve(0) } });
    expect(observer.model.servers['pzq']?.actions).toEqual(['drain-worker']);
    expect((await act({ action: 'disconnect-worker', protocol: 'pzq', id: 'w' })).text).toContain(
      'The pzq server cannot disconnect a worker: drain it, or end its process.',
    );
    expect((await act({ action: 'drain-worker', protocol: 'pzq', id: 'w' })).text).toContain('There is no \\"w\\".');
  });

  it('purge an empty queue, too, but none that does not exist', async () => {
    const purge = (name: string) => Promise.resolve(name === 'orders' ? 0 : undefined);
    const { act } = await start({ token: TOKEN }, { actions: { purge } });
    const purged = (name: string) => act({ action: 'purge', protocol: 'pzq', name, confirm: name });
    expect([(await purged('orders')).status, (await purged('other')).status]).toEqual([200, 409]);
  });

  it('drain a service without workers as well, but not an unknown service', async () => {
    const { act } = await start({ token: TOKEN }, { actions: { drainService: () => 0 } });
    const drained = async (name: string) => {
      const { status, text } = await act({ action: 'drain-service', protocol: 'pzq', name });
      return [status, (JSON.parse(text) as { text: string }).text];
    };
    expect(await drained('echo')).toEqual([200, '"echo" has no workers, so there is nothing to drain.']);
    expect(await drained('nobody')).toEqual([409, 'There is no "nobody".']);
  });

  it('leave a line even if they are invalid, or come from a foreign page', async () => {
    const audit: object[] = [];
    const { act } = await start({ token: TOKEN, onAudit: (record) => audit.push(record) });
    await act({ action: 'explode' });
    await act({ action: 'drain-process' }, { ...BEARER, origin: 'http://evil.example' });
    expect(audit).toMatchObject([
      { event: 'action', ok: false, text: 'This is not a valid action.' },
      { event: 'action', ok: false },
    ]);
  });

  it('are refused from a foreign page and as a form', async () => {
    const { act, ask } = await start({ token: TOKEN, onDrain: () => undefined });
    expect((await act({ action: 'drain-process' }, { ...BEARER, origin: 'http://evil.example' })).status).toBe(403);
    const form = { ...BEARER, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await ask('/api/actions', { method: 'POST', headers: form, body: 'action=drain-process' })).status).toBe(
      415,
    );
  });

  it('give the body of a dead letter to clients with the token', async () => {
    const { ask } = await start({ token: TOKEN }, { deadLetters: () => letters('one') });
    expect((await ask('/api/dead/one')).status).toBe(401);
    expect(await ask('/api/dead/one', { headers: BEARER })).toMatchObject({ status: 200, text: 'hello' });
    expect((await ask('/api/dead/two', { headers: BEARER })).status).toBe(404);
  });
});

describe('addresses', () => {
  it.each(['0.0.0.0:0', '[::]:0'])('%s needs a token', async (listen) => {
    await expect(start({ listen })).rejects.toThrow(/is reachable from other machines and needs a token/);
  });

  it('other than loopback require it everywhere except at /healthz', async () => {
    const { ask } = await start({ listen: '0.0.0.0:0', token: TOKEN });
    const status = async (path: string, headers = {}) => (await ask(path, { headers })).status;
    expect(await status('/healthz')).toBe(200);
    for (const path of ['/readyz', '/metrics', '/api/model', '/api/events', '/api/dead/x'])
      expect([path, await status(path)]).toEqual([path, 401]);
    expect(await status('/metrics', BEARER)).toBe(200);
  });

  it('on loopback accept no foreign host name', async () => {
    const { ask } = await start();
    expect((await ask('/api/model', { headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await ask('/api/model', { headers: { host: 'localhost:1' } })).status).toBe(200);
  });

  it('that are taken or wrong are refused with an explanation', async () => {
    const { port } = await start();
    await expect(start({ listen: `127.0.0.1:${port}` })).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    await expect(start({ listen: '8055' })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(start({ token: 'short' })).rejects.toThrow(/at least 16/);
    await expect(start({ token: 'correct horse battery' })).rejects.toThrow(/the token contains spaces/);
    await expect(start({ token: 'corréct-horse-battery' })).rejects.toThrow(/non-ASCII/);
  });
});

describe('attacks', () => {
  it('with huge headers and bodies are refused', async () => {
    const { ask } = await start({ token: TOKEN });
    expect((await ask('/healthz', { headers: { 'x-long': 'x'.repeat(20_000) } })).status).toBe(431);
    const huge = {
      method: 'POST',
      headers: { ...BEARER, 'content-type': 'application/json' },
      body: `"${'x'.repeat(2_000_000)}"`,
    };
    expect((await ask('/api/actions', huge)).status).toBe(413);
    // Without the token the body is not even read, and nothing else has one.
    const { status, headers } = await ask('/api/actions', { ...huge, headers: {} });
    expect([status, headers.connection]).toEqual([401, 'close']);
    expect((await ask('/elsewhere', { ...huge, body: `"${'x'.repeat(2000)}"` })).status).toBe(413);
  });

  it.each([
    ['a path that is not text', '/%zz', {}, 400],
    ['an expectation', '/healthz', { expect: 'more' }, 417],
  ])('with %s, answered without a turn, cost their connection', async (_, path, more, status) => {
    const { ask } = await start({ token: TOKEN });
    const answer = await ask(path, { headers: { connection: 'keep-alive', ...more } });
    expect([answer.status, answer.headers.connection]).toEqual([status, 'close']);
  });

  it.each([
    ['without the token', '/api/actions', { method: 'POST' }, 401],
    ['with a foreign host', '/api/model', { headers: { host: 'evil.example' } }, 403],
    ['with an unknown path', '/elsewhere', {}, 404],
    ['with a path that is not text', '/%zz', {}, 400],
    ['with a long body', '/api/actions', { method: 'POST', headers: BEARER, body: 'x'.repeat(1_100_000) }, 413],
  ])('%s are refused the same, whether or not their head is plain', async (_, path, init, status) => {
    const { ask } = await start({ token: TOKEN });
    const { headers = {} } = init as { readonly headers?: OutgoingHttpHeaders };
    const type = { 'content-type': 'application/json' };
    const plain = await ask(path, { ...init, headers: { ...type, ...headers } });
    const unusual = await ask(path, { ...init, headers: { ...type, ...headers, 'x-twice': ['1', '2'] } });
    expect([plain.status, unusual.status]).toEqual([status, status]);
    expect(unusual.headers['content-security-policy']).not.toBe(plain.headers['content-security-policy']);
  });

  it('beyond fifty at once wait for their turn', async () => {
    const { ask } = await start();
    const begun = performance.now();
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await ask('/healthz')).status));
    expect(statuses).toEqual(Array.from({ length: 60 }, () => 200));
    expect(performance.now() - begun).toBeGreaterThan(150);
  });

  it('with streams beyond the bound are refused, and ended ones make room', async () => {
    const { stream, ask } = await start({ streamsMax: 3 });
    const open = await Promise.all([stream(), stream(), stream()]);
    const refused = await ask('/api/events');
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect((await ask('/healthz')).status).toBe(200);
    open[0].destroy();
    let status = 503;
    while (status === 503) {
      const again = await stream();
      status = again.statusCode ?? 0;
    }
    expect(status).toBe(200);
  });

  it('with a stream that is not read end only that stream', async () => {
    const { fake, observer, port, http } = await start({ streamUnreadMaxBytes: 65_536 });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.pause();
    socket.write(`GET /api/events HTTP/1.1\r\nHost: ${new URL(http.url).host}\r\n\r\n`);
    const closed = once(socket, 'close');
    let isOpen = true;
    void closed.then(() => (isOpen = false));
    // Each tick is more than the kernel's buffers take in a few hundred; then the server cuts, and what was sent before is read to the
    // end.
    for (let step = 0; step < 400; step++) {
      const many = Array.from({ length: 200 }, (_, index) => service({ name: `s${index}`, waiting: step }));
      fake.snapshot = { ...fake.snapshot, services: many };
      observer.tick();
      await new Promise(setImmediate);
    }
    socket.resume();
    await closed;
    expect(isOpen).toBe(false);
  });
});
