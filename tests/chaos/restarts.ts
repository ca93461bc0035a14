/** A broker that is killed and restarted under continuous requests. */
import { setTimeout } from 'node:timers/promises';
import type { PeerProcess } from '@proj/testkit';

/** How often the broker is killed, how long it is up before and down after each kill, and how often a request is posted; times in milliseconds. */
export interface RestartPlan {
  readonly kills: number;
  readonly upMs: number;
  readonly downMs: number;
  readonly everyMs: number;
}

/** Few and short restarts, for every run of the tests. */
export const SHORT: RestartPlan = { kills: 2, upMs: 1000, downMs: 300, everyMs: 100 };

/** What users are promised; the broker is up long enough for its workers to return and to serve. */
export const FULL: RestartPlan = { kills: 4, upMs: 7000, downMs: 4000, everyMs: 100 };

/** Outcomes of all posts, in order. */
export interface Outcomes<T> {
  readonly answers: readonly T[];
  readonly rejected: readonly unknown[];
}

/**
 * Posts continuously, from the first start of the broker until it is back after the last kill; resolves when every post has its outcome.
 * `start` resolves when the broker listens, each time at the same endpoint; `post` gets the number of the post, from 0.
 */
export async function throughRestarts<T>(
  plan: RestartPlan,
  first: PeerProcess,
  start: () => Promise<PeerProcess>,
  post: (n: number) => Promise<T>,
): Promise<Outcomes<T>> {
  const restarting = restart(plan, first, start);
  const load = { isOver: false };
  const over = restarting.finally(() => {
    load.isOver = true;
  });
  const posted: Promise<PromiseSettledResult<T>[]>[] = [];
  while (!load.isOver) {
    posted.push(Promise.allSettled([post(posted.length)]));
    await setTimeout(plan.everyMs);
  }
  await over;
  const outcomes = (await Promise.all(posted)).flat();
  return {
    answers: outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
    rejected: outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : [])),
  };
}

async function restart(plan: RestartPlan, first: PeerProcess, start: () => Promise<PeerProcess>): Promise<void> {
  let broker = first;
  for (let kill = 0; kill < plan.kills; kill++) {
    await setTimeout(plan.upMs);
    broker.kill('SIGKILL');
    await broker.exit;
    await setTimeout(plan.downMs);
    broker = await start();
  }
}

/** How many posts a plan makes at least, on a machine that takes twice as long for each. */
export function leastPosts({ kills, upMs, downMs, everyMs }: RestartPlan): number {
  return (kills * (upMs + downMs)) / everyMs / 2;
}
