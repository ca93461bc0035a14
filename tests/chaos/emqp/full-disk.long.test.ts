// A store on a full disk is a fault on the overview, and its program is not ready until there is room: proj-broker with guaranteed jobs, proj-scheduler
// with its schedules. What decides it is tested in packages/appkit/src/watched-records.test.ts.
import { join } from 'node:path';
import type { EmqpClient, EmqpJob } from '@proj/client';
import type { PeerProcess } from '@proj/testkit';
import { expect, it } from 'vitest';
import { smallDisk } from '../pzq/small-disk.js';
import type { Flags } from '../programs.js';
import { stage } from './stage.js';

const theater = stage();

/** More than the disk takes. */
const TOO_MUCH = 48 * 2 ** 20;

interface Case {
  /** Starts the program with the store in this folder, and a client whose jobs get there. */
  readonly start: (folder: string) => Promise<{ readonly program: PeerProcess; readonly client: EmqpClient }>;
  /** Of each job. */
  readonly bytes: number;
  /** Resolves when the job is on its way. */
  readonly send: (client: EmqpClient, job: EmqpJob) => Promise<void>;
}

const HTTP: Flags = { http: '127.0.0.1:0' };

const CASES: Readonly<Record<string, Case>> = {
  emqp: {
    async start(folder) {
      const served = await theater.broker({ 'emqp-store': `lmdb:${folder}`, ...HTTP });
      return { program: served.broker, client: theater.client(served) };
    },
    bytes: 2 ** 20,
    send: (client, job) => {
      // Nobody answers a job that is refused.
      client.defer('default', job, { guarantee: true }).catch(() => undefined);
      return Promise.resolve();
    },
  },
  scheduler: {
    async start(folder) {
      const served = await theater.broker();
      const program = await theater.scheduler([served], { store: `lmdb:${folder}`, ...HTTP });
      return { program, client: theater.client(served) };
    },
    bytes: 100_000,
    send: (client, job) => client.schedule('default', job, { intervalSeconds: 3600, haste: false }),
  },
};

it.for(Object.entries(CASES))('the store of %s', async ([server, { start, bytes, send }], { skip }) => {
  const disk = smallDisk();
  if (disk === undefined) return skip('a small disk is a tmpfs of its own, which only root may mount');
  theater.keep(disk);
  const { program, client } = await start(join(disk.folder, 'store'));
  const { http } = await program.line('listening');
  const ask = async (path: string) => (await fetch(new URL(path, http as string))).json();
  expect(await ask('readyz')).toEqual({ ready: true, reasons: [] });
  for (let number = 0; number * bytes < TOO_MUCH; number++)
    await send(client, { path: 'm', callable: 'f', args: [number, 'x'.repeat(bytes)] });
  await program.line('store-failed');
  expect(await ask('readyz')).toEqual({ ready: false, reasons: [{ server, reason: 'ENOSPC' }] });
  await expect
    .poll(() => ask('api/model'))
    .toMatchObject({ faults: { [`disk-full/${server}`]: { text: expect.stringContaining('ENOSPC') as string } } });
  await disk.grow();
  await expect.poll(() => ask('readyz')).toEqual({ ready: true, reasons: [] });
});
