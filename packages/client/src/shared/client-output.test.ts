import { expect, test } from 'vitest';
import { ClientOutput } from './client-output.js';
import type { Tally } from './client-output.js';

class Output extends ClientOutput<never, string> {
  override readonly counters = {
    notesWithheld: 0,
    sends: 0,
    failures: { TIMEOUT: 0 } as Tally<'TIMEOUT'>,
    dropped: {} as Tally<'late'>,
  };

  late(): void {
    this.dropAs('late', 'a late message');
  }
}

test('totals are a copy, down to the tallies', () => {
  const out = new Output();
  out.late();
  const before = out.totals;
  out.late();
  out.counters.sends++;
  out.counters.failures.TIMEOUT = 1;
  expect(before).toEqual({ sends: 0, failures: { TIMEOUT: 0 }, dropped: { late: 1 } });
  expect(out.totals).toEqual({ sends: 1, failures: { TIMEOUT: 1 }, dropped: { late: 2 } });
});

test('a drop is counted each time and reported once a minute', () => {
  const out = new Output();
  const effects = out.begin(0);
  out.late();
  out.late();
  expect(effects).toEqual([{ kind: 'note', note: 'a late message' }]);
  out.begin(60_000);
  out.late();
  expect(out.effects).toHaveLength(1);
});
