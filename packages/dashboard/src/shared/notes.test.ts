/** The log, filtered and counted. */
import { describe, expect, it } from 'vitest';
import type { NoteRow } from '@proj/observe/model';
import { filterNotes, reasonOf, tally } from './notes.js';

const note = (id: number, more: Partial<NoteRow>): NoteRow => ({
  id,
  at: 0,
  protocol: 'mdp',
  code: 'c',
  text: '',
  ...more,
});
const NOTES = [
  note(1, { reason: 'bad', peer: 'a' }),
  note(2, { peer: 'a' }),
  note(3, { reason: 'bad', peer: 'b', protocol: 'ppp' }),
];

describe('notes', () => {
  it.each([
    [{}, [3, 2, 1]],
    [{ peer: 'a' }, [2, 1]],
    [{ reason: 'bad' }, [3, 1]],
    [{ reason: 'c' }, [2]],
    [{ protocol: 'mdp', reason: 'bad', peer: 'a' }, [1]],
  ])('%j shows %j, latest first', (filter, ids) => {
    expect(filterNotes(NOTES, filter).map(({ id }) => id)).toEqual(ids);
  });

  it('counts, the most frequent first', () => {
    expect(tally(NOTES.map(reasonOf))).toEqual([
      { name: 'bad', count: 2 },
      { name: 'c', count: 1 },
    ]);
    expect(tally([undefined, 'b', 'a'])).toEqual([
      { name: 'a', count: 1 },
      { name: 'b', count: 1 },
    ]);
  });
});
