/** What the pages show works: code compiles and runs as written, and programs have the options used there. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from './pack.js';
import { blocksOf, PAGES, textOf } from './pages.js';
import { commandsOf, flagsOf, helpOf, isKnown } from './shell.js';
import type { Outcome } from './snippets.js';
import { CODE, printedAsPromised, promisesOf, Workshop } from './snippets.js';

const CODE_BLOCKS = PAGES.flatMap((page) => blocksOf(page, textOf(page))).filter(({ language }) => CODE.has(language));
/** A package that is never published has no build to run. */
const RUNNING = CODE_BLOCKS.filter(({ page }) => !page.startsWith('packages/appkit/'));
const COMMANDS = PAGES.flatMap((page) => commandsOf(page, textOf(page)));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let problems: ReadonlyMap<string, string[]>;
let outcomes: ReadonlyMap<string, Outcome>;

beforeAll(async () => {
  folder = await temporaryFolder();
  const workshop = new Workshop(folder.path, CODE_BLOCKS);
  const running = workshop.run(new Set(RUNNING));
  problems = workshop.problems();
  outcomes = await running;
});

afterAll(() => folder.remove());

describe('the code of the pages', () => {
  it.each(CODE_BLOCKS)('$name compiles on its own, with strict', ({ name }) => {
    expect(problems.get(name)).toEqual([]);
  });

  it.each(RUNNING)('$name runs, ends, and prints what it promises', (block) => {
    const { printed, error } = outcomes.get(block.name) ?? expect.fail('it did not run');
    expect(error).toBeUndefined();
    const broken = promisesOf(block).filter((promise) => !printedAsPromised(printed, promise));
    expect(broken, `printed:\n${printed}`).toEqual([]);
  });
});

describe('the commands of the pages', () => {
  it('are many', () => {
    expect(COMMANDS.length).toBeGreaterThan(30);
  });

  it.each(COMMANDS)('$page: $line: its program has these options', async (command) => {
    const help = await helpOf(command);
    expect(flagsOf(command).filter((flag) => !isKnown(flag, help))).toEqual([]);
  });
});
