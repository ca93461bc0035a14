/** The command line and the help of a program, made from its options. */
import { Argument, Command as Parser, CommanderError, Option } from 'commander';
import { ProjError } from '@proj/transport';
import { fieldsOf, type Field } from './fields.js';
import { variableOf } from './settings.js';
import type { Command, Program } from './program.js';

const HELP_COLUMNS = 80;

/** A parsed command line. */
export interface Invocation {
  readonly command: Command;
  readonly operands: readonly string[];
  readonly configPath: string | undefined;
  readonly flags: Readonly<Record<string, unknown>>;
}

/**
 * Parses `args` (without node and script). Resolves to the invocation, or to text to print if help or the version was requested. Throws
 * `OPTIONS_INVALID` for an invalid command line.
 */
export function parseCommandLine(program: Program, args: readonly string[]): Invocation | { readonly text: string } {
  let invocation: Invocation | undefined;
  let text = '';
  const single = program.commands.length === 1;
  const parsers = program.commands.map((command) =>
    commandParser(program, command, single, (chosen) => {
      invocation = chosen;
    }),
  );
  const root = single ? (parsers[0] as Parser) : rootParser(program, parsers);
  root.version(program.version, '--version', 'print the version');
  for (const parser of [root, ...parsers]) {
    parser.exitOverride().configureOutput({
      writeOut: (chunk) => (text += chunk),
      writeErr: () => undefined,
      // The same on every terminal, because the launcher prints text made at build time.
      getOutHelpWidth: () => HELP_COLUMNS,
    });
    parser.helpOption('--help', 'print this help').helpCommand(false);
  }
  try {
    root.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw refusal(error, program);
  }
  return invocation ?? { text };
}

function rootParser(program: Program, parsers: readonly Parser[]): Parser {
  const root = new Parser(program.name).description(program.summary).usage('COMMAND [options]');
  for (const parser of parsers) root.addCommand(parser);
  root.addHelpText('after', `\n'${program.name} COMMAND --help' explains a command.`);
  return root;
}

function commandParser(
  program: Program,
  command: Command,
  single: boolean,
  choose: (invocation: Invocation) => void,
): Parser {
  const fields = fieldsOf(command.options);
  const parser = new Parser(single ? program.name : command.name)
    .description(command.summary)
    .allowExcessArguments(false);
  for (const { syntax, help } of command.operands ?? []) parser.addArgument(new Argument(syntax, help));
  for (const field of fields) addFlag(parser, field);
  parser.option('--config <FILE>', 'YAML file of options');
  parser.addHelpText('after', helpFooter(program, command, single));
  parser.action(() => {
    const { config, ...flags } = parser.opts<Record<string, unknown>>();
    choose({ command, operands: parser.args, configPath: config as string | undefined, flags });
  });
  return parser;
}

function addFlag(parser: Parser, field: Field): void {
  const silent = field.fallback === undefined || field.fallback === false;
  const help = silent ? field.help : `${field.help} (default: ${String(field.fallback)})`;
  if (field.kind === 'switch') {
    parser.addOption(new Option(`--${field.flag}`, help));
    parser.addOption(new Option(`--no-${field.flag}`).hideHelp());
    return;
  }
  const option = new Option(`--${field.flag} <${field.placeholder}>`, help);
  if (field.kind === 'list') option.argParser((value: string, before?: string[]) => [...(before ?? []), value]);
  parser.addOption(option);
}

function helpFooter(program: Program, command: Command, single: boolean): string {
  const name = single ? program.name : `${program.name} ${command.name}`;
  const examples = command.examples.flatMap(({ what, line }) => [`  # ${what}`, `  ${name} ${line}`.trimEnd()]);
  const [sample] = fieldsOf(command.options);
  const sources =
    sample === undefined
      ? []
      : [
          '',
          `Each option is also an environment variable (--${sample.flag}: ${variableOf(sample, program.envPrefix)}) and a key of the`,
          `--config file (${sample.flag}: ...). A flag overrides the environment, which overrides the file. Lists: a,b or the flag`,
          'repeated. A switch is turned off by --no-NAME.',
        ];
  return ['', 'Examples:', ...examples, ...sources].join('\n');
}

/** One line: commander's message and what is allowed instead. */
function refusal(error: CommanderError, program: Program): ProjError {
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replaceAll(/\s*\n\s*/g, ' ');
  const commands = `must be one of ${program.commands.map((command) => command.name).join(', ')}`;
  if (error.code === 'commander.help') return new ProjError('OPTIONS_INVALID', `command missing: ${commands}`);
  if (error.code === 'commander.unknownCommand') return new ProjError('OPTIONS_INVALID', `${message}: ${commands}`);
  const flag = /option '--(?:no-)?([a-z0-9-]+) </.exec(message)?.[1];
  const fields = program.commands.flatMap((command) => fieldsOf(command.options));
  const field = fields.find((candidate) => candidate.flag === flag);
  const hint = field === undefined ? "'--help' shows what is allowed" : `must be ${field.allowed}`;
  return new ProjError('OPTIONS_INVALID', `${message}: ${hint}`);
}
