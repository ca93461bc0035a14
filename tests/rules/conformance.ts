/**
 * Compares `docs/protocols/<protocol>.md` with the tests: each clause of a specification and each of our rules names its
 * proof.
 */
import ts from 'typescript';
import type { SourceFile } from './workspace.js';

/** One row of a table whose last column is headed `tests`. */
export interface Row {
  /** The text of the first column. */
  readonly subject: string;
  /** The proofs in the last column: `title`, `file.test.ts › title` or `story.txt`. */
  readonly proofs: readonly string[];
  /** Why a clause has no test: a sentence after `reason:`. */
  readonly reason?: string;
}

const TITLED_CALLS = new Set(['it', 'test', 'describe']);

/** The rows of all tables with a column of tests, in document order. */
export function rowsOf(markdown: string): Row[] {
  const rows: Row[] = [];
  let inTable = false;
  for (const line of markdown.split('\n')) {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const last = cells.at(-2) ?? '';
    if (!line.startsWith('|')) inTable = false;
    else if (last === 'tests') inTable = true;
    else if (inTable && !/^-+$/.test(last)) rows.push({ subject: cells[1] ?? '', ...proofOf(last) });
  }
  return rows;
}

function proofOf(cell: string): Omit<Row, 'subject'> {
  const [, reason] = /^reason: (.+)$/.exec(cell) ?? [];
  return reason === undefined ? { proofs: codeSpans(cell) } : { proofs: [], reason };
}

function codeSpans(cell: string): string[] {
  return [...cell.matchAll(/(`+)(.+?)\1(?!`)/g)].map(([, , text]) => (text ?? '').replaceAll('\\|', '|'));
}

/**
 * The files that contain a proof, by path. A bare title matches any file, so a title that occurs in several files must
 * name its file; a scenario is named only by its file.
 */
export function filesProving(proof: string, titles: ReadonlyMap<string, readonly string[]>): string[] {
  const [first = '', second] = proof.split(' › ');
  const file = second !== undefined || first.endsWith('.txt') ? first : undefined;
  const title = file === undefined ? first : second;
  return [...titles.keys()].filter(
    (path) =>
      (file === undefined || path.endsWith(`/${file}`)) && (title === undefined || titles.get(path)?.includes(title)),
  );
}

/** The numbers of the rules in the section under a heading: lines that begin with `1.`, `2.` and so on. */
export function ruleNumbersOf(markdown: string, heading: string): number[] {
  const [, section] = markdown.split(`\n${heading}\n`);
  const [rules = ''] = (section ?? '').split(/\n## /);
  return [...rules.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
}

/** Titles of all tests and groups in a test file, as written; for a scenario, its first line. */
export function titlesOf({ path, text }: SourceFile): string[] {
  if (path.endsWith('.txt')) return [(/^# (.+)$/m.exec(text)?.[1] ?? '').trim()];
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    const title = ts.isCallExpression(node) ? node.arguments[0] : undefined;
    if (ts.isCallExpression(node) && title !== undefined && ts.isStringLiteralLike(title) && isTitled(node.expression))
      titles.push(title.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return titles;
}

/** The rules that titles name: `rule 4: ...`, `rules 4 and 5: ...`, `(rule 14)`. */
export function rulesNamedIn(titles: readonly string[]): Set<number> {
  const named = new Set<number>();
  for (const title of titles)
    for (const [, list] of title.matchAll(/\brules? (\d+(?:(?:, | and )\d+)*)/g))
      for (const number of (list ?? '').split(/, | and /)) named.add(Number(number));
  return named;
}

/** True for `it`, `it.each(...)`, `describe.skipIf(...)` and the like. */
function isTitled(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return TITLED_CALLS.has(callee.text);
  if (ts.isTaggedTemplateExpression(callee)) return isTitled(callee.tag);
  return (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) && isTitled(callee.expression);
}
