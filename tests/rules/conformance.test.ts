import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROTOCOLS } from '../protocols.js';
import type { Traits } from '../protocols.js';
import { filesProving, rowsOf, ruleNumbersOf, rulesNamedIn, titlesOf } from './conformance.js';
import { ROOT, testFiles } from './workspace.js';

const DOCUMENT = `# Protocol

## Broker

1. One.
2. Two,
   going on.

## Clauses

| clause | level | tests |
| --- | --- | --- |
| a.1 | this \\| that | \`\`first \`x\`\`\`, \`second \\| half\` |
| a.2 | that | |
| a.3 | that | reason: it is an \`assumption\`, which asks for nothing |

| without | proofs |
| --- | --- |
| b.1 | \`third\` |
`;

describe('reading', () => {
  it('finds the rows of tables with tests, and the tests they name', () => {
    expect(rowsOf(DOCUMENT)).toEqual([
      { subject: 'a.1', proofs: ['first `x`', 'second | half'] },
      { subject: 'a.2', proofs: [] },
      { subject: 'a.3', proofs: [], reason: 'it is an `assumption`, which asks for nothing' },
    ]);
  });

  it('finds the files that prove a clause', () => {
    const titles = new Map([
      ['packages/x/src/a.test.ts', ['one', 'both']],
      ['packages/x/src/b.test.ts', ['both']],
      ['packages/x/src/scenarios/01-story.txt', ['A story.']],
    ]);
    expect(filesProving('one', titles)).toEqual(['packages/x/src/a.test.ts']);
    expect(filesProving('both', titles)).toHaveLength(2);
    expect(filesProving('b.test.ts › both', titles)).toEqual(['packages/x/src/b.test.ts']);
    expect(filesProving('01-story.txt', titles)).toEqual(['packages/x/src/scenarios/01-story.txt']);
    expect(filesProving('b.test.ts › one', titles)).toEqual([]);
    expect(filesProving('02-story.txt', titles)).toEqual([]);
  });

  it('finds the numbers of rules under their heading', () => {
    expect(ruleNumbersOf(DOCUMENT, '## Broker')).toEqual([1, 2]);
    expect(ruleNumbersOf(DOCUMENT, '## Worker')).toEqual([]);
  });

  it('finds titles of tests, tables of tests and groups', () => {
    const text = `describe('a', () => { it('b', f); it.each([1])('c %s', f); it.each\`x\`('d', f); test.skipIf(x)('e', f); call('f'); });`;
    expect(titlesOf({ path: 'x.test.ts', text })).toEqual(['a', 'b', 'c %s', 'd', 'e']);
  });

  it('finds the title of a scenario', () => {
    expect(titlesOf({ path: 'x.txt', text: '# A worker dies (rule 14).\n# More.\n' })).toEqual([
      'A worker dies (rule 14).',
    ]);
  });

  it('finds the rules that titles name', () => {
    const titles = ['rule 4: x', 'rules 5, 6 and 7: y', 'a worker dies (rule 14)', '8 rules', 'ruler 9'];
    expect(rulesNamedIn(titles)).toEqual(new Set([4, 5, 6, 7, 14]));
  });
});

/** Documents with clauses: of the protocols, and of what carries them. */
const DOCUMENTS: Readonly<Record<string, Omit<Traits, 'program' | 'ports' | 'client'>>> = {
  ...PROTOCOLS,
  zmtp: { clauses: '37/', atLeast: 28, roles: [] },
};

/** A reason is a sentence, not a word. */
const REASON_MIN = 30;

const files = testFiles();

/**
 * Titles that may prove something about a protocol: not those in files of other protocols, whose rules have the same numbers.
 */
function titlesFor(name: string): Map<string, readonly string[]> {
  const others = Object.keys(DOCUMENTS).filter((other) => other !== name);
  const foreign = new RegExp(`/(${others.join('|')})[/.]`);
  return new Map(files.filter(({ path }) => !foreign.test(path)).map((file) => [file.path, titlesOf(file)]));
}

describe.each(Object.entries(DOCUMENTS))('docs/protocols/%s.md', (name, protocol) => {
  const { clauses, atLeast, roles } = protocol;
  const document = readFileSync(join(ROOT, 'docs/protocols', `${name}.md`), 'utf8');
  const titles = titlesFor(name);
  const rows = rowsOf(document);

  it('lists every clause once', () => {
    const subjects = rows.map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject.startsWith(clauses)).length).toBeGreaterThan(atLeast);
    expect(subjects).toEqual([...new Set(subjects)]);
  });

  it('names tests for every clause, or a reason of a sentence', () => {
    const unproved = rows.filter(({ proofs, reason = '' }) => proofs.length === 0 && reason.length < REASON_MIN);
    expect(unproved.map(({ subject }) => subject)).toEqual([]);
  });

  it('names only tests that exist, each unambiguously', () => {
    const doubtful = rows.flatMap(({ subject, proofs }) =>
      proofs
        .map((proof) => ({ proof, found: filesProving(proof, titles) }))
        .filter(({ found }) => found.length !== 1)
        .map(({ proof, found }) => `${subject}: ${proof} is in ${found.length} files`),
    );
    expect(doubtful).toEqual([]);
  });

  it.each(roles)('each rule of the %s is numbered once and proven by a test that names it', (_role, heading, own) => {
    const numbers = ruleNumbersOf(document, heading);
    expect(numbers).not.toEqual([]);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    const named = rulesNamedIn([...titles].filter(([path]) => own.test(path)).flatMap(([, list]) => list));
    expect(
      numbers.filter((number) => !named.has(number)),
      'rules without a test',
    ).toEqual([]);
  });
});
