/**
 * A durable queue with real processes: proj-queue with a folder, and the contents of the folder while it is stopped.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LmdbStore } from '@proj/pzq';
import type { QueueStore } from '@proj/pzq';
import { ownEndpoint } from '@proj/testkit';
import type { PeerProcess } from '@proj/testkit';
import { afterEach } from 'vitest';
import { testPeers } from '../test-peers.js';
import type { TestPeers } from '../test-peers.js';
import { program } from '../programs.js';
import type { Flags } from '../programs.js';
import type { QueueEndpoints } from './load.js';

/** On a busy machine, acknowledgements must not be late, and a drain must not give up on them. */
const PATIENT = { 'ack-timeout-ms': 600_000, 'drain-ms': 600_000 } as const;

/** Starts queues that end with their test. */
export interface Stage extends TestPeers {
  /** A folder that is removed after the test. */
  folder(): Promise<string>;
  /** Endpoints at which a queue can be restarted again and again. */
  endpoints(): Promise<QueueEndpoints>;
  /** A proj-queue that listens. */
  queue(endpoints: QueueEndpoints, store: string, flags?: Flags): Promise<PeerProcess>;
}

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const folders: string[] = [];
  // Registered before the hooks of the processes: hooks run in reverse order, so processes end first.
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  const players = testPeers();
  return {
    ...players,
    async folder() {
      const folder = await mkdtemp(join(tmpdir(), 'pzq-chaos-'));
      folders.push(folder);
      return folder;
    },
    async endpoints() {
      return { receive: await ownEndpoint(), send: await ownEndpoint(), monitor: await ownEndpoint() };
    },
    async queue(endpoints, store, flags) {
      const queue = players.launch(program('queue', { ...endpoints, store, ...PATIENT, ...flags }));
      await queue.line('listening');
      return queue;
    },
  };
}

/** Ends a queue by SIGTERM. */
export async function stop(queue: PeerProcess): Promise<number | null> {
  queue.kill('SIGTERM');
  return (await queue.exit).code;
}

/** The bodies in a folder, by sequence. No process may have it open. */
export function contentsOf(folder: string): Promise<ReadonlyMap<number, string>> {
  return bodiesIn(new LmdbStore({ folder }));
}

/** The first frames of the messages in a store, by sequence; opens and closes it. */
export async function bodiesIn(store: QueueStore): Promise<ReadonlyMap<number, string>> {
  const bodies = new Map<number, string>();
  await store.open();
  for (let last = 0; ;) {
    const page = await store.scan(last, 10_000, Number.MAX_SAFE_INTEGER);
    for (const { seq, body } of page) bodies.set(seq, Buffer.from(body[0] ?? []).toString());
    const end = page.at(-1);
    if (end === undefined) break;
    last = end.seq;
  }
  await store.close();
  return bodies;
}
