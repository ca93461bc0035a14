/** The completion of `proj` in bash. */
import type { CommandWords, Value } from './words.js';

/** A script for bash 3.2 and later. */
export function bashCompletion(commands: readonly CommandWords[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return `# bash completion for proj. To load it now: source <(proj completion bash)
_proj() {
  local line=\${COMP_LINE:0:COMP_POINT} word='' before='' at=0 skip=0 index flags='' valued='' IFS=$' \\t\\n'
  local -a words
  # Not COMP_WORDS: bash splits endpoints at their colons.
  read -ra words <<<"$line"
  case "$line" in *[[:space:]]) words+=('') ;; esac
  word=\${words[\${#words[@]} - 1]}
  COMPREPLY=()
  if [ "\${#words[@]}" -le 2 ]; then
    COMPREPLY=($(compgen -W '${names} --help --version' -- "$word"))
    return
  fi
  case "\${words[1]}" in
${commands.map(flagsOf).join('\n')}
    *) return ;;
  esac
  for ((index = 2; index < \${#words[@]} - 1; index++)); do
    before=\${words[index]}
    if [ "$skip" -eq 1 ]; then
      skip=0
    elif [[ $before == --* ]]; then
      case "$valued" in *" $before "*) skip=1 ;; esac
    else
      at=$((at + 1))
    fi
  done
  if [ "$skip" -eq 0 ]; then
    before=''
    case "$word" in --*=*) before=\${word%%=*} word=\${word#*=} ;; esac
  fi
  case "\${words[1]} \${before:-$at}" in
${commands.flatMap(valuesOf).join('\n')}
  esac
  if [ -z "$before" ] && { [[ $word == -* ]] || [ "\${#COMPREPLY[@]}" -eq 0 ]; }; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  fi
}
complete -F _proj proj
`;
}

function flagsOf({ name, flags }: CommandWords): string {
  const all = flags.map(({ flag }) => `--${flag}`).join(' ');
  const valued = flags.flatMap(({ flag, value }) => (value === undefined ? [] : [`--${flag}`])).join(' ');
  return `    ${name}) flags='${all}' valued=' ${valued} ' ;;`;
}

/** One line per option or operand whose value can be completed. */
function valuesOf({ name, flags, operands }: CommandWords): string[] {
  const ofFlags = flags.map(({ flag, value }) => [`--${flag}`, value] as const);
  const ofOperands = operands.map(
    ({ value, isRepeated }, index) => [isRepeated ? `[0-9]*` : `${index}`, value] as const,
  );
  return [...ofFlags, ...ofOperands].flatMap(([where, value]) => {
    const reply = value === undefined ? undefined : replyOf(value);
    const pattern = where === '[0-9]*' ? `'${name} '[0-9]*` : `'${name} ${where}'`;
    return reply === undefined ? [] : [`    ${pattern}) ${reply} ;;`];
  });
}

function replyOf(value: Value): string | undefined {
  switch (value.kind) {
    case 'words':
      return `COMPREPLY=($(compgen -W '${value.words.join(' ')}' -- "$word"))`;
    case 'file':
    case 'folder': {
      const action = value.kind === 'file' ? '-f' : '-d';
      return `IFS=$'\\n'; COMPREPLY=($(compgen ${action} -- "$word")); compopt -o filenames 2>/dev/null; IFS=$' \\t\\n'`;
    }
    case 'text':
      return undefined;
  }
}
