/** `proj completion`: shell completion for the words after `proj`, generated from the commands themselves. */
import { defineCommand } from '@proj/appkit';
import type { Command } from '@proj/appkit';
import { ProjError } from '@proj/client';
import * as z from 'zod';
import { bashCompletion } from './completion/bash.js';
import { fishCompletion } from './completion/fish.js';
import { wordsOf } from './completion/words.js';
import { zshCompletion } from './completion/zsh.js';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** Prints the completion script of a shell for these commands, including `completion`. */
export function completionOf(commands: readonly Command[]): Command {
  const completion = defineCommand({
    name: 'completion',
    summary: 'Print a script that makes bash, zsh or fish complete commands, options and their values.',
    options: z.strictObject({}),
    operands: [{ syntax: '<shell>', help: 'bash, zsh or fish', words: Object.keys(SHELLS) }],
    examples: [
      { what: 'bash: put this line into ~/.bashrc', line: 'bash >~/.proj-completion && source ~/.proj-completion' },
      { what: 'zsh: a file in a folder of $fpath, before compinit runs', line: 'zsh >~/.zfunc/_proj' },
      { what: 'fish', line: 'fish >~/.config/fish/completions/proj.fish' },
    ],
    run({ operands: [shell = ''], print }) {
      if (!isShell(shell))
        throw new ProjError('OPTIONS_INVALID', `completion ${shell}: must be one of ${Object.keys(SHELLS).join(', ')}`);
      print(SHELLS[shell](wordsOf([...commands, completion])).trimEnd());
      return Promise.resolve(0);
    },
  });
  return completion;
}

function isShell(name: string): name is keyof typeof SHELLS {
  return Object.hasOwn(SHELLS, name);
}
