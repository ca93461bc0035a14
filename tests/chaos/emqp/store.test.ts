// The broker is killed and started again, four times and four seconds away each time, while ten guaranteed jobs a second come: with a store
// none is refused and none is lost (docs/protocols/emqp.md, rule 35 of the broker).
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ownEndpoint } from '@proj/testkit';
import { expect, it } from 'vitest';
import { stage } from './stage.js';

const theater = stage();
const KILLS = 4;
const DOWN_MS = 4000;
const UP_MS = 3000;
const POST_EVERY_MS = 100;

it('a broker killed four times under load, with its store: no guaranteed job is refused, none is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proj-chaos-'));
  const store = mkdtempSync(join(tmpdir(), 'proj-chaos-'));
  const flags = {
    'emqp-frontend': await ownEndpoint(),
    'emqp-backend': await ownEndpoint(),
    'emqp-store': `lmdb:${store}`,
  };
  let served = await theater.broker(flags);
  const manager = await theater.manager(served, { concurrency: 2 });
  const client = theater.client(served);
  const posted: Promise<string>[] = [];
  const load = { isOver: false };
  const posting = (async () => {
    while (!load.isOver) {
      const name = `job-${posted.length}`;
      const job = { path: 'chaos', callable: 'mark', args: [folder, name] };
      posted.push(client.defer('default', job, { guarantee: true }).then(() => name));
      await setTimeout(POST_EVERY_MS);
    }
  })();
  for (let kill = 0; kill < KILLS; kill++) {
    await setTimeout(UP_MS);
    served.broker.kill('SIGKILL');
    await served.broker.exit;
    await setTimeout(DOWN_MS);
    served = await theater.broker(flags);
  }
  await manager.line('registered', {}, KILLS + 1);
  load.isOver = true;
  await posting;

  const accepted = await Promise.all(posted);
  expect(accepted.length).toBeGreaterThan(100);
  while (accepted.some((name) => !readdirSync(folder).includes(name))) await setTimeout(20);
  for (const each of [folder, store]) rmSync(each, { recursive: true });
});
