import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseDuration, replayScenario, runScenarios } from './scenario.js';
import type { ScenarioHandler } from './scenario.js';

/** A machine that adds. */
function adder(): ScenarioHandler {
  let sum = 0;
  return ({ name, args }) => {
    if (name === 'say') return args;
    if (name !== 'add') throw new Error(`no command ${name}`);
    for (const arg of args) sum += Number(arg);
    return sum === 0 ? [] : [`sum ${sum}`];
  };
}

const STORY = `# Adding
#
# Prose may stand anywhere.

add 1 2
  sum 3

# And so on.
add -3
  (nothing)
`;

describe('replayScenario', () => {
  it('returns a correct text unchanged', async () => {
    expect(await replayScenario(STORY, adder())).toBe(STORY);
  });

  it('replaces output that is wrong, missing or superfluous', async () => {
    const wrong = STORY.replace('  sum 3', '  sum 4\n  sum 5').replace('  (nothing)\n', '');
    expect(await replayScenario(wrong, adder())).toBe(STORY);
  });

  it('reads quoted words as JSON strings', async () => {
    const text = await replayScenario('# Words\nsay a "b c" "\\u0001\\"" ""x\n', ({ args }) => [JSON.stringify(args)]);
    expect(text).toContain(JSON.stringify(['a', 'b c', '\u0001"', '', 'x']));
  });

  it('names file, line and command when a command fails', async () => {
    await expect(replayScenario('# Title\n\nsubtract 1\n', adder(), 'a.txt')).rejects.toThrow(
      'a.txt:3: subtract 1: no command subtract',
    );
  });

  it('refuses a text without a title, and output it could not read back', async () => {
    await expect(replayScenario('add 1\n', adder())).rejects.toThrow('title');
    await expect(replayScenario('# Title\nadd 1\n', () => ['a\n\nb'])).rejects.toThrow('empty line');
  });
});

describe('parseDuration', () => {
  it('accepts milliseconds and seconds', () => {
    expect([parseDuration('300ms'), parseDuration('2.5s')]).toEqual([300, 2500]);
  });

  it.each([undefined, '', '300', '-1ms', '1h'])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrow('must look like');
  });
});

const folder = mkdtempSync(join(tmpdir(), 'scenario-'));
writeFileSync(join(folder, 'adding.txt'), STORY);
afterAll(() => {
  rmSync(folder, { recursive: true });
});
runScenarios(folder, adder);
