/** Deltas applied to the model. */
import { describe, expect, it } from 'vitest';
import type { HistoryPoint, Model, NoteRow } from '@proj/observe/model';
import { applyDelta, mergeRows, serverNow } from './merge.js';

const point = (at: number) => ({ at }) as HistoryPoint;
const note = (id: number) => ({ id }) as NoteRow;

const MODEL: Model = {
  process: { name: 'p' } as Model['process'],
  servers: {},
  services: {},
  workers: { 'mdp/a': { id: 'a', done: 1 } as Model['workers'][string] },
  clients: {},
  deadLetters: {},
  faults: {},
  notes: [],
  history: [point(1)],
};

describe('mergeRows', () => {
  it('replaces, adds and removes rows, and leaves the old table alone', () => {
    const rows = { a: 1, b: 2 };
    expect(mergeRows(rows, { a: 3, b: null, c: 4 })).toEqual({ a: 3, c: 4 });
    expect(rows).toEqual({ a: 1, b: 2 });
  });

  it('returns the same table if nothing changed', () => {
    const rows = { a: 1 };
    expect(mergeRows(rows, {})).toBe(rows);
  });
});

describe('applyDelta', () => {
  it('changes what the delta names and keeps the rest', () => {
    const changed = applyDelta(MODEL, { workers: { 'mdp/a': null }, point: point(2) });
    expect(changed.workers).toEqual({});
    expect(changed.process).toBe(MODEL.process);
    expect(changed.clients).toBe(MODEL.clients);
    expect(changed.history).toEqual([point(1), point(2)]);
  });

  it('keeps the latest 900 points and 500 notes', () => {
    let model = MODEL;
    for (let at = 2; at <= 1000; at += 1) model = applyDelta(model, { point: point(at), notes: [note(at)] });
    expect([model.history.length, model.history[0]?.at, serverNow(model)]).toEqual([900, 101, 1_000_000]);
    expect([model.notes.length, model.notes[0]?.id]).toEqual([500, 501]);
  });

  it('keeps rare notes as the program does', () => {
    const rare = { id: 1, reason: 'rare' } as NoteRow;
    const often = Array.from({ length: 500 }, (_, index) => note(index + 2));
    const { notes } = applyDelta({ ...MODEL, notes: [rare] }, { point: point(2), notes: often });
    expect([notes.length, notes[0], notes[1]?.id]).toEqual([500, rare, 3]);
  });

  it('has schedules only if the program has a scheduler', () => {
    expect('schedules' in applyDelta(MODEL, { point: point(2) })).toBe(false);
    expect(applyDelta(MODEL, { point: point(2), schedules: {} }).schedules).toEqual({});
  });
});
