/** Guaranteed jobs while the broker, which has a store, is killed and restarted (docs/protocols/emqp.md, rule 35 of the broker). */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ownEndpoint } from '@proj/testkit';
import { expect } from 'vitest';
import { throughRestarts } from '../restarts.js';
import type { RestartPlan } from '../restarts.js';
import type { stage } from './stage.js';

/** Submits jobs during the restarts of the plan, and waits until every accepted one has run. `address`: of the store, by default a new one on disk. */
export async function jobsThroughRestarts(
  theater: ReturnType<typeof stage>,
  plan: RestartPlan,
  address?: string,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'proj-chaos-'));
  const store = mkdtempSync(join(tmpdir(), 'proj-chaos-'));
  const flags = {
    'emqp-frontend': await ownEndpoint(),
    'emqp-backend': await ownEndpoint(),
    'emqp-store': address ?? `lmdb:${store}`,
  };
  const served = await theater.broker(flags);
  await theater.manager(served, { concurrency: 2 });
  const client = theater.client(served);
  const { answers, rejected } = await throughRestarts(
    plan,
    served.broker,
    async () => (await theater.broker(flags)).broker,
    async (number) => {
      const name = `job-${number}`;
      const job = { path: 'chaos', callable: 'mark', args: [folder, name] };
      await client.defer('default', job, { guarantee: true });
      return name;
    },
  );
  expect(rejected).toEqual([]);
  expect(answers.length).toBeGreaterThan(plan.kills * 5);
  while (answers.some((name) => !readdirSync(folder).includes(name))) await setTimeout(20);
  for (const each of [folder, store]) rmSync(each, { recursive: true });
}
