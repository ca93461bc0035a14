/** The queue is killed under full load, again and again: no acknowledged message is lost, no settled one comes back. */
import { expect } from 'vitest';
import { Load } from './load.js';
import type { Stage } from './stage.js';
import { contentsOf, stop } from './stage.js';

/** Messages of a round, of each kind; the exact moment depends on the machine. */
export const MESSAGES = 200;

/** Kills a queue this many times, and checks the counts after each kill. */
export async function killUnderLoad(theater: Stage, rounds: number): Promise<void> {
  const folder = await theater.folder();
  const endpoints = await theater.endpoints();
  let queue = await theater.queue(endpoints, `lmdb:${folder}`);
  const load = theater.keep(new Load(endpoints));
  for (let round = 0; round < rounds; round++) {
    // More than are counted below, because the last ones may not be flushed when the kill comes.
    await Promise.race([load.progress(MESSAGES + MESSAGES / 2 + 10 * round), queue.lost()]);
    queue.kill('SIGKILL');
    await queue.exit;
    expect(load.settle(await contentsOf(folder))).toEqual([]);
    queue = await theater.queue(endpoints, `lmdb:${folder}`);
  }
  await Promise.race([load.finish(), queue.lost()]);
  const { stored, acked, settled, repeated, resurrected } = load;
  expect(await stop(queue)).toBe(0);
  console.log(
    `${rounds} kills: ${stored.size} messages acknowledged to producers, ${load.lost().length} lost; ` +
      `${acked.size} acknowledged by consumers, ${settled.size} of them settled when a kill came, ` +
      `${resurrected.length} of these redelivered; ${repeated} unsettled ones redelivered`,
  );
  expect(load.lost()).toEqual([]);
  expect(resurrected).toEqual([]);
  expect(settled.size).toBeGreaterThan(rounds * MESSAGES);
  expect([...(await contentsOf(folder)).keys()].filter((seq) => acked.has(seq))).toEqual([]);
}
