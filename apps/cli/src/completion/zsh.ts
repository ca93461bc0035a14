/** The completion of `proj` in zsh. */
import type { CommandWords, Flag, Value } from './words.js';

/** A script that can be sourced, or saved as `_proj` in a folder of `$fpath`. */
export function zshCompletion(commands: readonly CommandWords[]): string {
  return `#compdef proj
# zsh completion for proj. To load it now: source <(proj completion zsh)
_proj() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe -t commands command commands
    _values 'option' '--help[print this help]' '--version[print the version]'
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${commands.map(argumentsOf).join('\n')}
  esac
}
if [[ $funcstack[1] == _proj ]]; then _proj "$@"; else compdef _proj proj; fi
`;
}

function argumentsOf({ name, flags, operands }: CommandWords): string {
  const specs = [
    ...flags.map(flagSpec),
    ...operands.map(({ name: what, value, isRepeated }, index) => {
      const place = isRepeated ? '*' : `${index + 1}`;
      // With a message, as for text, zsh would not insert the only matching option.
      return quoted(`${place}:${what}:${action(value) || '{:}'}`);
    }),
  ];
  return `    ${name})\n      _arguments \\\n${specs.map((spec) => `        ${spec}`).join(' \\\n')}\n      ;;`;
}

function flagSpec({ flag, help, value, isList }: Flag): string {
  const text = help.replaceAll(/[[\]:\\]/g, '\\$&');
  if (value === undefined) return quoted(`--${flag}[${text}]`);
  return quoted(`${isList ? '*' : ''}--${flag}=[${text}]:${flag}:${action(value)}`);
}

function action(value: Value): string {
  switch (value.kind) {
    case 'words':
      return `(${value.words.join(' ')})`;
    case 'file':
      return '_files';
    case 'folder':
      return '_files -/';
    case 'text':
      return '';
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
