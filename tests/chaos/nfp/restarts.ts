/** Continuous jobs while the broker is killed and restarted. */
import { isDeepStrictEqual } from 'node:util';
import { NfpClient } from '@proj/client';
import type { NfpJobResult } from '@proj/client';
import { ownEndpoint } from '@proj/testkit';
import { expect } from 'vitest';
import { program } from '../programs.js';
import type { Flags } from '../programs.js';
import { leastPosts, throughRestarts } from '../restarts.js';
import type { RestartPlan } from '../restarts.js';
import { transport } from '../../transport.js';
import type { Stage } from './stage.js';

interface EchoedCall {
  readonly args: readonly unknown[];
}

/** On a busy machine nothing may get done until the last restart, so a job's time must be longer than all of them take. */
const JOB_MS = 300_000;
const WORKERS = ['sample-1', 'sample-2', 'sample-3'];

/**
 * In the end, one worker does every job for any, each worker does every job for all, and none is rejected. `flags` are those of the broker besides its
 * endpoint, `beats` those of broker and workers.
 */
export async function postThroughRestarts(
  theater: Stage,
  plan: RestartPlan,
  target: 'any' | 'all',
  flags: Flags = {},
  beats: Flags = {},
): Promise<void> {
  const endpoint = await ownEndpoint();
  const start = async () => {
    const broker = theater.launch(program('broker', { only: 'nfp', nfp: endpoint, ...beats, ...flags }));
    await broker.line('listening');
    return broker;
  };
  const broker = await start();
  for (const name of WORKERS) {
    const names = { protocol: 'nfp', service: 'sample', name, connect: endpoint, store: 'memory:' };
    theater.launch(program('worker', { ...names, ...beats }));
    await broker.line('worker-ready', {}, WORKERS.indexOf(name) + 1);
  }
  const client = theater.keep(new NfpClient({ transport, endpoints: [endpoint], timeoutMs: JOB_MS }));
  const { answers, rejected } = await throughRestarts(plan, broker, start, (n) =>
    client.run('sample', 'echo', { args: [n], target }),
  );
  expect(rejected).toEqual([]);
  // The task returns its arguments.
  const wrong = answers.filter((answer, n) => {
    const results = Object.values(answer);
    const isOwn = ({ failed, result }: NfpJobResult) => !failed && isDeepStrictEqual((result as EchoedCall).args, [n]);
    return results.length !== (target === 'any' ? 1 : WORKERS.length) || !results.every(isOwn);
  });
  expect(wrong).toEqual([]);
  expect(answers.length).toBeGreaterThan(leastPosts(plan));
}
