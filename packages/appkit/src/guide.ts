/** For tests: the tables of options in `docs/guide`, drawn from the help of the programs. */

const HEAD = '| flag | default | meaning |\n| --- | --- | --- |\n';

/** The guide with the table of options that this help makes. Throws if it has no such table. */
export function withOptions(guide: string, help: string): string {
  const [before, table] = guide.split(HEAD);
  if (before === undefined || table === undefined) throw new Error('the guide has no table of flags');
  const rows = optionsOf(help).map(rowOf);
  return `${before}${HEAD}${[...rows, table.replace(/^(\|.*\n)*/, '')].join('\n')}`;
}

/** Each option of the program's own, on one line: `--flag <VALUE>  meaning (default: x)`. */
function optionsOf(help: string): string[] {
  const [, options = ''] = help.split('\nOptions:\n');
  const [lines = ''] = options.split('\n\n');
  const all = lines.split(/\n {2}(?=--)/).map((option) => option.trim().replaceAll(/\n */g, '  '));
  return all.filter((option) => !/^--(version|help)\b/.test(option));
}

function rowOf(option: string): string {
  const [, flag = '', value, text = ''] = /^(\S+)(?: <(\S+)>)? *(.*)$/.exec(option) ?? [];
  const words = text.replaceAll(/ {2,}/g, ' ');
  const [, meaning = words, said] = /^(.*) \(default: (.*)\)$/.exec(words) ?? [];
  const fallback = said === 'true' ? 'on' : (said ?? (value === undefined ? 'off' : 'none'));
  return `| ${code(value === undefined ? flag : `${flag} ${value}`)} | ${cell(fallback)} | ${cell(meaning)} |`;
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

/** Flags, addresses and other words with signs are code. */
function cell(text: string): string {
  return text.replaceAll(/(?<=^|[ ,(])(--[a-z-]+|[a-z]+:\S*[^\s,.;)](?:\.{3})?|\/[a-z]+|\.key)/g, code);
}
