/** The pages that users read: links lead somewhere, code blocks are marked, registry pages stand alone. */
import { describe, expect, it } from 'vitest';
import { blocksOf, brokenLinks, linksOf, mentionedFiles, OTHER_PAGES, PAGES, textOf, worksAnywhere } from './pages.js';
import { commandsOf, flagsOf, isKnown } from './shell.js';
import { CODE, importsOf, packageOf, printedAsPromised, promisesOf } from './snippets.js';
import { PACKAGES } from './workspace.js';

const BLOCKS = PAGES.flatMap((page) => blocksOf(page, textOf(page)));
/** The languages of blocks other than code that is compiled and run. */
const OTHERS = ['', 'sh', 'json', 'mermaid', 'promql', 'yaml', 'toml', 'ini', 'diff', 'text', 'python'];
const PUBLISHED = PACKAGES.filter(({ manifest }) => manifest.private !== true);
const LIBRARIES = PUBLISHED.filter(({ dir }) => dir.startsWith('packages/'));

describe('the checks of the pages', () => {
  const text = "A page.\n\n```js\nimport { a } from '@proj/client/mdp';\nconsole.log(a); // [ 1 ]\n```\n";

  it('find a block, its line, its imports and the output it promises', () => {
    const [block] = blocksOf('x.md', text);
    expect(block).toMatchObject({ name: 'x.md:3', language: 'js' });
    expect(block && importsOf(block).map(packageOf)).toEqual(['@proj/client']);
    expect(block && promisesOf(block)).toEqual(['[ 1 ]']);
  });

  it.each([
    ['[\n  1, 2\n]', '[ 1, 2 ]', true],
    ['{ a: 1, b: 2 }', '{ a: ..., b: 2 }', true],
    ['1', '2', false],
    ['abc', 'a.c', false],
  ])('%j is what %j promises: %s', (printed, promise, expected) => {
    expect(printedAsPromised(printed, promise)).toBe(expected);
  });

  it('find links that lead nowhere', () => {
    const links =
      '[a](LICENSE) [b](nowhere.md) [c](#here) [d](#there) [e](https://example.com) [f](docs/STYLE.md#no)\n# Here';
    expect(linksOf(links)).toHaveLength(6);
    expect(brokenLinks('README.md', links)).toEqual(['nowhere.md', '#there', 'docs/STYLE.md#no']);
  });

  it('find files that are named but not linked', () => {
    expect(mentionedFiles('`src/a.ts`, [`src/b.ts`](https://x.org) and docs/c.md')).toEqual(['src/a.ts', 'docs/c.md']);
  });

  it('find commands and their options', () => {
    const page = '`proj call --json` and `proj COMMAND`\n```sh\nnpm run build && proj-broker --mdp x  # --not\n```\n';
    const commands = commandsOf('x.md', page);
    expect(commands.map(({ app, command }) => [app, command])).toEqual([
      ['broker', undefined],
      ['cli', 'call'],
    ]);
    expect(commands.flatMap(flagsOf)).toEqual(['mdp', 'json']);
    expect(['json', 'no-json', 'jso'].map((flag) => isKnown(flag, 'x\n  --json   yes'))).toEqual([true, true, false]);
  });
});

it.each([...PAGES, ...OTHER_PAGES])('%s has no link that leads nowhere', (page) => {
  expect(brokenLinks(page, textOf(page))).toEqual([]);
});

it('marks every code block as js or ts, which are compiled and run, or as something else', () => {
  const unknown = BLOCKS.filter(({ language }) => !CODE.has(language) && !OTHERS.includes(language));
  expect(unknown.map(({ name, language }) => `${name}: ${language}`)).toEqual([]);
});

it.each(BLOCKS.filter(({ language }) => language === 'json'))('$name is JSON', ({ text }) => {
  expect(() => JSON.parse(text) as unknown).not.toThrow();
});

describe.each(PUBLISHED)('$dir/README.md', ({ dir }) => {
  const text = textOf(`${dir}/README.md`);

  it('has no link that fails on its registry page', () => {
    expect(linksOf(text).filter((link) => !worksAnywhere(link))).toEqual([]);
  });

  it('names no file that is missing in the tarball', () => {
    expect(mentionedFiles(text)).toEqual([]);
  });

  it('is one screen', () => {
    expect(text.split('\n').length).toBeLessThanOrEqual(50);
  });
});

it.each(LIBRARIES)('$dir/README.md opens with an example and says what to install for it', ({ dir, manifest }) => {
  const text = textOf(`${dir}/README.md`);
  const [first] = blocksOf(dir, text).filter(({ language }) => CODE.has(language));
  const installed = [...text.matchAll(/npm install ([^`\n]+)/g)].flatMap(([, names = '']) => names.split(' '));
  const known = [...installed, ...Object.keys(manifest.dependencies ?? {})];
  const needed = first ? importsOf(first).filter((one) => !one.startsWith('node:')) : ['an example'];
  expect(needed.map(packageOf).filter((name) => !known.includes(name))).toEqual([]);
});
