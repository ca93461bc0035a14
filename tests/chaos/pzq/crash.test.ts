// The queue is killed under full load, again and again: nothing acknowledged is lost, nothing settled comes back.
import { expect, it } from 'vitest';
import { Load } from './load.js';
import { contentsOf, stage, stop } from './stage.js';

const ROUNDS = 50;
/** Messages of a round, of each kind; which moment that is is the machine's choice. */
const MESSAGES = 200;
const PATIENCE_MS = 900_000;

const theater = stage();

it(
  'rules 2, 13, 20: 50 times killed under load, no acknowledged message is lost and no settled one comes again',
  async () => {
    const folder = await theater.folder();
    const endpoints = await theater.endpoints();
    let queue = await theater.queue(endpoints, `lmdb:${folder}`);
    const load = theater.keep(new Load(endpoints));
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.race([load.progress(MESSAGES + 10 * round), queue.lost()]);
      queue.kill('SIGKILL');
      await queue.exit;
      expect(load.settle(await contentsOf(folder))).toEqual([]);
      queue = await theater.queue(endpoints, `lmdb:${folder}`);
    }
    await Promise.race([load.finish(), queue.lost()]);
    const { stored, acked, settled, repeated, resurrected } = load;
    expect(await stop(queue)).toBe(0);
    console.log(
      `${ROUNDS} kills: ${stored.size} messages acknowledged to producers, ${load.lost().length} lost; ` +
        `${acked.size} acknowledged by consumers, ${settled.size} of them settled when a kill came, ` +
        `${resurrected.length} of these redelivered; ${repeated} unsettled ones redelivered`,
    );
    expect(load.lost()).toEqual([]);
    expect(resurrected).toEqual([]);
    expect(settled.size).toBeGreaterThan(ROUNDS * MESSAGES);
    expect([...(await contentsOf(folder)).keys()].filter((seq) => acked.has(seq))).toEqual([]);
  },
  PATIENCE_MS,
);

it(
  'rule 19: ended in order under load, it loses nothing and repeats nothing',
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
