// Our pool with foreign workers, which cannot tell it from a broker (section 7 of docs/protocols/mdp.md).
import { describe, expect, it } from 'vitest';
import { stage, VERSIONS } from './stage.js';

const theater = stage();

describe.each(VERSIONS)('MDP %s: our pool and Python workers', (version) => {
  it('rules 1 and 2 of the pool: a Python worker answers it, partial replies first', async () => {
    const { pool, endpoint } = await theater.pool();
    await theater.pythonWorker({ connect: endpoint, version });
    const body = [Buffer.from('a\xff', 'latin1'), Buffer.alloc(0), Buffer.alloc(100_000, 'x')];
    expect(await pool.request('echo', body)).toEqual(body);
    if (version === '0.1') return;
    await theater.pythonWorker({ connect: endpoint, version, service: 'parts', job: 'parts' });
    const stream = pool.stream('parts', ['a', 'b']);
    const replies = [await stream.next(), await stream.next(), await stream.next()];
    expect(replies.map(({ value, done }) => [done, ...value.map(String)])).toEqual([
      [false, '0', 'a'],
      [false, '1', 'b'],
      [true, '2'],
    ]);
  });

  it('rule 2 of the pool: each of 500 requests at once gets its own reply, from two Python workers and one of ours', async () => {
    const { pool, endpoint } = await theater.pool();
    for (let i = 0; i < 2; i++) await theater.pythonWorker({ connect: endpoint, version });
    await theater.worker({ endpoints: [endpoint], version: version === '0.1' ? '0.2' : '0.1' });
    const bodies = Array.from({ length: 500 }, (_, i) => i.toString());
    const replies = await Promise.all(bodies.map((body) => pool.request('echo', body)));
    expect(replies.map(([frame]) => String(frame))).toEqual(bodies);
    expect(pool.stats()).toMatchObject({ workers: 3, clients: 0, counters: { requests: 500, replies: 500 } });
  });

  it('rule 2 of the pool: the job of a Python worker that is killed goes to another', async () => {
    const { pool, endpoint } = await theater.pool();
    const victim = await theater.pythonWorker({ connect: endpoint, version, job: 'hold' });
    const answer = pool.request('echo', 'x');
    await victim.line('working');
    victim.kill('SIGKILL');
    await theater.pythonWorker({ connect: endpoint, version });
    expect((await answer).map(String)).toEqual(['x']);
    expect(pool.stats().counters).toMatchObject({ dispatches: 2, resends: 1, replies: 1 });
  });
});
