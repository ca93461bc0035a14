import type { Batch } from '../store/store.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { QueueUnderTest } from '../../test/queue-under-test.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest();
});

/** The commit that the store has not answered yet. */
function batch(): Batch {
  const [effect] = queue.asked.filter(({ kind }) => kind === 'commit');
  if (effect?.kind !== 'commit') throw new Error('no commit is under way');
  return effect.batch;
}

const answers = (lines: string[]) => lines.filter((line) => line.startsWith('->'));

describe('rules 7 and 8: group commit', () => {
  it('rule 7: an idle server commits at once; messages that arrive meanwhile are the next batch', () => {
    queue.storeHeld = true;
    for (const id of ['a', 'b', 'c']) queue.produce('p', id, 'x');
    expect(batch().puts).toHaveLength(1);
    queue.answerStore(1);
    expect(batch().puts).toHaveLength(2);
  });

  it('rule 7: a batch is bounded in messages and in bytes; one message may be larger', () => {
    queue.storeHeld = true;
    queue.produce('p', 'first', 'x');
    for (let i = 0; i < 12; i++) queue.produce('p', `${i}`, 'x');
    queue.answerStore(1);
    expect(batch().puts).toHaveLength(10);
    queue = new QueueUnderTest({ batchMaxBytes: 500 });
    queue.storeHeld = true;
    for (const size of [1, 300, 300, 900]) queue.produce('p', `${size}`, 'x'.repeat(size));
    const sizes = [];
    for (let i = 0; i < 3; i++) {
      queue.answerStore(1);
      sizes.push(batch().puts.map(({ body }) => body[0]!.length));
    }
    expect(sizes).toEqual([[300], [300], [900]]);
  });

  it('rule 7: puts and removals of the same time share a commit', () => {
    for (const id of ['a', 'b']) queue.produce('p', id, 'x');
    queue.accept(2);
    queue.storeHeld = true;
    queue.ack(1);
    queue.ack(2);
    queue.produce('p', 'c', 'x');
    queue.answerStore(1);
    expect([batch().puts.length, batch().removes.map(({ seq }) => seq)]).toEqual([1, [2]]);
  });

  it('rule 7: removals of a commit are bounded, too', () => {
    for (let i = 0; i < 20; i++) queue.produce('p', `${i}`, 'x');
    queue.accept(20);
    queue.storeHeld = true;
    for (let seq = 1; seq <= 20; seq++) queue.ack(seq);
    queue.answerStore(1);
    expect(batch().removes).toHaveLength(10);
  });

  it('rule 8: one commit at a time, answered as a whole in the order of arrival; syncs counts them', () => {
    queue.storeHeld = true;
    for (const id of ['a', 'b', 'c']) queue.produce(id, id, 'x');
    expect(queue.asked).toHaveLength(1);
    queue.answerStore();
    expect([queue.answerStore(), queue.stats.counters.commits]).toEqual([['-> b "b" 1', '-> c "c" 1'], 2]);
  });
});

describe('rule 9: a store that fails', () => {
  it('rule 9: answers 0 to the whole batch and to everything behind it, and reports it once', () => {
    queue.storeHeld = true;
    queue.produce('p', 'first', 'x');
    for (const id of ['a', 'b']) queue.produce('p', id, 'x');
    queue.store.failing = 'ENOSPC';
    expect(queue.answerStore()).toEqual([
      'refusing ENOSPC',
      '-> p "first" 0 Store is unavailable: ENOSPC',
      'note message-refused store-unavailable p',
      '-> p "a" 0 Store is unavailable: ENOSPC',
      '-> p "b" 0 Store is unavailable: ENOSPC',
    ]);
    expect([queue.stats.storeState, queue.stats.producerAcksPending]).toEqual(['refusing', 0]);
  });

  it('rule 9: refuses everything without asking the store, until a probe succeeds', () => {
    queue.store.failing = 'ENOSPC';
    queue.produce('p', 'a', 'x');
    queue.storeHeld = true;
    expect(answers(queue.produce('p', 'b', 'x'))).toEqual(['-> p "b" 0 Store is unavailable: ENOSPC']);
    expect(queue.asked).toEqual([]);
    queue.advance(299);
    expect(queue.asked).toEqual([]);
    queue.advance(1);
    expect(queue.asked).toEqual([{ kind: 'probe' }]);
    queue.answerStore();
    queue.advance(300);
    queue.store.failing = undefined;
    expect(queue.answerStore()).toEqual(['resumed']);
    queue.storeHeld = false;
    expect(queue.produce('p', 'c', 'x')).toEqual(['-> p "c" 1']);
  });

  it.each(['EIO', 'CORRUPT'])(
    'rule 9: what waits for a store that failed with %s is rejected a part at a time',
    (code) => {
      const settings = {
        intakeMax: 10_000,
        intakeMaxBytes: 1_000_000,
        producerAckMax: 10_000,
        producerAckMaxBytes: 1_000_000,
      };
      queue = new QueueUnderTest(settings);
      queue.storeHeld = true;
      for (let id = 0; id < 3001; id++) queue.produce('p', `${id}`, 'x');
      queue.store.failing = code;
      const first = answers(queue.answerStore(1));
      expect(first.length).toBeLessThan(1100);
      expect(answers(queue.produce('q', 'other', 'x'))).toHaveLength(1025);
      const rest = queue.advance(10).map((line) => line.slice(line.indexOf('->')));
      expect(queue.stats.producerAcksPending).toBe(0);
      expect(rest.at(-1)).toContain('"3000" 0');
    },
  );

  it('rule 9: deliveries and acknowledgements continue; removals are written when the store works again', () => {
    for (const id of ['a', 'b']) queue.produce('p', id, id);
    queue.store.failing = 'EIO';
    queue.produce('p', 'c', 'x');
    expect(queue.accept(2)).toEqual(['-> #1 "a"', '-> #2 "b"']);
    queue.ack(1);
    queue.ack(2);
    queue.advance(650);
    expect([queue.store.rows.size, queue.delivered]).toEqual([2, ['a', 'b']]);
    queue.store.failing = undefined;
    expect(queue.advance(300)).toEqual(['900ms: resumed']);
    expect([queue.store.rows.size, queue.stats.counters.acked]).toEqual([0, 2]);
  });

  it('rule 9: successful removals do not prove that messages can be stored', () => {
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.store.failing = 'ENOSPC';
    queue.produce('p', 'b', 'x');
    queue.ack(1);
    queue.storeHeld = true;
    queue.advance(300);
    expect(queue.asked.map(({ kind }) => kind)).toEqual(['commit']);
    queue.store.failing = undefined;
    expect(queue.answerStore(1)).toEqual([]);
    expect([queue.asked, queue.stats.storeState]).toEqual([[{ kind: 'probe' }], 'refusing']);
  });

  it('rule 9: a failed removal is not forgotten', () => {
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.store.failing = 'EIO';
    queue.ack(1);
    expect(queue.stats.storeState).toBe('refusing');
    queue.store.failing = undefined;
    queue.advance(300);
    expect(queue.store.rows.size).toBe(0);
  });

  it('rule 9: deliveries that waited for removals to be written continue when the next commit has started', () => {
    queue = new QueueUnderTest({ maxInFlight: 1, windowMax: 40, batchMax: 20 });
    for (let i = 0; i < 12; i++) queue.produce('p', `${i}`, 'x');
    queue.accept(12);
    queue.store.failing = 'EIO';
    for (let seq = 1; seq <= 10; seq++) queue.ack(seq);
    expect(queue.delivered).toHaveLength(10);
    queue.storeHeld = true;
    queue.advance(300);
    expect([queue.delivered.length, queue.engine.deadline > queue.now]).toEqual([11, true]);
  });

  it('rule 9: unwritten removals are bounded: then deliveries wait', () => {
    queue = new QueueUnderTest({ maxInFlight: 1, windowMax: 40 });
    for (let i = 0; i < 20; i++) queue.produce('p', `${i}`, 'x');
    queue.accept(20);
    queue.store.failing = 'EIO';
    for (let seq = 1; seq <= 10; seq++) queue.ack(seq);
    expect(queue.delivered).toHaveLength(10);
    queue.store.failing = undefined;
    queue.advance(600);
    expect(queue.delivered.length).toBeGreaterThan(10);
  });
});

describe('rule 9: a store that alternately fails and works', () => {
  /** The disk is full and has room again; what is reported about it. */
  function flap(): string[] {
    queue.store.failing = 'ENOSPC';
    const full = queue.produce('p', 'a', 'x').filter((line) => line.startsWith('refusing'));
    queue.store.failing = undefined;
    return [...full, ...queue.advance(300).filter((line) => line.endsWith('resumed'))];
  }

  it('rule 9: reports it once a minute', () => {
    expect(flap()).toEqual(['refusing ENOSPC', '300ms: resumed']);
    for (let time = 0; time < 50; time++) expect(flap()).toEqual([]);
    expect(queue.stats.counters.commitsFailed).toBe(51);
    queue.advance(60_000);
    expect(flap()).toHaveLength(2);
  });

  it('rule 9: reports at last that it refuses, if it keeps refusing', () => {
    flap();
    queue.store.failing = 'ENOSPC';
    expect(queue.produce('p', 'a', 'x')).toEqual(['-> p "a" 0 Store is unavailable: ENOSPC']);
    expect(queue.stats.storeState).toBe('refusing');
    expect(queue.advance(70_000)).toEqual(['60000ms: refusing ENOSPC']);
  });
});

describe('rule 9: a store that is damaged', () => {
  const REFUSED = '-> p "new" 0 Store is unavailable: CORRUPT';

  /** Whatever happens, it must be neither asked nor told anything from now on. */
  function expectRefusing(what: string, said: readonly string[]): void {
    expect(said).toContain(`corrupt ${what}`);
    expect(queue.stats.storeState).toBe('corrupt');
    queue.storeHeld = true;
    expect(answers(queue.produce('p', 'new', 'x'))).toEqual([REFUSED]);
    queue.room = 10;
    queue.advance(120_000);
    expect(queue.asked).toEqual([]);
    expect(queue.engine.deadline).toBe(Infinity);
  }

  it('rule 9: refuses from the read on that found it, and delivers nothing more', () => {
    queue = new QueueUnderTest({ windowMax: 2 });
    for (const id of ['a', 'b', 'c', 'd']) queue.produce('p', id, id);
    queue.storeHeld = true;
    queue.accept(2);
    queue.takeAsked('load');
    const said = queue.step({ kind: 'load-failed', outlet: 'queue', code: 'CORRUPT', what: 'message 3 is odd' });
    expectRefusing('message 3 is odd', said);
    expect(queue.delivered).toEqual(['a', 'b']);
  });

  it.each(['commit', 'probe'] as const)(
    'rule 9: refuses from the %s on that found it, and writes nothing more',
    (kind) => {
      queue.produce('p', 'kept', 'x');
      queue.accept(1);
      if (kind === 'probe') {
        queue.store.failing = 'EIO';
        queue.produce('p', 'a', 'x');
      }
      queue.store.failing = 'CORRUPT';
      const said = kind === 'probe' ? queue.advance(300) : queue.produce('p', 'b', 'x');
      expectRefusing(
        'CORRUPT',
        said.map((line) => line.replace(/^\d+ms: /, '')),
      );
      queue.ack(1);
      expect([queue.asked, queue.store.rows.size]).toEqual([[], 1]);
    },
  );

  it('rule 9: a commit pending when the damage is found is answered by its own result', () => {
    queue = new QueueUnderTest({ windowMax: 1 });
    for (const id of ['a', 'b', 'c']) queue.produce('p', id, id);
    queue.storeHeld = true;
    queue.accept(1);
    queue.takeAsked('load');
    queue.produce('p', 'd', 'd');
    queue.produce('p', 'e', 'e');
    const said = queue.step({ kind: 'load-failed', outlet: 'queue', code: 'CORRUPT' });
    expect(said).toEqual(['corrupt CORRUPT']);
    expect(answers(queue.answerStore())).toEqual(['-> p "d" 1', '-> p "e" 0 Store is unavailable: CORRUPT']);
  });

  it('rule 9: a store that shows fewer messages than it says it holds is damaged', () => {
    queue = new QueueUnderTest({ windowMax: 2 });
    for (const id of ['a', 'b', 'c', 'd']) queue.produce('p', id, id);
    const { counts } = queue.store;
    queue.store.rows.delete(4);
    Object.defineProperty(queue.store, 'counts', { get: () => counts });
    expectRefusing("the store says that 4 messages are ready and shows 3: see 'proj queue check'", queue.accept(2));
  });

  it('rule 9: requests for dead letters fail, and a drain ends at once', () => {
    queue.store.failing = 'CORRUPT';
    queue.produce('p', 'a', 'x');
    expect(queue.step({ kind: 'revive', id: 7, seqs: [1] })).toEqual(['done 7 CORRUPT']);
    expect(queue.step({ kind: 'drain' })).toEqual(['drained']);
  });
});
