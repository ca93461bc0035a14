/**
 * Golden transcripts: a text file sends commands to an engine and records every answer, so that anybody can read, check and extend it.
 *
 * ```
 * # A worker that falls silent loses its job to another one (rule 14).
 * # Lines like these are prose; the first one is the title.
 *
 * worker w1 ready echo
 *   (nothing)
 *
 * client c1 request echo "hello"
 *   -> w1 REQUEST c1 "hello"
 *
 * advance 7500ms
 *   note worker-expired w1
 * ```
 *
 * A line at the margin is a command; the indented lines below it are its whole output. Run the tests with
 * `SCENARIO_REWRITE=1` to rewrite the output, and read the difference before you commit it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** One command of a scenario, in words. */
export interface ScenarioCommand {
  /** The first word. */
  readonly name: string;
  /** The other words. A word in double quotes is a JSON string, may contain blanks and escapes, and arrives without quotes. */
  readonly args: readonly string[];
  /** The line as written in the file. */
  readonly text: string;
}

/** Performs a command and returns its output, one entry per line, none empty. Throws for an invalid command. */
export type ScenarioHandler = (command: ScenarioCommand) => readonly string[] | Promise<readonly string[]>;

const OUTPUT_INDENT = '  ';
const NO_OUTPUT = '(nothing)';
const WORD = /"(?:[^"\\]|\\.)*"|\S+/g;

/**
 * Makes one test per `*.txt` file of the folder, each with its own handler. The test compares the file with the output of its commands; with
 * `SCENARIO_REWRITE=1` in the environment it updates the file instead.
 */
export function runScenarios(directory: string, makeHandler: () => ScenarioHandler): void {
  const files = readdirSync(directory).filter((name) => name.endsWith('.txt'));
  describe('scenarios', () => {
    it('exist', () => {
      expect(files).not.toEqual([]);
    });
    it.each(files.sort())('%s', async (name) => {
      const path = join(directory, name);
      const written = readFileSync(path, 'utf8');
      const actual = await replayScenario(written, makeHandler(), name);
      if (process.env['SCENARIO_REWRITE'] === '1') writeFileSync(path, actual);
      else expect(actual).toBe(written);
    });
  });
}

/**
 * The scenario with the actual output of its commands; prose and blank lines stay. Throws if the title is missing, and names file and line if a
 * command fails.
 */
export async function replayScenario(text: string, handler: ScenarioHandler, name = 'scenario'): Promise<string> {
  const lines = text.trimEnd().split('\n');
  if (!/^# \S/.test(lines[0] ?? '')) throw new Error(`${name}:1: must begin with "# " and a title`);
  const result: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.startsWith(OUTPUT_INDENT)) continue;
    result.push(line);
    if (line === '' || line.startsWith('#')) continue;
    const where = `${name}:${index + 1}: ${line}`;
    const output = await perform(line, handler, where);
    result.push(...(output.length === 0 ? [NO_OUTPUT] : output).map((entry) => OUTPUT_INDENT + entry));
  }
  return `${result.join('\n')}\n`;
}

async function perform(line: string, handler: ScenarioHandler, where: string): Promise<readonly string[]> {
  try {
    const output = (await handler(parseCommand(line))).flatMap((entry) => entry.split('\n'));
    if (output.includes('')) throw new Error('output must not contain an empty line, which separates commands');
    return output;
  } catch (cause) {
    throw new Error(`${where}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function parseCommand(text: string): ScenarioCommand {
  const words = (text.match(WORD) ?? []).map((word) => (word.startsWith('"') ? (JSON.parse(word) as string) : word));
  const [name = '', ...args] = words;
  return { name, args, text };
}

/** Milliseconds of a duration such as `300ms` or `2.5s`. Throws for anything else. */
export function parseDuration(text: string | undefined): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(text ?? '') ?? [];
  if (number === undefined) throw new Error(`duration ${JSON.stringify(text)}: must look like 300ms or 2.5s`);
  return Number(number) * (unit === 's' ? 1000 : 1);
}
