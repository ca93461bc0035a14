import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DeadlineTable } from './deadline-table.js';

const DELAYS = [30, 70];
const OWNERS = 40;

type Step =
  | { readonly kind: 'add'; readonly owner: number }
  | { readonly kind: 'remove'; readonly owner: number }
  | { readonly kind: 'renew'; readonly owner: number; readonly list: number }
  | { readonly kind: 'postpone'; readonly ms: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'take' };

const owner = fc.nat({ max: OWNERS - 1 });
const list = fc.nat({ max: DELAYS.length - 1 });
const ms = fc.nat({ max: 40 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('renew' as const), owner, list }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), owner }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), owner }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('postpone' as const), ms }) },
  ),
  { maxLength: 150, size: 'max' },
);

interface Owner {
  readonly number: number;
  row: number | undefined;
}

/** The simplest possible table: of the entries with a row, the due ones in the order of renewal. */
class Model {
  readonly owners = Array.from({ length: OWNERS }, (_, number): Owner => ({ number, row: undefined }));
  due: { readonly owner: Owner; readonly list: number; readonly at: number }[] = [];
  notBefore = -Infinity;

  forget(gone: Owner): void {
    this.due = this.due.filter((one) => one.owner !== gone);
  }

  inList(wanted: number): Owner[] {
    return this.due.filter((one) => one.list === wanted).map((one) => one.owner);
  }

  takeDue(now: number): Owner | undefined {
    if (this.notBefore > now) return undefined;
    const due = this.due.filter(({ at }) => at <= now);
    const taken = (due.find((one) => one.list === 0) ?? due[0])?.owner;
    if (taken !== undefined) this.forget(taken);
    return taken;
  }

  at(one: Owner): number {
    return this.due.find((due) => due.owner === one)?.at ?? Infinity;
  }

  get state(): readonly unknown[] {
    const lists = DELAYS.map((_, index) => this.inList(index));
    const having = this.owners.filter(({ row }) => row !== undefined);
    const deadline = Math.max(this.notBefore, Math.min(Infinity, ...this.due.map(({ at }) => at)));
    return [having.length, lists, lists.map(([first]) => first), deadline, having.map((one) => this.at(one))];
  }
}

function stateOf(table: DeadlineTable<Owner>, owners: readonly Owner[]): readonly unknown[] {
  const rows = owners.flatMap(({ row }) => row ?? []);
  return [
    table.size,
    DELAYS.map((_, index) => [...table.values(index)]),
    DELAYS.map((_, index) => table.first(index)),
    table.deadline,
    rows.map((row) => table.at(row)),
  ];
}

it('DeadlineTable does what arrays in the order of renewal would do', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const table = new DeadlineTable<Owner>(DELAYS);
      const model = new Model();
      let now = 0;
      for (const step of script) {
        if (step.kind === 'pass') now += step.ms;
        else if (step.kind === 'take') expect(table.takeDue(now)).toBe(model.takeDue(now));
        else if (step.kind === 'postpone') {
          table.postpone(step.ms, now);
          model.notBefore = Math.max(model.notBefore, now + step.ms);
        } else {
          const one = model.owners[step.owner]!;
          if (step.kind === 'add') one.row ??= table.add(one);
          else if (one.row === undefined) continue;
          else if (step.kind === 'remove') {
            table.remove(one.row);
            model.forget(one);
            one.row = undefined;
          } else {
            table.renew(one.row, step.list, now);
            model.forget(one);
            model.due.push({ owner: one, list: step.list, at: now + DELAYS[step.list]! });
          }
        }
        expect(stateOf(table, model.owners)).toEqual(model.state);
      }
    }),
    { numRuns: 200 },
  );
});
