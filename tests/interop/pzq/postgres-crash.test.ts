// Queue servers with PostgreSQL are killed under load, and PostgreSQL once: no acknowledged message is lost, no settled one comes
// back.
import { PostgresStore } from '@proj/pzq';
import { PostgresCluster } from '@proj/testkit/postgres';
import { beforeAll, expect, it } from 'vitest';
import { Load } from '../../chaos/pzq/load.js';
import { bodiesIn, stage, stop } from '../../chaos/pzq/stage.js';

const ROUNDS = 10;
const MESSAGES = 100;
const PATIENCE_MS = 900_000;
/**
 * Messages that a dead server had taken come again after this time; long enough that a busy machine acknowledges in
 * time.
 */
const LEASE_MS = 10_000;

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  return () => cluster.remove();
});

const theater = stage();

it(
  'rules 2, 13, 29: queues killed ten times under load, and PostgreSQL once, lose no acknowledged message and repeat no settled one',
  async () => {
    const url = await cluster.database();
    const endpoints = await theater.endpoints();
    const flags = { 'ack-timeout-ms': LEASE_MS, 'probe-interval-ms': 100 };
    let queue = await theater.queue(endpoints, url, flags);
    const load = theater.keep(new Load(endpoints));
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.race([load.progress(MESSAGES), queue.lost()]);
      queue.kill('SIGKILL');
      await queue.exit;
      expect(load.settle(await bodiesIn(new PostgresStore({ url })))).toEqual([]);
      queue = await theater.queue(endpoints, url, flags);
    }
    await Promise.race([load.progress(MESSAGES), queue.lost()]);
    await cluster.kill();
    await queue.line('refusing');
    await cluster.restart();
    await queue.line('resumed');
    await Promise.race([load.finish(), queue.lost()]);
    expect(await stop(queue)).toBe(0);
    const { stored, acked, settled, repeated, resurrected, refused } = load;
    console.log(
      `${ROUNDS} kills of the queue and one of PostgreSQL: ${stored.size} messages acknowledged to producers, ` +
        `${load.lost().length} lost; ${acked.size} acknowledged by consumers, ${settled.size} of them settled when a kill came, ` +
        `${resurrected.length} of these redelivered; ${repeated} unsettled ones redelivered; ${refused} refused`,
    );
    expect(load.lost()).toEqual([]);
    expect(resurrected).toEqual([]);
    expect(settled.size).toBeGreaterThan(0);
  },
  PATIENCE_MS,
);
