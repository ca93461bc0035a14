/** Continuous requests while the broker is killed and restarted. */
import { MdpClient } from '@proj/client';
import { ownEndpoint } from '@proj/testkit';
import { expect } from 'vitest';
import { leastPosts, throughRestarts } from '../restarts.js';
import type { RestartPlan } from '../restarts.js';
import { transport } from '../../transport.js';
import type { Stage } from './stage.js';

const WORKERS = 2;

/** Every request gets its own reply in the end, and none is rejected. */
export async function requestThroughRestarts(theater: Stage, plan: RestartPlan): Promise<void> {
  const endpoint = await ownEndpoint();
  const start = async () => (await theater.broker({ mdp: endpoint })).broker;
  const broker = await start();
  for (let n = 0; n < WORKERS; n++) await theater.worker(endpoint);
  const client = theater.keep(new MdpClient({ transport, endpoints: [endpoint], timeoutMs: 1000, tries: 60 }));
  const { answers, rejected } = await throughRestarts(plan, broker, start, async (n) =>
    String((await client.request('echo', `${n}`))[0]),
  );
  expect(rejected).toEqual([]);
  expect(answers).toEqual(Array.from(answers, (_, n) => `${n}`));
  expect(answers.length).toBeGreaterThan(leastPosts(plan));
}
