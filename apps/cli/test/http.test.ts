/** `proj status --http`, `stats`, `dead` and `purge` with a queue on HTTP, and with other HTTP servers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { dead } from '../src/dead.js';
import { purge } from '../src/purge.js';
import { stats } from '../src/stats.js';
import { status } from '../src/status.js';
import { run, showQueue, TOKEN } from './in-process.js';
import type { ShownQueue } from './in-process.js';

let folder: string;
let tokenFile: string;
let queue: ShownQueue;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cli-http-'));
  tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${TOKEN}\n`);
  queue = await showQueue();
});
afterAll(async () => {
  await queue[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

const care = (operands: readonly string[], more: object = {}) =>
  run(dead, operands, { http: queue.url, tokenFile, ...more });

/** The address of a server that answers like this. */
async function serve(listener: RequestListener): Promise<string> {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}/`;
}

describe('proj dead', () => {
  it('lists dead letters, shows one, returns and discards some', async () => {
    const first = await queue.bury('one');
    const second = await queue.bury('two');
    const { lines } = await care(['list']);
    expect(lines[0]).toMatch(/^ID +REASON +DELIVERIES +SIZE +DIED$/);
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual([first, second]);
    expect(JSON.parse((await care(['list'], { json: true })).lines.join())).toMatchObject([
      { id: first, attempts: 1, bytes: 3 },
      { id: second },
    ]);
    expect(await care(['show', second])).toEqual({ code: 0, lines: ['two'] });
    expect(await care(['show', second], { json: true })).toEqual({
      code: 0,
      lines: [`{"id":"${second}","body":"two"}`],
    });
    expect((await care(['return', first])).lines).toEqual(['Dead letters back in the queue: 1.']);
    expect(await queue.take()).toBe('one');
    expect((await care(['discard'], { all: true, yes: true })).lines).toEqual(['Dead letters discarded: 1.']);
    await expect(care(['show', second])).rejects.toMatchObject({
      code: 'REJECTED',
      message: `${queue.url}: there is no dead letter "${second}"`,
    });
    await expect(care(['return', first])).rejects.toMatchObject({
      code: 'REJECTED',
      message: `${queue.url}: None of these dead letters exists any more.`,
    });
  });

  it.each([
    ['another action', ['revive'], {}, 'dead revive: must be'],
    ['show without an id', ['show'], {}, 'dead show: must be'],
    ['ids and --all', ['return', '1'], { all: true }, 'dead return 1: must be'],
    ['neither', ['discard'], {}, 'dead discard: must be'],
    ['all without --yes and without a terminal', ['discard'], { all: true }, 'confirm with --yes'],
    ['a missing token file', ['list'], { tokenFile: '/nowhere' }, 'must be a readable file (ENOENT)'],
    ['a token file without a token', ['list'], { tokenFile: '/dev/null' }, 'must be a file with a token'],
  ])('refuses %s', async (_, operands, more, why) => {
    await expect(care(operands, more)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining(why) as string,
    });
  });

  it('says what to do without a token', async () => {
    await expect(care(['discard', '1'], { tokenFile: undefined })).rejects.toMatchObject({
      code: 'REJECTED',
      message: `${queue.url}: The token is missing. Give it with --token-file.`,
    });
  });
});

describe('proj stats', () => {
  it('prints the counters of a protocol, without those that are zero', async () => {
    await queue.store('three');
    expect(await queue.take()).toBe('three');
    queue.tick();
    const { lines } = await run(stats, ['pzq'], { http: queue.url });
    expect(lines[0]).toMatch(/^PROTOCOL +KIND +NAME +VALUE$/);
    expect(lines.join('\n')).toMatch(/\npzq +counter +stored +\d+\n/);
    expect(lines.join('\n')).not.toContain('commitsFailed');
    expect((await run(stats, [], { http: queue.url, all: true })).lines.join('\n')).toContain('commitsFailed');
  });

  it('prints them as JSON', async () => {
    const { lines } = await run(stats, [], { http: queue.url, json: true });
    expect(JSON.parse(lines.join())).toMatchObject({
      pzq: {
        counters: { commitsFailed: 0 },
        dropped: { 'no-frames': 0 },
        gauges: { dead: expect.any(Number) as number },
      },
    });
  });

  it('says which protocols there are', async () => {
    await expect(run(stats, ['mdp'], { http: queue.url })).rejects.toMatchObject({
      code: 'REJECTED',
      message: `${queue.url}: the program does not serve "mdp": it serves pzq`,
    });
  });
});

describe('proj status --http', () => {
  it('prints the program, its faults and tables', async () => {
    const { lines } = await run(status, [], { http: queue.url });
    expect(lines[0]).toMatch(/^proj-queue 1\.2\.3, process \d+, up /);
    expect(lines[1]).toMatch(/ ready, .* in flight, .* dead, .*busy .*, memory /);
    // Each snapshot counts as a second, and there were many: a consumer may look slow.
    expect(lines[2]).toMatch(/^(no faults$|FAULT [a-z-]+: )/);
    expect(lines.join('\n')).toMatch(/\n\nQUEUE +PROTOCOL +PER S +READY/);
  });

  it('prints one JSON object, also for an address without http://', async () => {
    const { lines } = await run(status, [], { http: queue.url.replace('http://', ''), json: true });
    expect(JSON.parse(lines.join())).toMatchObject({
      process: { name: 'proj-queue' },
      servers: { pzq: { protocol: 'pzq' } },
      faults: {},
      point: { at: expect.any(Number) as number },
    });
  });
});

describe('proj purge', () => {
  it('removes the waiting messages of a queue', async () => {
    await using full = await showQueue();
    await full.store('four');
    await full.store('five');
    const { lines } = await run(purge, ['pzq'], { http: full.url, tokenFile, yes: true });
    full.tick();
    const figures = (await run(stats, [], { http: full.url, json: true })).lines.join();
    const { purged } = (JSON.parse(figures) as { pzq: { counters: { purged: number } } }).pzq.counters;
    // One message may be on its way to a consumer, whether or not there is a consumer.
    expect(purged).toBeGreaterThan(0);
    expect(lines).toEqual([`Messages purged: ${purged}.`]);
  });

  it('names the queue twice, and prints how many messages there were', async () => {
    let asked: unknown;
    const http = await serve((request, response) => {
      request.on(
        'data',
        (body: Buffer) => (asked = [request.headers.authorization, JSON.parse(body.toString()) as unknown]),
      );
      request.on('end', () => response.end(JSON.stringify({ ok: true, count: 7, text: 'Messages purged: 7.' })));
    });
    expect((await run(purge, ['orders'], { http, tokenFile, yes: true })).lines).toEqual(['Messages purged: 7.']);
    expect(asked).toEqual([`Bearer ${TOKEN}`, { action: 'purge', protocol: 'pzq', name: 'orders', confirm: 'orders' }]);
  });

  it('does nothing without a terminal to ask at', async () => {
    await expect(run(purge, ['pzq'], { http: queue.url, tokenFile })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringMatching(
        /^This removes the waiting messages of queue pzq, now \d+, for good\. .*--yes/,
      ) as string,
    });
  });

  it('knows the names of queues', async () => {
    await expect(run(purge, ['nothing'], { http: queue.url, protocol: 'mdp' })).rejects.toMatchObject({
      code: 'REJECTED',
      message: `${queue.url}: there is no queue "nothing" of mdp`,
    });
  });
});

describe('an action', () => {
  it('that is not answered in time may still be in progress', async () => {
    const http = await serve(() => undefined);
    const discard = run(dead, ['discard'], { http, tokenFile, all: true, yes: true, timeoutMs: 50 });
    await expect(discard).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: `${http}: no answer within 50 ms; the action may still be under way: look with proj status --http ${http}`,
    });
  });

  it('has a minute, a query 2500 ms', async () => {
    const timer = vi.spyOn(globalThis, 'setTimeout');
    const limits = () => timer.mock.calls.map(([, ms]) => ms).filter((ms) => ms === 2500 || ms === 60_000);
    const ask = { http: queue.url, tokenFile, timeoutMs: undefined };
    try {
      await run(dead, ['list'], ask);
      expect(limits()).toEqual([2500]);
      await run(purge, ['pzq'], { ...ask, yes: true });
      expect(limits()).toEqual([2500, 60_000]);
    } finally {
      timer.mockRestore();
    }
  });
});

describe('a sentence of the program', () => {
  const STEERS = 'Gone\x1b[2J\x9b2J\u202e.';
  const HARMLESS = 'Gone\u00b7[2J\u00b72J\u00b7.';
  const acts = [
    (http: string) => run(purge, ['orders'], { http, tokenFile, yes: true }),
    (http: string) => run(dead, ['return', '1'], { http, tokenFile }),
    (http: string) => run(dead, ['discard', '1'], { http, tokenFile }),
  ];

  it('does not steer the terminal when something was done', async () => {
    const http = await serve((_, response) => response.end(JSON.stringify({ ok: true, count: 1, text: STEERS })));
    for (const act of acts) expect((await act(http)).lines).toEqual([HARMLESS]);
  });

  it.each([
    [409, { ok: false, count: 0, text: STEERS }],
    [403, { error: STEERS }],
  ])('does not steer it when nothing was, with status %i', async (status, answer) => {
    const http = await serve((_, response) => response.writeHead(status).end(JSON.stringify(answer)));
    for (const act of acts)
      await expect(act(http)).rejects.toMatchObject({ code: 'REJECTED', message: `${http}: ${HARMLESS}` });
  });
});

describe('an address', () => {
  it.each<[string, RequestListener, string, string]>([
    ['with a page behind it', (_, response) => response.end('<html>'), 'PROTOCOL_REMOTE', 'is not a program'],
    [
      'with other JSON behind it',
      (_, response) => response.end('{"process":1}'),
      'PROTOCOL_REMOTE',
      'is not a program',
    ],
    [
      'that redirects',
      (_, response) => response.writeHead(302, { location: '/x' }).end(),
      'UNREACHABLE',
      'cannot be reached',
    ],
    ['that does not answer', () => undefined, 'TIMEOUT', 'no answer within 50 ms'],
    ['whose answer does not end', (_, response) => response.write('{'), 'TIMEOUT', 'no answer within 50 ms'],
  ])('%s is told', async (_, listener, code, why) => {
    const http = await serve(listener);
    // The limit may be reached only if it is the subject of the test.
    const timeoutMs = code === 'TIMEOUT' ? 50 : 60_000;
    await expect(run(stats, [], { http, timeoutMs })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(why) as string,
    });
  });

  it.each<[string, (response: ServerResponse) => void, string]>([
    ['stalls', (response) => response.write('half'), 'TIMEOUT'],
    ['breaks off', (response) => response.write('half', () => response.destroy()), 'UNREACHABLE'],
  ])('whose dead letter %s is reported', async (_, answer, code) => {
    const http = await serve((_request, response) => answer(response));
    const timeoutMs = code === 'TIMEOUT' ? 50 : 60_000;
    await expect(run(dead, ['show', '1'], { http, tokenFile, timeoutMs })).rejects.toMatchObject({ code });
  });

  it('without a listener is reported, with what to do', async () => {
    await expect(run(stats, [], { http: '127.0.0.1:9' })).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:9\/: cannot be reached .*start the program with --http/,
      ) as string,
    });
  });

  it('that is invalid is refused', async () => {
    await expect(run(stats, [], { http: 'http://:::' })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  it('is abandoned when the user interrupts', async () => {
    const reason = new Error('stopped');
    const stop = new AbortController();
    const http = await serve(() => {
      stop.abort(reason);
    });
    await expect(run(stats, [], { http }, stop.signal)).rejects.toBe(reason);
  });
});
