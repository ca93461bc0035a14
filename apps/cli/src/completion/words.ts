/** Which words are possible where: the commands of `proj` and their options, for shell completion. */
import { fieldsOf, withSharedOptions } from '@proj/appkit';
import type { Command, Field } from '@proj/appkit';

/** The value of an option or operand. */
export type Value =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' | 'folder' | 'text' };

/** An option as it is typed, without its dashes. */
export interface Flag {
  readonly flag: string;
  readonly help: string;
  /** Absent for a switch. */
  readonly value: Value | undefined;
  readonly isList: boolean;
}

/** A command and its arguments. */
export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  readonly operands: readonly OperandWords[];
}

/** An operand at its position. */
interface OperandWords {
  /** Without brackets: `service`. */
  readonly name: string;
  readonly value: Value;
  /** It may be repeated, so it is the last one. */
  readonly isRepeated: boolean;
}

const CONFIG: Flag = { flag: 'config', help: 'YAML file of options', value: { kind: 'file' }, isList: false };
const HELP: Flag = { flag: 'help', help: 'print this help', value: undefined, isList: false };

/** The words that shells complete for these commands. */
export function wordsOf(commands: readonly Command[]): CommandWords[] {
  return commands.map(withSharedOptions).map(({ name, summary, options, operands = [] }) => ({
    name,
    summary: firstSentence(summary),
    flags: [...fieldsOf(options).map(flagOf), CONFIG, HELP],
    operands: operands.map(({ syntax, words }) => {
      const [, bare = '', dots = ''] = /^[<[](.+?)(\.\.\.)?[>\]]$/.exec(syntax) ?? [];
      return { name: bare, isRepeated: dots !== '', value: valueOf(bare, words) };
    }),
  }));
}

function flagOf({ flag, help, kind, placeholder, words, fallback }: Field): Flag {
  if (kind === 'switch')
    return { flag: fallback === true ? `no-${flag}` : flag, help, value: undefined, isList: false };
  return { flag, help: firstSentence(help), value: valueOf(placeholder, words), isList: kind === 'list' };
}

function valueOf(name: string, words: readonly string[] | undefined): Value {
  if (words !== undefined) return { kind: 'words', words };
  if (/file|^path/i.test(name)) return { kind: 'file' };
  return { kind: /folder|^dir/i.test(name) ? 'folder' : 'text' };
}

/** The help text, shortened to fit beside a word in a menu. */
function firstSentence(text: string): string {
  return text
    .replace(/\s*[.:;]\s.*$/s, '')
    .replace(/\s*\(default: .*$/s, '')
    .replace(/\.$/, '');
}
