import { describe, expect, it } from 'vitest';
import { QueueTally } from './queue-tally.js';
import { queueVerdict } from './report.js';

/** Two messages, one for each consumer. */
function tallyOf(change: (tally: QueueTally) => void = () => undefined): QueueTally {
  const tally = new QueueTally();
  for (const name of ['a', 'b']) tally.acknowledged(name);
  tally.handled('a', 'first', true);
  change(tally);
  return tally;
}

describe('QueueTally', () => {
  it('is sound if every message came once', () => {
    const tally = tallyOf((one) => one.handled('b', 'second', true));
    expect(tally).toMatchObject({ sound: true, acknowledgedCount: 2, handledCount: 2, settledCount: 1 });
    expect(queueVerdict(tally)).toEqual([
      'Nothing was lost: 2 messages acknowledged, 2 delivered; none of the 1 settled ones came back.',
    ]);
  });

  it.each<[string, (tally: QueueTally) => void, object]>([
    ['one is missing', () => undefined, { lostCount: 1 }],
    ['one came back', (one) => ['a', 'b'].forEach((name) => one.handled(name, 'second', true)), { returnedCount: 1 }],
    ['one came twice', (one) => ['b', 'b'].forEach((name) => one.handled(name, 'second', true)), { repeatedCount: 1 }],
    ['one was changed', (one) => one.handled('b', 'second', false), { wrongCount: 1 }],
    [
      'some are left',
      (one) => {
        one.handled('b', 'second', true);
        one.leftOver();
      },
      {},
    ],
  ])('is not sound when %s', (_what, change, counts) => {
    const tally = tallyOf(change);
    expect(tally).toMatchObject({ sound: false, ...counts });
    expect(queueVerdict(tally)[0]).toMatch(/^NOT ALL WENT WELL: 2 messages acknowledged/);
  });

  it('reports when this many are acknowledged', async () => {
    const tally = new QueueTally();
    await tally.until(0);
    const told = tally.until(2);
    for (const name of ['a', 'a', 'b']) tally.acknowledged(name);
    await told;
    expect(tally.acknowledgedCount).toBe(2);
  });
});
