/** The completion of `proj` in fish. */
import type { CommandWords, Value } from './words.js';

/** A script to be sourced, or kept as `~/.config/fish/completions/proj.fish`. */
export function fishCompletion(commands: readonly CommandWords[]): string {
  return `# fish completion for proj. To load it now: proj completion fish | source
function __proj_command -a name -d 'whether the command is this one'
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $name
end
# Arguments: the command, a place from 0 on or '*', then the options that take a value.
function __proj_operand -a name place -d 'whether an operand of the command is typed'
    __proj_command $name; or return 1
    set -l skip 0
    set -l at 0
    for word in (commandline -opc)[3..]
        if test $skip -eq 1
            set skip 0
        else if string match -q -- '--*' $word
            contains -- $word $argv[3..]; and set skip 1
        else
            set at (math $at + 1)
        end
    end
    test $skip -eq 0; and test $place = '*' -o $place = $at
end
complete -c proj -f
complete -c proj -n __fish_use_subcommand -l help -d 'print this help'
complete -c proj -n __fish_use_subcommand -l version -d 'print the version'
${commands.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ name, summary, flags, operands }: CommandWords): string[] {
  const valued = flags.flatMap(({ flag, value }) => (value === undefined ? [] : [`--${flag}`]));
  const when = quoted(`__proj_command ${name}`);
  return [
    `complete -c proj -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...flags.map(({ flag, help, value }) => {
      const takes = value === undefined ? '' : flagValue(value);
      return `complete -c proj -n ${when} -l ${flag}${takes} -d ${quoted(help)}`;
    }),
    ...operands.flatMap(({ value, isRepeated }, index) => {
      const choice = operandValue(value);
      const place = isRepeated ? "'*'" : `${index}`;
      const there = quoted(`__proj_operand ${name} ${place} ${valued.join(' ')}`);
      return choice === undefined ? [] : [`complete -c proj -n ${there}${choice}`];
    }),
  ];
}

function flagValue(value: Value): string {
  return value.kind === 'file' ? ' -r -F' : ` -x${operandValue(value) ?? ''}`;
}

function operandValue(value: Value): string | undefined {
  switch (value.kind) {
    case 'words':
      return ` -a ${quoted(value.words.join(' '))}`;
    case 'file':
      return ' -F';
    case 'folder':
      return " -a '(__fish_complete_directories)'";
    case 'text':
      return undefined;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
