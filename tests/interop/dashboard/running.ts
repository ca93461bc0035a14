/** Real programs with `--http` for the dashboard tests: a broker with workers, a queue, load, and the contents of their snapshots. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MdpClient } from '@proj/client';
import type { PeerProcess } from '@proj/testkit';
import { zmtpTransport } from '@proj/zmtp';
import { afterAll, beforeAll } from 'vitest';
import { program } from '../../chaos/programs.js';
import type { Flags } from '../../chaos/programs.js';
import { testPeers } from '../../chaos/test-peers.js';
import type { TestPeers } from '../../chaos/test-peers.js';
import { PATIENCE_MS } from '../test-peers.js';

/** The token that allows actions. */
export const TOKEN = 'a-token-of-the-tests-long-enough';

const TEMPER = fileURLToPath(new URL('fixtures/temper.mjs', import.meta.url));

/** A program with a dashboard. */
export interface Shown {
  readonly url: string;
  readonly process: PeerProcess;
}

/** A broker with a dashboard. */
export interface ShownBroker extends Shown {
  readonly endpoint: string;
}

/** A queue with a dashboard. */
export interface ShownQueue extends Shown {
  readonly receive: string;
  readonly send: string;
}

/** Starts programs that end with their test. */
export interface Running extends TestPeers {
  broker(): Promise<ShownBroker>;
  queue(store: string, flags?: Flags): Promise<ShownQueue>;
  /** A worker for `echo` or another service, registered at this broker; each request takes it `slowMs`. */
  echo(broker: ShownBroker, slowMs?: number, service?: string): Promise<PeerProcess>;
  /** A client of this broker that waits for its replies as long as a test may take. */
  client(broker: ShownBroker): MdpClient;
  /** Keeps this many requests to `echo` or another service in flight until the test ends. */
  load(broker: ShownBroker, atOnce: number, service?: string): void;
}

/** Everything for the tests of the calling file. */
export function running(): Running {
  const peers = testPeers();
  const any = 'tcp://127.0.0.1:*';
  let folder = '';
  let tokenFile = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'proj-shown-'));
    tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, TOKEN);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  // The browser needs longer than the default time limits on a busy machine.
  const client = ({ endpoint }: ShownBroker): MdpClient =>
    peers.keep(new MdpClient({ transport: zmtpTransport(), endpoints: [endpoint], timeoutMs: PATIENCE_MS, tries: 1 }));
  const shown = () => ({ http: '127.0.0.1:0', 'http-token-file': tokenFile });
  return {
    ...peers,
    async broker() {
      const process = peers.launch(
        program('broker', { only: 'mdp', mdp: any, 'request-ttl-ms': PATIENCE_MS, ...shown() }),
      );
      const { endpoints, http } = await process.line('listening');
      return { process, url: http as string, endpoint: (endpoints as { readonly mdp: string }).mdp };
    },
    async queue(store, flags) {
      const ports = { receive: any, send: any, monitor: any };
      const process = peers.launch(program('queue', { ...ports, store, ...shown(), ...flags }));
      const { endpoints, http } = await process.line('listening');
      const { receive, send } = endpoints as { readonly receive: string; readonly send: string };
      return { process, url: http as string, receive, send };
    },
    async echo(broker, slowMs = 0, service = 'echo') {
      const flags = { connect: broker.endpoint, service, handler: TEMPER };
      const worker = peers.launch({ ...program('worker', flags), env: { SLOW_MS: String(slowMs) } });
      await worker.line('ready');
      return worker;
    },
    client,
    load(broker, atOnce, service = 'echo') {
      const asker = client(broker);
      const ask = async (): Promise<void> => {
        for (;;) await asker.request(service, 'hello');
      };
      // They end when the client is closed.
      for (let count = 0; count < atOnce; count++) ask().catch(() => undefined);
    },
  };
}

/** A fault in a snapshot. */
export interface SeenFault {
  readonly code: string;
  readonly href: string;
  readonly text: string;
}

interface Told {
  readonly faults?: Readonly<Record<string, SeenFault | null>>;
  readonly workers?: Readonly<Record<string, { readonly state: string } | null>>;
  readonly services?: Readonly<Record<string, { readonly work: { readonly count: number } } | null>>;
}

/** The snapshots of a program, one a second, in order. Ends when `signal` aborts. */
export async function* snapshots(url: string, signal: AbortSignal): AsyncGenerator<Told, void, undefined> {
  const response = await fetch(new URL('api/events', url), { signal });
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length)) as Told;
    }
  }
}

/**
 * Reads snapshots until one satisfies the condition: returns what was found, and in which snapshot after the fault was
 * planted.
 */
export async function within<Found>(
  url: string,
  plant: () => unknown,
  find: (told: Told) => Found | undefined,
): Promise<{ readonly after: number; readonly found: Found }> {
  const controller = new AbortController();
  const reader = snapshots(url, controller.signal);
  // The first one shows the state before.
  await reader.next();
  let seen = 0;
  const finding = (async () => {
    for await (const told of reader) {
      seen++;
      const found = find(told);
      if (found !== undefined) return { at: seen, found };
    }
    throw new Error('the program is gone');
  })();
  try {
    await Promise.race([plant(), finding]);
    const planted = seen;
    const { at, found } = await finding;
    return { after: at - planted, found };
  } finally {
    controller.abort();
  }
}
