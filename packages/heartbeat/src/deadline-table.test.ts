import { describe, expect, it } from 'vitest';
import { DeadlineTable } from './deadline-table.js';

const IDLE = 0;
const BUSY = 1;

interface Named {
  readonly name: string;
}

function tableWith(...names: string[]): { table: DeadlineTable<Named>; rows: number[] } {
  const table = new DeadlineTable<Named>([100, 900]);
  return { table, rows: names.map((name) => table.add({ name })) };
}

function namesIn(table: DeadlineTable<Named>, list: number): string[] {
  return Array.from(table.values(list), ({ name }) => name);
}

describe('DeadlineTable', () => {
  it('is empty at first and never due', () => {
    const { table } = tableWith();
    expect([table.size, table.first(IDLE), table.deadline, table.takeDue(Infinity)]).toEqual([
      0,
      undefined,
      Infinity,
      undefined,
    ]);
    table.renew(table.add({ name: 'a' }), IDLE, 0);
    expect([table.deadline, table.takeDue(100)?.name]).toEqual([100, 'a']);
  });

  it('lets nothing fall due that is in no list', () => {
    const { table, rows } = tableWith('a');
    expect([table.size, table.deadline, table.at(rows[0]!), table.takeDue(Infinity)]).toEqual([
      1,
      Infinity,
      Infinity,
      undefined,
    ]);
  });

  it('shows and takes the earliest of each list, when it is due and not before, and keeps its row', () => {
    const { table, rows } = tableWith('idle', 'later', 'busy');
    table.renew(rows[2]!, BUSY, 0);
    table.renew(rows[0]!, IDLE, 10);
    table.renew(rows[1]!, IDLE, 20);

    expect([table.first(IDLE)?.name, table.first(BUSY)?.name, table.deadline]).toEqual(['idle', 'busy', 110]);
    expect(table.takeDue(109)).toBeUndefined();
    expect(table.takeDue(110)?.name).toBe('idle');
    expect([table.size, table.at(rows[0]!), table.deadline]).toEqual([3, Infinity, 120]);
    expect(table.takeDue(900)?.name).toBe('later');
    expect(table.takeDue(900)?.name).toBe('busy');
    expect(table.takeDue(900)).toBeUndefined();
    table.renew(rows[0]!, BUSY, 1000);
    expect(table.deadline).toBe(1900);
  });

  it('moves a row to the end of the list it is renewed in, whichever list it was in', () => {
    const { table, rows } = tableWith('a', 'b', 'c');
    for (const row of rows) table.renew(row, IDLE, 0);
    table.renew(rows[0]!, IDLE, 50);
    expect([namesIn(table, IDLE), table.at(rows[0]!)]).toEqual([['b', 'c', 'a'], 150]);
    table.renew(rows[2]!, BUSY, 60);
    expect([namesIn(table, IDLE), namesIn(table, BUSY), table.at(rows[2]!)]).toEqual([['b', 'a'], ['c'], 960]);
  });

  it('gives the row of a removed entry to another', () => {
    const { table, rows } = tableWith('a', 'b');
    for (const row of rows) table.renew(row, IDLE, 0);
    table.remove(rows[0]!);
    expect([table.size, namesIn(table, IDLE), table.deadline]).toEqual([1, ['b'], 100]);
    const others = Array.from({ length: 100 }, (_, index) => table.add({ name: `other ${index}` }));
    expect(others).toContain(rows[0]);
    expect(new Set([...others, rows[1]]).size).toBe(101);
  });

  it('refuses a row without an owner', () => {
    const { table, rows } = tableWith('a');
    const row = rows[0]!;
    table.remove(row);
    for (const wrong of [row, 0, -1, 1000]) {
      expect(() => table.renew(wrong, IDLE, 0)).toThrow(/nobody/u);
      expect(() => table.remove(wrong)).toThrow(/nobody/u);
    }
    expect([table.size, namesIn(table, IDLE), table.deadline]).toEqual([0, [], Infinity]);
  });

  it('lets nothing of any list fall due before an extension is over, and shortens no earlier one', () => {
    const { table, rows } = tableWith('a');
    table.postpone(50, 90);
    table.postpone(1, 95);
    expect(table.deadline).toBe(Infinity);
    table.renew(rows[0]!, IDLE, 0);
    expect([table.deadline, table.takeDue(139)]).toEqual([140, undefined]);
    expect(table.takeDue(140)?.name).toBe('a');
  });

  it('has room for very many, in sequence and at a time, and starts anew when they have left', () => {
    const table = new DeadlineTable<Named>([100]);
    for (const many of [5000, 3, 5000]) {
      const rows = Array.from({ length: many }, (_, index) => table.add({ name: `${index}` }));
      for (const [now, row] of rows.entries()) table.renew(row, 0, now);
      expect([table.size, table.deadline]).toEqual([many, 100]);
      expect(namesIn(table, 0)).toEqual(rows.map((_, index) => `${index}`));
      expect(Math.max(...rows)).toBeLessThan(2 * many + 16);
      for (const row of rows) table.remove(row);
      expect([table.size, table.deadline]).toEqual([0, Infinity]);
    }
  });
});
