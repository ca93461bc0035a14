// `npm run test:runtimes`: what works on which runtime, over real sockets, each peer a process. Prints the table of docs/RUNTIMES.md and fails if a check does
// not end as expected or the page differs; `--write` updates the page.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { runtimes } from './install.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const PAGE = join(HERE, '../../docs/RUNTIMES.md');
const [OPEN, CLOSE] = ['<!-- runtimes -->', '<!-- /runtimes -->'];
const PATIENCE_MS = 30_000;
const ANY = 'tcp://127.0.0.1:*';
const LONG = { bytes: 4_000_000, parallel: 200 };
const SERVED = { reply: 'hello', bytes: LONG.bytes, many: LONG.parallel };
const { generateCurveKeys } = createRequire(import.meta.url)('@proj/transport/curve');

/** The runtime that runs this file. */
const OURS = { name: `Node ${process.versions.node}`, command: process.execPath, args: [] };

const running = new Set();

/** A process of `peer.mjs`, or of another file, and its output. */
class Peer {
  #lines = [];
  #waiting;
  #ended = false;
  #errors = '';

  constructor(runtime, file, args) {
    this.what = `${runtime.name}: ${file} ${args[0] ?? ''}`;
    this.child = spawn(runtime.command, [...runtime.args, join(HERE, file), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.child);
    this.child.stderr.on('data', (text) => (this.#errors += text));
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.#lines.push(line);
      this.#waiting?.();
    });
    this.exit = new Promise((resolve) => {
      this.child.on('error', (error) => (this.#errors += error.message));
      this.child.on('close', (code, signal) => {
        running.delete(this.child);
        this.#ended = true;
        this.#waiting?.();
        resolve(signal ?? code);
      });
    });
  }

  /** Its next line; a reported failure is thrown. */
  async next() {
    const until = AbortSignal.timeout(PATIENCE_MS);
    const late = new Promise((resolve) => until.addEventListener('abort', resolve, { once: true }));
    while (this.#lines.length === 0) {
      if (this.#ended)
        throw new Error(`${this.what} ended with ${await this.exit}: ${this.#errors.trim().split('\n').at(-1)}`);
      if (until.aborted) throw new Error(`${this.what} said nothing for ${PATIENCE_MS} ms`);
      await Promise.race([late, new Promise((resolve) => (this.#waiting = resolve))]);
    }
    const said = JSON.parse(this.#lines.shift());
    if (said.failed === undefined) return said;
    throw Object.assign(new Error(said.failed.message), { code: said.failed.code });
  }

  /** Tells it to exit; resolves when it has. */
  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    const code = await this.exit;
    if (signal === 'SIGTERM' && code !== 0) throw new Error(`${this.what} left with ${code} ${this.#errors}`);
  }
}

const peer = (runtime, role, settings) => new Peer(runtime, 'peer.mjs', [role, JSON.stringify(settings)]);

function equal(actual, expected) {
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

/** A broker, a worker and a client: a request, a long one, and many at once. */
async function serve(runtimesOf, { endpoint = ANY, settings = {}, asServer = settings } = {}) {
  const broker = peer(runtimesOf.broker, 'broker', { endpoints: [endpoint], ...asServer });
  const { endpoints } = await broker.next();
  const worker = peer(runtimesOf.worker, 'worker', { endpoints, ...settings });
  equal(await worker.next(), { ready: true });
  const client = peer(runtimesOf.client, 'client', { endpoints, ...LONG, ...settings });
  equal(await client.next(), SERVED);
  equal(await client.exit, 0);
  return { broker, worker, endpoints };
}

async function request(runtimesOf, options) {
  const { broker, worker } = await serve(runtimesOf, options);
  await worker.stop();
  await broker.stop();
}

const all = (runtime) => ({ broker: runtime, worker: runtime, client: runtime });

async function inFolder(action) {
  const folder = mkdtempSync(join(tmpdir(), 'proj-runtimes-'));
  try {
    await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const hex = (bytes) => Buffer.from(bytes).toString('hex');

function newKeys() {
  const { publicKey, secretKey } = generateCurveKeys();
  return { publicKey: hex(publicKey), secretKey: hex(secretKey) };
}

/** Encrypted, both ways; a client whose key is not on the list is refused and told. */
async function curve(runtime) {
  const [server, known, stranger] = [newKeys(), newKeys(), newKeys()];
  const asServer = { curve: { keys: server, authorize: [known.publicKey] } };
  const asClient = (keys) => ({ curve: { keys, serverKey: server.publicKey } });
  const { broker, worker, endpoints } = await serve(all(runtime), { settings: asClient(known), asServer });
  const client = peer(runtime, 'client', { endpoints, ...LONG, ...asClient(stranger) });
  equal(typeof (await broker.next()).refused, 'string');
  await client.stop('SIGKILL');
  await worker.stop();
  await broker.stop();
}

/** A queue on disk that was killed delivers the messages it has acknowledged. */
async function durable(runtime) {
  await inFolder(async (folder) => {
    const store = `lmdb:${folder}/store`;
    const messages = ['one', 'two', 'three'];
    const killed = peer(runtime, 'queue', { store, endpoints: [ANY, ANY] });
    const first = await killed.next();
    const producer = peer(runtime, 'producer', { messages, ...first });
    equal(await producer.next(), { stored: messages.length });
    await killed.stop('SIGKILL');
    const queue = peer(runtime, 'queue', { store, endpoints: [ANY, ANY] });
    const second = await queue.next();
    const consumer = peer(runtime, 'consumer', { messages, ...second });
    equal(await consumer.next(), { received: messages });
    equal([await producer.exit, await consumer.exit], [0, 0]);
    await queue.stop();
  });
}

async function commonjs(runtime) {
  const loaded = new Peer(runtime, 'require.cjs', []);
  equal(await loaded.next(), { same: true });
  equal(await loaded.exit, 0);
}

/** The program as installed, with its page and its health check. */
async function program(runtime) {
  const args = ['--only', 'mdp', '--mdp', ANY, '--http', '127.0.0.1:0'];
  const broker = new Peer(runtime, '../../apps/broker/dist/main.js', args);
  const { endpoints, http } = await broker.next();
  equal(await (await fetch(new URL('readyz', http))).json(), { ready: true, reasons: [] });
  const worker = peer(runtime, 'worker', { endpoints: [endpoints.mdp] });
  equal(await worker.next(), { ready: true });
  const client = peer(runtime, 'client', { endpoints: [endpoints.mdp], ...LONG });
  equal(await client.next(), SERVED);
  await worker.stop();
  await broker.stop();
}

/** The checks, by row. */
const CHECKS = {
  'broker, worker and client': (runtime) => request(all(runtime)),
  'broker, its peers on Node': (runtime) => request({ broker: runtime, worker: OURS, client: OURS }),
  'worker and client, their broker on Node': (runtime) => request({ broker: OURS, worker: runtime, client: runtime }),
  '`ipc://`': (runtime) => inFolder((folder) => request(all(runtime), { endpoint: `ipc://${join(folder, 'broker')}` })),
  CURVE: curve,
  'queue on disk (`lmdb:`), killed and started again': durable,
  '`require` of the packages': commonjs,
  '`proj-broker --http`': program,
  'libzmq (`zmqTransport()`)': (runtime) => request(all(runtime), { settings: { libzmq: true } }),
};

/** A missing feature of a runtime: the code of the error that says so. */
const NO_LIBZMQ = { 'libzmq (`zmqTransport()`)': 'UNAVAILABLE' };
const LACKS = { Bun: NO_LIBZMQ, Deno: NO_LIBZMQ };

let failures = 0;

async function cell(check, runtime) {
  const lack = LACKS[runtime.name.split(' ')[0]]?.[check];
  try {
    await CHECKS[check](runtime);
    if (lack === undefined) return 'yes';
  } catch (error) {
    if (error.code !== undefined && error.code === lack) return `no: \`${lack}\``;
    console.error(`${runtime.name}, ${check}: ${error.message}`);
  } finally {
    for (const child of running) child.kill('SIGKILL');
  }
  failures += 1;
  return 'FAILED';
}

const columns = runtimes();
const rows = [];
function row(...cells) {
  rows.push(`| ${cells.join(' | ')} |`);
  console.log(rows.at(-1));
}
row('', ...columns.map(({ name }) => name));
row(...Array.from({ length: columns.length + 1 }, () => '---'));
for (const check of Object.keys(CHECKS)) {
  const cells = [];
  for (const runtime of columns) cells.push(await cell(check, runtime));
  row(check, ...cells);
}

const page = readFileSync(PAGE, 'utf8');
const [before, rest] = page.split(OPEN);
const [, after] = rest.split(CLOSE);
const written = `${before}${OPEN}\n\n${rows.join('\n')}\n\n${CLOSE}${after}`;
if (process.argv.includes('--write')) writeFileSync(PAGE, written);
else if (written !== page) {
  console.error('docs/RUNTIMES.md says something else: npm run test:runtimes -- --write');
  failures += 1;
}
console.log(`${columns.length * Object.keys(CHECKS).length - failures} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
