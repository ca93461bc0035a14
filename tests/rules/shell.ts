/** The command lines on the pages that start our programs, and the programs' own help. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { blocksOf } from './pages.js';
import { PACKAGES, ROOT } from './workspace.js';

/** One of our programs with its arguments, as on a page. */
export interface Command {
  readonly page: string;
  readonly line: string;
  /** The folder in `apps/`. */
  readonly app: string;
  /** The word after `proj`, if any. */
  readonly command: string | undefined;
  readonly args: readonly string[];
}

const APPS = PACKAGES.filter(({ dir }) => dir.startsWith('apps/')).map(({ dir }) => dir.slice('apps/'.length));
const START = /^(?:node apps\/([a-z]+)\/dist\/main\.js|npx @proj\/app-([a-z]+)|proj-([a-z]+)|(proj))(?= |$)/;

/** The commands in the blocks of a page and in its inline code. */
export function commandsOf(page: string, text: string): Command[] {
  const blocks = blocksOf(page, text).filter(({ language }) => ['', 'sh', 'bash'].includes(language));
  const inline = [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  const lines = [...blocks.flatMap((block) => block.text.split('\n')), ...inline];
  return lines
    .flatMap((line) => line.replace(/(^|\s)#.*$/, '').split(/&&|[|;]/))
    .map((line) => line.trim())
    .flatMap((line) => commandIn(page, line) ?? []);
}

function commandIn(page: string, line: string): Command | undefined {
  const [start, ...names] = START.exec(line) ?? [];
  const app = names.find(Boolean);
  if (start === undefined || app === undefined) return undefined;
  const args = line.slice(start.length).match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  if (app !== 'proj' && app !== 'cli') return { page, line, app, command: undefined, args };
  const [command, ...rest] = args;
  // `proj COMMAND --help` and `proj` alone name no command.
  if (command === undefined || /^[^a-z]/.test(command)) return undefined;
  return { page, line, app: 'cli', command, args: rest };
}

/** The names of the options among the arguments. */
export const flagsOf = ({ args }: Command): string[] =>
  args.flatMap((arg) => /^--([a-z][a-z0-9-]*)/.exec(arg)?.[1] ?? []);

/** True if a help text lists an option, or the switch that it turns off. */
export const isKnown = (flag: string, help: string): boolean =>
  new RegExp(`^ +--(no-)?${flag.replace(/^no-/, '')}\\b`, 'm').test(help);

const helps = new Map<string, Promise<string>>();

/** What `--help` prints for a command; rejects if there is no such program or command. */
export async function helpOf({ app, command }: Command): Promise<string> {
  const words = command === undefined ? [] : [command];
  const key = [app, ...words].join(' ');
  const main = join(ROOT, 'apps', app, 'dist/main.js');
  if (!APPS.includes(app) || !existsSync(main)) throw new Error(`there is no built program apps/${app}`);
  const help =
    helps.get(key) ?? promisify(execFile)(process.execPath, [main, ...words, '--help']).then((out) => out.stdout);
  helps.set(key, help);
  return await help;
}
