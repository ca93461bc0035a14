/** `proj completion` in bash. zsh and fish are tested in tests/interop/cli. */
import { spawnSync } from 'node:child_process';
import { Programs } from '@proj/appkit/testing';
import { beforeAll, describe, expect, it } from 'vitest';

const programs = new Programs();
let script: string;
beforeAll(async () => {
  script = (await programs.run('cli', ['completion', 'bash'])).stdout;
});

/** What bash offers for these words, in one shell. */
function complete(lines: readonly string[]): string[][] {
  const asks = lines.map((line) => `ask '${line}'`).join('\n');
  const ask = `ask() { COMP_LINE=$1 COMP_POINT=\${#1}; _proj; echo "\${COMPREPLY[*]}"; }`;
  const { stdout, stderr } = spawnSync('bash', ['--norc'], { input: `${script}\n${ask}\n${asks}\n`, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').filter(Boolean));
}

const CASES: readonly (readonly [what: string, line: string, words: readonly string[]])[] = [
  ['a command', 'proj serv', ['services']],
  ['an option', 'proj call --time', ['--timeout-ms']],
  ['an option after an endpoint', 'proj call --connect tcp://127.0.0.1:5555 --tim', ['--timeout-ms']],
  ['the option of proj top for a Majordomo broker', 'proj top --conn', ['--connect']],
  ['a switch that is on by default', 'proj schedule --no-g', ['--no-guarantee']],
  ['the values of an option', 'proj call --protocol ', ['mdp', 'mdp01', 'ppp']],
  ['the values of an option after =', 'proj call --protocol=p', ['ppp']],
  ['options of every command', 'proj keygen --log-f', ['--log-format']],
  ['the values of an operand', 'proj queue ', ['check', 'salvage']],
  ['an operand after options', 'proj queue --log-level warn --json s', ['salvage']],
  ['no operand twice', 'proj queue check check', []],
  ['itself', 'proj completion ', ['bash', 'zsh', 'fish']],
  ['nothing where any text is allowed', 'proj call --timeout-ms ', []],
  ['nothing for an unknown command', 'proj teleport --', []],
  ['folders', 'proj queue check /etc/init', ['/etc/init.d']],
];

describe('bash completes', () => {
  let answers: string[][];
  beforeAll(() => {
    answers = complete(CASES.map(([, line]) => line));
  });

  it.each(CASES.map(([what], index) => [what, index] as const))('%s', (_, index) => {
    const [, , words] = CASES[index]!;
    expect(answers[index]).toEqual(words);
  });
});

it('refuses other shells and names the supported ones', async () => {
  expect(await programs.run('cli', ['completion', 'tcsh'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'proj: completion tcsh: must be one of bash, zsh, fish\n',
  });
});
