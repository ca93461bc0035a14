// The queue is killed or ended under full load: no acknowledged message is lost, no settled one comes back.
import { expect, it } from 'vitest';
import { killUnderLoad, MESSAGES } from './kills.js';
import { Load } from './load.js';
import { contentsOf, stage, stop } from './stage.js';

const PATIENCE_MS = 900_000;

const theater = stage();

it('rules 2, 13, 20: a queue killed 5 times under load loses no acknowledged message and repeats no settled one', () =>
  killUnderLoad(theater, 5));

it(
  'rule 19: a queue ended by SIGTERM under load loses nothing and repeats nothing',
  async () => {
    const folder = await theater.folder();
    const endpoints = await theater.endpoints();
    const load = theater.keep(new Load(endpoints));
    for (let round = 0; round < 3; round++) {
      const queue = await theater.queue(endpoints, `lmdb:${folder}`);
      await Promise.race([load.progress(MESSAGES), queue.lost()]);
      expect(await stop(queue)).toBe(0);
      const left = await contentsOf(folder);
      expect([...load.acked].filter((seq) => left.has(seq))).toEqual([]);
      expect(load.settle(left)).toEqual([]);
    }
    const queue = await theater.queue(endpoints, `lmdb:${folder}`);
    await Promise.race([load.finish(), queue.lost()]);
    expect(await stop(queue)).toBe(0);
    expect([load.lost(), load.resurrected, load.repeated]).toEqual([[], [], 0]);
  },
  PATIENCE_MS,
);
