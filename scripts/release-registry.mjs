// A registry on loopback that lives as long as one dry run: verdaccio, from npm, kept in a cache of this script. It holds our packages and passes on all others
// from the registry that npm is set to.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The newest that runs on the oldest Node we support. */
const VERDACCIO = '6.7.4';
/** Verdaccio asks for the tag `cjs` of node-fetch, which mirrors of the registry may lack. */
const OVERRIDES = { 'node-fetch': '2.7.0' };
const INSTALL_MS = 240_000;
const START_MS = 60_000;

/** Starts it; resolves to its address and to what ends it. `folder` keeps its packages. */
export async function startRegistry(root, folder) {
  const program = install(join(root, 'node_modules/.cache/proj-verdaccio', VERDACCIO));
  const uplink = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const address = `127.0.0.1:${await freePort()}`;
  const config = join(folder, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({
      storage: join(folder, 'storage'),
      max_body_size: '100mb',
      auth: { htpasswd: { file: join(folder, 'htpasswd') } },
      uplinks: { npm: { url: uplink } },
      packages: { '@proj/*': { access: '$all', publish: '$all' }, '**': { access: '$all', proxy: 'npm' } },
      log: { type: 'stdout', format: 'pretty', level: 'error' },
    }),
  );
  const child = spawn(process.execPath, [program, '--config', config, '--listen', address], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const url = `http://${address}/`;
  for (const startedAt = Date.now(); ; await sleep(100)) {
    if (await isUp(url)) return { url, stop };
    if (child.exitCode === null && Date.now() - startedAt < START_MS) continue;
    await stop();
    throw new Error(`verdaccio did not start: ${process.execPath} ${program} --config ${config} --listen ${address}`);
  }
}

function install(folder) {
  const program = join(folder, 'node_modules/verdaccio/bin/verdaccio');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, overrides: OVERRIDES }));
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `verdaccio@${VERDACCIO}`];
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS });
  return program;
}

async function isUp(url) {
  try {
    return (await fetch(new URL('-/ping', url))).ok;
  } catch {
    return false;
  }
}

/** A port of loopback that is free right now. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
