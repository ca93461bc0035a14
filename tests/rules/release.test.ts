/** The checks of `npm run release` notice what must not be published. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inspect, isAllowed } from '../../scripts/release-checks.mjs';
import { temporaryFolder } from './pack.js';
import { PACKAGES, ROOT } from './workspace.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

/** What is reported about a tarball with these files. */
async function faultsOf(dir: string, manifest: object, files: Readonly<Record<string, string>>): Promise<string> {
  const content = join(folder.path, 'package');
  mkdirSync(join(content, 'dist'), { recursive: true });
  const whole = { name: 'trial', version: '1.2.3', license: 'MIT', type: 'module', ...manifest };
  writeFileSync(join(content, 'package.json'), JSON.stringify(whole));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(content, path), text);
  const tarball = join(folder.path, 'trial.tgz');
  execFileSync('tar', ['-czf', tarball, '-C', folder.path, 'package']);
  return (await inspect(ROOT, dir, tarball)).faults.join('\n');
}

it('all faults of a tarball that must not be published are reported', async () => {
  const inventory = {
    metadata: { component: { version: '1.2.2' } },
    components: [{ name: 'copyleft', version: '1.0.0', licenses: [{ license: { id: 'GPL-3.0-only' } }] }],
  };
  const manifest = {
    license: 'UNLICENSED',
    repository: { type: 'git', url: 'git+https://example.org/trial.git', directory: 'apps/other' },
    scripts: { postinstall: 'node steal.js' },
    dependencies: { other: 'workspace:^' },
  };
  const faults = await faultsOf('apps/trial', manifest, {
    'README.md': '# trial',
    'CHANGELOG.md': '# trial\n\n## 1.2.2\n',
    'dist/index.js': `load('${ROOT}/secret');`,
    'dist/index.js.map': '{}',
    'dist/sbom.cdx.json': JSON.stringify(inventory),
    'dist/THIRD-PARTY-NOTICES.txt': '',
  });
  for (const fault of [
    'LICENSE is missing',
    'dist/index.js.map should not be there',
    'dist/index.js names a folder of this machine',
    'package.json contains workspace:',
    'package.json has the script postinstall',
    'licence UNLICENSED',
    'package.json says its source is in apps/other',
    'dist/sbom.cdx.json is of version 1.2.2: build again',
    'copyleft 1.0.0 has the licence GPL-3.0-only',
    'the licence of copyleft is not in dist/THIRD-PARTY-NOTICES.txt',
    'CHANGELOG.md does not tell of 1.2.3: npx changeset version',
  ])
    expect(faults).toContain(fault);
});

it.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['MIT AND BSD-3-Clause', true],
  ['MIT AND MPL-2.0', false],
  ['SEE LICENSE IN LICENSE', false],
  ['', false],
])('licence "%s" may be distributed: %s', (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed);
});

it('changesets name only packages that are released: others make `changeset status` and `changeset version` fail', () => {
  const released = new Set(PACKAGES.flatMap(({ manifest: { name, private: kept } }) => (kept === true ? [] : [name])));
  const files = readdirSync(join(ROOT, '.changeset')).filter((file) => file.endsWith('.md') && file !== 'README.md');
  const wrong = files.flatMap((file) => {
    const [, head = ''] = readFileSync(join(ROOT, '.changeset', file), 'utf8').split('---');
    const names = [...head.matchAll(/^['"](.+)['"]: (?:patch|minor|major)$/gm)].map(([, name = '']) => name);
    return names.filter((name) => !released.has(name)).map((name) => `${file}: ${name}`);
  });
  expect(wrong).toEqual([]);
});
