import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './workspace.js';

/** The files outside its own that may name a protocol: registries, public entries, and where its options, frames or clients are used as such. */
const NAMED_IN = [
  'apps/broker/src/config.ts',
  'apps/cli/src/decode.ts',
  'apps/cli/src/monitor.ts',
  'apps/cli/src/protocols/index.ts',
  'apps/worker/src/config.ts',
  'bench/src/contests/index.ts',
  'bench/src/engines/index.ts',
  'bench/src/steps.ts',
  'packages/appkit/src/decoders.ts',
  'packages/appkit/src/testing.ts',
  'packages/broker/src/index.ts',
  'packages/client/src/index.ts',
  'packages/testkit/src/arbitraries/index.ts',
  'packages/worker/src/index.ts',
];

/** True if a file of another protocol, or of none, names Paranoid Pirate. */
function namesIt(path: string, text: string): boolean {
  return !/(^|[/-])ppp[/.-]/.test(path) && /ppp|paranoid|lazy ?pirate/i.test(text);
}

/** Paranoid Pirate stands for every protocol: the others are also named as examples. */
describe('a protocol is named outside its own files', () => {
  it('whatever the file says of it', () => {
    expect(namesIt('packages/broker/src/ppp/queue.ts', 'PPP')).toBe(false);
    expect(namesIt('bench/src/bare-ppp.ts', 'PPP')).toBe(false);
    expect(namesIt('packages/broker/src/options.ts', '/** 18/MDP and 6/PPP. */')).toBe(true);
    expect(namesIt('apps/cli/src/monitor.ts', 'new LazyPirateClient()')).toBe(true);
    expect(namesIt('apps/cli/src/monitor.ts', 'mapped')).toBe(false);
  });

  it('only in registries and public entries', () => {
    const sources = ['packages/*/src/*.ts', 'apps/*/src/*.ts', 'bench/*.ts'];
    const listed = execFileSync('git', ['ls-files', ...sources], { cwd: ROOT, encoding: 'utf8' });
    const paths = listed.split('\n').filter((path) => path !== '' && !path.endsWith('.test.ts'));
    expect(paths.length).toBeGreaterThan(500);
    expect(paths.filter((path) => namesIt(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual(NAMED_IN);
  });
});
