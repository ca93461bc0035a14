import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { ManualClock } from '@proj/heartbeat';
import { afterEach, expect, it, vi } from 'vitest';
import { Front } from '../src/front.js';
import { REFUSALS } from '../src/refusals.js';
import { HttpTurns } from '../src/turns.js';

const ended: (() => Promise<void> | void)[] = [];
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

/** A server behind a front that refuses `/refused`. */
async function start(bounds = {}, isLocal = false) {
  const clock = new ManualClock();
  const turnBounds = { perSecond: 1, savedMax: 3, spacingMs: 0, waitingMax: 10, waitMs: 60_000, ...bounds };
  const turns = new HttpTurns(turnBounds, clock);
  const front = new Front({ connectionsMax: 10, headMaxBytes: 1000, headMs: 60_000, isLocal }, turns, ({ path }) =>
    path === '/refused' ? REFUSALS.notFound : undefined,
  );
  const served: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    served.push(url);
    response.end('served');
  });
  front.guard(server);
  const accepted: Socket[] = [];
  server.on('connection', (socket: Socket) => accepted.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ended.push(() => {
    turns.close();
    front.close();
    server.close().closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const open = async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    ended.push(() => void socket.destroy());
    const accepting = once(server, 'connection');
    let text = '';
    socket.setEncoding('latin1').on('data', (data: string) => (text += data));
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
    const [[peer]] = (await Promise.all([accepting, once(socket, 'connect')])) as [[Socket], unknown];
    /** Sends a piece and waits until it was read. */
    const send = async (piece: string) => {
      const read = peer.bytesRead + piece.length;
      socket.write(piece);
      while (peer.bytesRead < read && !peer.destroyed) await new Promise(setImmediate);
    };
    return { socket, peer, send, closed };
  };
  return { clock, turns, front, served, open };
}

it('serves one request on a connection', async () => {
  const { served, open } = await start();
  const { socket, closed } = await open();
  socket.write(`${GET}${GET}`);
  expect(await closed).toMatch(/^HTTP\/1.1 200 OK\r\nconnection: close\r\n[^]*served$/);
  expect(served).toEqual(['/']);
});

it('ends the connection of a request that expects something else', async () => {
  const { open } = await start();
  const { socket, closed } = await open();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n');
  expect(await closed).toContain('417');
});

it('serves a head that comes in pieces, and its body', async () => {
  const { served, open } = await start();
  const { send, closed } = await open();
  for (const piece of ['POST /a HTTP/1.1\r\n', 'Host: a\r\nContent-Length: 4', '\r\n\r\nbo']) await send(piece);
  await send('dy');
  expect(await closed).toContain('200 OK');
  expect(served).toEqual(['/a']);
});

it('cuts a head that comes in too many pieces', async () => {
  const { served, open } = await start();
  const { send, peer, closed } = await open();
  for (const piece of 'GET / H') await send(piece);
  expect(peer.destroyed).toBe(false);
  await send('T');
  expect(await closed).toBe('');
  expect(served).toEqual([]);
});

it('refuses without asking the server', async () => {
  const { served, open } = await start();
  const { socket, closed } = await open();
  socket.write('GET /refused?a HTTP/1.1\r\nHost: a\r\n\r\n');
  const [head = '', body = ''] = (await closed).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1.1 404 Not Found\r\n/);
  expect(head).toMatch(`content-length: ${body.length}\r\nconnection: close`);
  expect([JSON.parse(body), served]).toEqual([{ error: 'Not found.' }, []]);
});

it.each([
  ['a head that is too long', `GET / HTTP/1.1\r\nHost: ${'a'.repeat(1000)}\r\n\r\n`, '431'],
  ['what does not begin like a request', '\x16\x03\x01', '400'],
  ['a head that only the server understands', 'GET /refused HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', '200'],
  ['a head with bare line feeds', 'GET / HTTP/1.1\n\n', '400'],
])('answers %s', async (_, bytes, status) => {
  const { open } = await start();
  const { socket, closed } = await open();
  socket.write(bytes);
  expect((await closed).slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
});

it('lets a client read that it is refused, however much of its body is unread', async () => {
  const { front, open } = await start();
  const { socket, peer } = await open();
  const over = once(socket, 'end');
  socket.write(`POST /refused HTTP/1.1\r\nHost: a\r\n\r\n${'x'.repeat(2_000_000)}`);
  // Rejects if the connection is reset first.
  await over;
  expect(peer.destroyed).toBe(false);
  front.close();
  expect(peer.destroyed).toBe(true);
});

it('reads nothing of a connection before its turn', async () => {
  const { clock, open } = await start({ savedMax: 1 });
  await open();
  const { socket, peer, closed } = await open();
  socket.write('GET / HTTP/1.1\r\n');
  // By the time that another connection is accepted, this one could have been read.
  await open();
  expect(peer.bytesRead).toBe(0);
  clock.advance(1000);
  socket.write('Host: a\r\n\r\n');
  expect(await closed).toContain('200 OK');
});

it('cuts a connection that waits too long for its turn', async () => {
  const { clock, served, open } = await start({ savedMax: 0, waitMs: 500 });
  const { socket, closed } = await open();
  socket.write(GET);
  clock.advance(1000);
  expect(await closed).toBe('');
  expect(served).toEqual([]);
});

it('lets a connection that had its turn take longer than that', async () => {
  const { clock, open } = await start({ waitMs: 500 });
  const { socket, send, closed } = await open();
  await send('GET / HTTP/1.1\r\n');
  clock.advance(1000);
  socket.write('Host: a\r\n\r\n');
  expect(await closed).toContain('200 OK');
});

it.each([
  [true, ''],
  [false, '127.0.0.1'],
])('takes turns by address, but not on loopback (%s)', async (isLocal, address) => {
  const { turns, open } = await start({}, isLocal);
  const take = vi.spyOn(turns, 'take');
  await open();
  expect(take).toHaveBeenCalledWith(address, expect.anything(), expect.anything());
});

it('gives the turn of a connection that has left to the next one', async () => {
  const { clock, open } = await start({ savedMax: 1 });
  const gone = await open();
  gone.socket.write('GET /');
  const { socket, closed } = await open();
  socket.write(GET);
  const left = new Promise((resolve) => gone.peer.once('close', resolve));
  gone.socket.resetAndDestroy();
  await left;
  clock.advance(250);
  expect(await closed).toContain('200 OK');
});

it('cuts connections whose heads are not complete when it is closed', async () => {
  const { front, open } = await start();
  const { send, closed } = await open();
  await send('GET /');
  front.close();
  expect(await closed).toBe('');
});
