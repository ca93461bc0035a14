/**
 * Attacks the HTTP server of a program on this machine, in a separate process, and prints as JSON how each attack ended:
 * `node siege.mjs PORT STREAMS SECONDS`. Streams stay open, and slow requests continue, until the time is over.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const [port = 0, streams = 0, seconds = 0] = process.argv.slice(2).map(Number);
const SLOW = 50;
const LONG = 'x'.repeat(20_000);
const PATHS = [
  '/../../../etc/passwd',
  '/..%2f..%2fetc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '//etc/passwd',
  '/%00',
  '/%',
];

/** The status of the answer; `cut` if the connection ended without one, `open` if neither came in time. */
async function statusOf(bytes, ms = 5000) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(bytes);
  const over = new AbortController();
  const ended = pause(ms, 'open', { signal: over.signal }).catch(() => 'open');
  const answered = once(socket, 'data', { signal: over.signal }).then(([data]) => data.toString('latin1').slice(9, 12));
  const cut = once(socket, 'close', { signal: over.signal }).then(() => 'cut');
  const status = await Promise.race([answered.catch(() => 'cut'), cut.catch(() => 'cut'), ended]);
  over.abort();
  return { status, socket };
}

function request(line, headers = {}, body = '') {
  const all = { Host: '127.0.0.1', Connection: 'close', ...headers };
  if (body !== '') Object.assign(all, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

async function countOf(requests, ms) {
  const counts = {};
  const sockets = [];
  await Promise.all(
    requests.map(async (bytes) => {
      const { status, socket } = await statusOf(bytes, ms);
      counts[status] = (counts[status] ?? 0) + 1;
      sockets.push(socket);
    }),
  );
  return { counts, sockets };
}

const outcomes = {};
const keep = [];
const act = (headers) => request('POST /api/actions', headers, '{"action":"drain-process"}');
const attacks = {
  streams: [Array.from({ length: streams }, () => request('GET /api/events', { Connection: 'keep-alive' })), 60_000],
  slow: [Array.from({ length: SLOW }, (_, at) => (at % 2 === 0 ? 'GET / HT' : `${act({})}`.slice(0, -9))), 100],
  noToken: [Array.from({ length: 20 }, () => act({}))],
  wrongToken: [Array.from({ length: 20 }, (_, at) => act({ Authorization: `Bearer wrong-${at}-wrong` }))],
  traversal: [PATHS.map((path) => request(`GET ${path}`))],
  hugeHeader: [[request('GET /healthz', { 'X-Long': LONG })]],
  hugeBody: [[request('POST /api/actions', {}, 'x'.repeat(2_000_000))]],
};
const endsAt = Date.now() + seconds * 1000;
// Requests that need an answer come before the connections are used up.
for (const name of ['noToken', 'traversal', 'hugeHeader', 'hugeBody', 'wrongToken', 'streams', 'slow']) {
  const { counts, sockets } = await countOf(...attacks[name]);
  outcomes[name] = counts;
  if (name === 'streams' || name === 'slow') keep.push(...sockets);
  else for (const socket of sockets) socket.destroy();
}
process.stdout.write(`${JSON.stringify(outcomes)}\n`);
while (Date.now() < endsAt) {
  const { sockets } = await countOf([act({})], 1000);
  for (const socket of sockets) socket.destroy();
  await pause(100);
}
for (const socket of keep) socket.destroy();
