// Completion of `proj` in Debian's zsh and fish; bash is tested beside the program.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peerGroup } from '@proj/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTerminal } from './terminal.js';

const PROJ = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
  mkdirSync(join(folder, 'store'));
  for (const shell of ['zsh', 'fish']) {
    const { stdout } = spawnSync(process.execPath, [PROJ, 'completion', shell], { encoding: 'utf8' });
    writeFileSync(join(folder, shell), stdout);
  }
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const peers = peerGroup();

it.each([
  ['a command', 'proj serv', ['services']],
  ['an option', 'proj call --time', ['--timeout-ms']],
  ['a switch that is on by default', 'proj schedule --no-g', ['--no-guarantee']],
  ['the values of an option', 'proj call --protocol ', ['mdp', 'mdp01', 'ppp']],
  ['the values of an operand', 'proj queue ', ['check', 'salvage']],
  ['an operand after options', 'proj queue --log-level warn --json ', ['check', 'salvage']],
  ['nothing where any text is allowed', 'proj call --timeout-ms ', []],
])('fish completes %s', (_, line, words) => {
  const script = `source '${join(folder, 'fish')}'; complete -C '${line}'`;
  const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(
    stdout
      .split('\n')
      .filter(Boolean)
      .map((row) => row.split('\t')[0]),
  ).toEqual(words);
});

it('zsh completes commands, options, their values and operands', async () => {
  const zsh = openTerminal(peers, ['zsh', '-f', '-i']);
  // Text typed before the prompt appears is not completed.
  const prompt = () => zsh.shows('ready> ');
  zsh.type(`PS1='re''ady> '; autoload -Uz compinit; compinit -u -d '${join(folder, 'dump')}'\r`);
  await prompt();
  zsh.type(`source '${join(folder, 'zsh')}'; proj() { print -r -- "got <\${(j:|:)@}>" }\r`);
  // A single candidate is inserted at once, so the arguments show the result.
  for (const [typed, got] of [
    ['proj serv\t', '<services>'],
    ['proj call --time\t5', '<call|--timeout-ms=5>'],
    ['proj call --protocol pp\t', '<call|--protocol|ppp>'],
    ['proj call --protocol=pp\t', '<call|--protocol=ppp>'],
    ['proj schedule --no-g\t', '<schedule|--no-guarantee>'],
    ['proj queue --json che\t', '<queue|--json|check>'],
    [`proj queue check ${folder}/st\t`, `<queue|check|${folder}/store>`],
    [`proj keygen a --config ${folder}/fis\t`, `<keygen|a|--config|${folder}/fish>`],
  ] as const) {
    await prompt();
    zsh.type(`${typed}\r`);
    await zsh.shows(`got ${got}`);
  }
  await prompt();
  zsh.type('exit\r');
  expect(await zsh.ended).toMatchObject({ code: 0 });
});
