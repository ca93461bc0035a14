import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { checkDiagrams, stateDiagram } from './diagrams.js';

const TABLE = {
  away: { ready: ['accept', 'here'], beat: ['refuse'], bye: ['drop'] },
  here: { ready: ['expel', 'away'], beat: ['accept'], bye: ['accept', 'away'] },
} as const;

const DRAWN = `stateDiagram-v2
  [*] --> away
  away --> here: ready
  away --> away: beat / refuse
  here --> away: ready / expel
  here --> here: beat
  here --> away: bye`;

it('draws an arrow for each verdict and next state, and none for what is only counted', () => {
  expect(stateDiagram({ table: TABLE, initial: 'away' })).toBe(DRAWN);
});

it('shows in parentheses what the engine does by itself', () => {
  const drawn = stateDiagram({ table: TABLE, initial: 'away', moves: [['here', 'expired', 'away']] });
  expect(drawn).toBe(`${DRAWN}\n  here --> away: (expired)`);
});

it('gives a second name to a state whose name Mermaid cannot read', () => {
  const drawn = stateDiagram({ table: { 'in flight': { ack: ['accept'] } }, initial: 'in flight' });
  expect(drawn).toBe(`stateDiagram-v2
  state "in flight" as in_flight
  [*] --> in_flight
  in_flight --> in_flight: ack`);
});

it('refuses a table that leads to a state it does not have', () => {
  expect(() => stateDiagram({ table: { a: { x: ['accept', 'b'] } }, initial: 'a' })).toThrow(
    'a, x: the table has no state b',
  );
});

const folder = mkdtempSync(join(tmpdir(), 'diagrams-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, 'doc.md');
writeFileSync(path, `before\n<!-- states: a peer -->\n\n\`\`\`mermaid\n${DRAWN}\n\`\`\`\n\n<!-- /states -->\nafter\n`);
checkDiagrams(path, { 'a peer': { table: TABLE, initial: 'away' } });
