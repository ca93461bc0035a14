/**
 * A process that attacks a program over HTTP without its token. On the IPC channel, `{ attack, url }` starts an attack and `stop` ends it; the
 * reply to `stop` is a {@link SiegeReport}.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';

/** The CPU time that the attacker takes from others is not what is measured. */
const NICE = 10;

/** What an attack did while it lasted. */
export interface SiegeReport {
  readonly seconds: number;
  readonly connections: number;
  readonly answers: number;
}

/** What can be ordered. */
export interface SiegeName {
  readonly attack: string;
  /** Whether it comes with far more connections than are accepted at once. */
  readonly isCrowd: boolean;
}

/** One kind of attack. */
interface Attack {
  readonly connections: number;
  /** What each connection sends, again after each answer. */
  readonly bytes: () => string;
  /** What it then sends every {@link DRIP_MS}. */
  readonly drip?: string;
  /** How long it waits before it reconnects. */
  readonly againMs: number;
}

const DRIP_MS = 100;
const AT_ONCE = 32;
const CROWD = 1000;
const PATHS = [
  '/../../../etc/passwd',
  '/..%2f..%2fetc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '//etc/passwd',
  '/%00',
  '/%',
];
const ACTION = '{"action":"drain-process"}';
let count = 0;

const request = (line: string, headers: readonly string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '', body].join('\r\n');
const action = (body: string, ...headers: readonly string[]): string =>
  request('POST /api/actions', ['Content-Type: application/json', `Content-Length: ${body.length}`, ...headers], body);

/** By name. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  'no token': { connections: AT_ONCE, bytes: () => action(ACTION), againMs: 0 },
  'wrong tokens': {
    connections: AT_ONCE,
    bytes: () => action(ACTION, `Authorization: Bearer wrong-${count}`),
    againMs: 0,
  },
  'path traversal': {
    connections: AT_ONCE,
    bytes: () => request(`GET ${PATHS[count % PATHS.length] ?? ''}`),
    againMs: 0,
  },
  'huge headers': {
    connections: AT_ONCE,
    bytes: () => request('GET /', [`X-Long: ${'x'.repeat(20_000)}`]),
    againMs: 0,
  },
  'huge bodies': { connections: AT_ONCE, bytes: () => action('x'.repeat(2_000_000)), againMs: 0 },
  'slow requests': { connections: CROWD, bytes: () => 'GET /', drip: 'x', againMs: 1000 },
  '1,000 event streams': { connections: CROWD, bytes: () => request('GET /api/events'), againMs: 1000 },
};

/** An attack under way. */
class Siege {
  readonly #attack: Attack;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #begunAt = performance.now();
  #connections = 0;
  #answers = 0;
  #isOver = false;

  constructor({ attack, url }: { readonly attack: string; readonly url: string }) {
    this.#attack = ATTACKS[attack] as Attack;
    this.#port = Number(new URL(url).port);
    for (let index = 0; index < this.#attack.connections; index++) this.#connect();
  }

  stop(): SiegeReport {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
    const seconds = (performance.now() - this.#begunAt) / 1000;
    return { seconds, connections: this.#connections, answers: this.#answers };
  }

  #connect(): void {
    if (this.#isOver) return;
    const { bytes, drip, againMs } = this.#attack;
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    this.#sockets.add(socket);
    const send = (): void => {
      count++;
      socket.write(bytes());
    };
    let dripping: NodeJS.Timeout | undefined;
    socket.once('connect', () => {
      this.#connections++;
      send();
      if (drip !== undefined) dripping = setInterval(() => socket.write(drip), DRIP_MS);
    });
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const [, status] = /^HTTP\/1.1 (\d+)/.exec(data.toString('latin1', 0, 12)) ?? [];
      if (status === undefined) return;
      this.#answers++;
      if (status !== '200') send();
    });
    socket.once('close', () => {
      clearInterval(dripping);
      this.#sockets.delete(socket);
      setTimeout(() => {
        this.#connect();
      }, againMs);
    });
  }
}

function namesOf(): SiegeName[] {
  return Object.entries(ATTACKS).map(([attack, { connections }]) => ({ attack, isCrowd: connections === CROWD }));
}

setPriority(NICE);
let siege: Siege | undefined;
process.once('disconnect', () => process.exit());
process.on('message', (message: { attack: string; url: string } | 'names' | 'stop' | 'exit') => {
  if (message === 'exit') process.disconnect();
  else if (message === 'names') process.send?.(namesOf());
  else if (message === 'stop') process.send?.(siege?.stop());
  else {
    siege = new Siege(message);
    process.send?.('begun');
  }
});
