/** Draws the state diagrams of the protocol documents from the engines' legality tables, so that pictures always match the code. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Any engine's legality table: state, event, then the verdict and possible next states. */
type Table = Readonly<Record<string, Readonly<Record<string, readonly [verdict: string, ...next: string[]]>>>>;

/** One diagram of a document. */
export interface DiagramSpec {
  readonly table: Table;
  /** The initial state of a peer, job or session. */
  readonly initial: string;
  /** Transitions that the engine makes by itself, such as expiry; `from` may be several states. */
  readonly moves?: readonly Move[];
}

/** A transition that no event of the table causes. */
type Move = readonly [from: string | readonly string[], cause: string, to: string];

/**
 * The table in Mermaid's notation. Events with the same verdict and next state share an arrow. The label is the events, then ` / ` and the
 * verdict, unless the verdict is `accept`. An event that is only counted (`drop`, `ignore`) and keeps the state gets no arrow. The engine's own
 * transitions are in parentheses.
 */
export function stateDiagram({ table, initial, moves = [] }: DiagramSpec): string {
  const lines = ['stateDiagram-v2'];
  for (const state of Object.keys(table)) if (idOf(state) !== state) lines.push(`  state "${state}" as ${idOf(state)}`);
  lines.push(`  [*] --> ${idOf(initial)}`);
  for (const [state, rulings] of Object.entries(table)) {
    const arrows = new Map<string, string[]>();
    for (const [event, [verdict, ...next]] of Object.entries(rulings)) {
      if (next.length === 0 && (verdict === 'drop' || verdict === 'ignore')) continue;
      for (const to of next.length === 0 ? [state] : next) {
        if (!(to in table)) throw new Error(`${state}, ${event}: the table has no state ${to}`);
        const key = JSON.stringify([to, verdict]);
        arrows.set(key, [...(arrows.get(key) ?? []), event]);
      }
    }
    for (const [key, events] of arrows) {
      const [to, verdict] = JSON.parse(key) as [string, string];
      lines.push(
        `  ${idOf(state)} --> ${idOf(to)}: ${events.join(', ')}${verdict === 'accept' ? '' : ` / ${verdict}`}`,
      );
    }
  }
  for (const [from, cause, to] of moves)
    for (const state of typeof from === 'string' ? [from] : from)
      lines.push(`  ${idOf(state)} --> ${idOf(to)}: (${cause})`);
  return lines.join('\n');
}

/**
 * Makes one test per diagram: the document must contain it between `<!-- states: NAME -->` and `<!-- /states -->`. With `DIAGRAM_REWRITE=1` in
 * the environment, the test updates the document instead.
 */
export function checkDiagrams(path: string, diagrams: Readonly<Record<string, DiagramSpec>>): void {
  describe('state diagrams', () => {
    it.each(Object.entries(diagrams))('%s is drawn as its legality table says', (name, spec) => {
      const [open, end] = [`<!-- states: ${name} -->`, '<!-- /states -->'];
      const text = readFileSync(path, 'utf8');
      const from = text.indexOf(open);
      const to = text.indexOf(end, from);
      if (from < 0 || to < 0) throw new Error(`${path}: no place between "${open}" and "${end}"`);
      const drawn = `${text.slice(0, from)}${open}\n\n\`\`\`mermaid\n${stateDiagram(spec)}\n\`\`\`\n\n${text.slice(to)}`;
      if (process.env['DIAGRAM_REWRITE'] === '1') writeFileSync(path, drawn);
      else expect(text).toBe(drawn);
    });
  });
}

/** Mermaid accepts letters, digits and underscores. */
function idOf(state: string): string {
  return state.replace(/\W/g, '_');
}
