/** What `--http` tells of single consumers, and does to them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Programs } from '@proj/appkit/testing';
import { afterEach, expect, it } from 'vitest';
import { Dealer, Router } from 'zeromq';

const TOKEN = 'a-token-of-the-tests';
const FREE = 'tcp://127.0.0.1:*';

const programs = new Programs();
const sockets: (Dealer | Router)[] = [];
const folder = mkdtempSync(join(tmpdir(), 'consumers-'));
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  await programs.end();
  rmSync(folder, { recursive: true });
});

async function start() {
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, TOKEN);
  const ports = ['--receive', FREE, '--send', FREE, '--monitor', FREE, '--store', 'memory:'];
  // An acknowledgement must not be late on a busy machine.
  const patient = ['--ack-timeout-ms', '600000'];
  const http = ['--http', '127.0.0.1:0', '--http-token-file', tokenFile];
  const { endpoints, http: url } = await programs.start('queue', [...ports, ...patient, ...http]).record('listening');
  return { ...(endpoints as Readonly<Record<'receive' | 'send', string>>), url: url as string };
}

/** Stores messages, one after the other. */
async function push(endpoint: string, ...texts: readonly string[]): Promise<void> {
  const producer = new Dealer({ linger: 0 });
  sockets.push(producer);
  producer.connect(endpoint);
  for (const text of texts) {
    await producer.send([text, '', text]);
    expect((await producer.receive()).map(String)).toEqual([text, '1', '']);
  }
}

/** A consumer: what takes its next message, and acknowledges it. */
function consumer(endpoint: string) {
  const socket = new Router({ linger: 0, mandatory: true });
  sockets.push(socket);
  socket.connect(endpoint);
  return async (): Promise<{ readonly text: string; readonly ack: () => Promise<void> }> => {
    const [from, key, , , , body] = await socket.receive();
    return { text: String(body), ack: () => socket.send([from!, key!, '1']) };
  };
}

interface Row {
  readonly id: string;
  readonly running: number;
  readonly done: number;
}

/** Resolves to the rows of workers, which come anew every second, when they satisfy. */
async function told(url: string, satisfies: (rows: readonly Row[]) => boolean): Promise<readonly Row[]> {
  const { body } = await fetch(new URL('api/events', url));
  let table: Readonly<Record<string, Row>> = {};
  let text = '';
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(piece).toString();
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const { workers } = JSON.parse(event.slice(event.indexOf('{'))) as { readonly workers?: typeof table };
      table = { ...table, ...workers };
    }
    const rows = Object.values(table);
    if (satisfies(rows)) return rows;
  }
  throw new Error('the queue is gone');
}

it('each has its figures; a drained one gets nothing more, and may acknowledge what it has', async () => {
  const { receive, send, url } = await start();
  const act = async (action: string, id: string, token = TOKEN) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const body = JSON.stringify({ action, protocol: 'pzq', id });
    const response = await fetch(new URL('api/actions', url), { method: 'POST', headers, body });
    return [response.status, ((await response.json()) as { readonly text?: string }).text];
  };
  const one = consumer(send);
  await push(receive, 'a');
  const a = await one();
  expect(a.text).toBe('a');
  const [{ id }] = (await told(url, ([row]) => row?.running === 1)) as [Row];
  expect(await act('drain-worker', id, 'a-guess-that-is-wrong')).toEqual([401, undefined]);
  expect(await act('drain-worker', 'nobody')).toEqual([409, 'There is no "nobody".']);
  expect(await act('disconnect-worker', id)).toEqual([
    409,
    'The pzq server cannot disconnect a worker: drain it, or end its process.',
  ]);
  expect(await act('drain-worker', id)).toEqual([200, 'Workers draining: 1.']);

  const two = consumer(send);
  await push(receive, 'b', 'c', 'd');
  const others = [await two(), await two(), await two()];
  expect(others.map(({ text }) => text)).toEqual(['b', 'c', 'd']);
  await a.ack();
  await others[0]!.ack();
  const rows = await told(url, (all) => all.reduce((sum, { done }) => sum + done, 0) === 2);
  const figures = { protocol: 'pzq', services: ['pzq'], resends: 0, refused: {} };
  expect(rows).toMatchObject([
    { ...figures, id, state: 'idle', running: 0, done: 1 },
    { ...figures, state: 'busy', running: 2, done: 1 },
  ]);
});
