// What a stranger does with a release: installs from a registry into empty folders, with an empty HOME and nothing of this repository in reach, and runs the lines
// of each README against each other.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { isAllowed } from './release-checks.mjs';
import { freePort } from './release-registry.mjs';
import { BUDGET, bytesBelow, nativeBelow } from './sizes.mjs';

const PATIENCE_MS = 60_000;
const INSTALL_MS = 240_000;
/** Bytes that a program may take as installed. */
const PROGRAM_MAX_BYTES = 12_000_000;
/** Addresses that the READMEs name, which the trial replaces by free ports. */
const README_ENDPOINT = 'tcp://127.0.0.1:5555';
/** Those of a queue are its defaults: its README names none. */
const QUEUE_PORTS = [11131, 11132, 11133];

/** A stranger's machine: a HOME of its own, and a registry. Each of its results is a row of the summary. */
export class Trial {
  rows = [];
  #home;
  #registry;
  #children = new Set();

  constructor(folder, registry) {
    this.#home = join(folder, 'home');
    this.#registry = registry;
    mkdirSync(this.#home, { recursive: true });
  }

  /** Nothing of npm's, of the package manager's or of this project's settings is passed on. */
  get #environment() {
    return {
      HOME: this.#home,
      PATH: [join(this.#home, 'global/bin'), process.env.PATH].join(':'),
      npm_config_registry: this.#registry,
      npm_config_prefix: join(this.#home, 'global'),
      npm_config_update_notifier: 'false',
    };
  }

  /** Runs everything; throws with a sentence at the first thing that is not as it must be. */
  async run() {
    try {
      await this.#client();
      await this.#install('worker', ['@proj/worker'], { addOns: false });
      await this.#program('broker');
      await this.#program('cli');
      await this.#program('queue', { addOns: true });
      await this.#install('queue', ['@proj/pzq'], { addOns: true });
      await this.#serve();
      await this.#keep();
    } finally {
      for (const child of this.#children) child.kill('SIGKILL');
    }
  }

  async #client() {
    const modules = await this.#install('client', ['@proj/client'], { addOns: false });
    const ours = bytesBelow(join(modules, '@proj'));
    const others = readdirSync(modules).filter((name) => !/^[.@]/.test(name));
    if (ours > BUDGET.installedBytes)
      throw new Error(`the client takes ${ours} bytes, more than ${BUDGET.installedBytes}`);
    this.rows.at(-1).note = `${(ours / 1e6).toFixed(1)} MB of it ours, the rest ${others.join(', ')}`;
    if (others.join() !== 'zod')
      throw new Error(`the client installs ${others.join(', ')}, and must install zod alone`);
  }

  /** Installs a package for everybody, as its README says. */
  async #program(name, limits = { addOns: false }) {
    const global = join(this.#home, 'global/lib/node_modules/@proj');
    await this.#npm(`@proj/app-${name}, globally`, ['install', '--global', `@proj/app-${name}`], this.#home, () => {
      const folder = join(global, `app-${name}`);
      const bytes = bytesBelow(folder);
      if (!limits.addOns) {
        this.#checkAddOns(folder);
        if (bytes > PROGRAM_MAX_BYTES)
          throw new Error(`app-${name} takes ${bytes} bytes, more than ${PROGRAM_MAX_BYTES}`);
      }
      return { bytes, modules: folder };
    });
    const command = name === 'cli' ? 'proj' : `proj-${name}`;
    const startedAt = performance.now();
    const said = await this.#output(command, ['--version'], this.#home);
    const { version } = JSON.parse(readFileSync(join(global, `app-${name}`, 'package.json'), 'utf8'));
    if (said !== version) throw new Error(`${command} --version says ${said}, and is ${version}`);
    this.#row(`${command} --version`, { ms: performance.now() - startedAt, note: said });
  }

  /** Installs packages into an empty folder; resolves to its `node_modules`. */
  async #install(name, packages, { addOns }) {
    const folder = this.#folder(name);
    mkdirSync(folder);
    const modules = join(folder, 'node_modules');
    await this.#npm(packages.join(' '), ['install', ...packages], folder, () => {
      if (!addOns) this.#checkAddOns(modules);
      return { bytes: bytesBelow(modules), modules };
    });
    return modules;
  }

  async #npm(what, args, cwd, measure) {
    const startedAt = performance.now();
    await this.#output('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], cwd, INSTALL_MS);
    const ms = performance.now() - startedAt;
    const { bytes, modules } = measure();
    const refused = licencesBelow(modules).filter(({ license }) => !isAllowed(license));
    if (refused.length > 0)
      throw new Error(`${what}: ${refused.map(({ name, license }) => `${name} is ${license}`).join(', ')}`);
    this.#row(`install ${what}`, { bytes, ms });
  }

  #checkAddOns(modules) {
    const [found] = nativeBelow(modules);
    if (found !== undefined) throw new Error(`${found} is an add-on or has an install script`);
  }

  /** The broker as a program; worker and client are the lines of their READMEs. */
  async #serve() {
    const endpoint = `tcp://127.0.0.1:${await freePort()}`;
    const broker = this.#start('proj-broker', ['--only', 'mdp', '--mdp', endpoint], this.#home);
    await broker.says('listening');
    const lines = (name) => this.#snippet(name, name).replaceAll(README_ENDPOINT, endpoint);
    this.#write('worker', 'echo.mjs', lines('worker'));
    this.#write('client', 'hello.mjs', lines('client'));
    const worker = this.#start(process.execPath, ['echo.mjs'], this.#folder('worker'));
    await worker.says('ready');
    const startedAt = performance.now();
    const said = await this.#output(process.execPath, ['hello.mjs'], this.#folder('client'));
    if (said !== 'hello') throw new Error(`the client's README prints ${said}, and must print hello`);
    this.#row("the client's README asks the worker's", { ms: performance.now() - startedAt, note: said });
    const called = await this.#output('proj', ['call', 'echo', 'hello', '--connect', endpoint], this.#home);
    this.#row('proj call echo hello', { note: called });
    await worker.stop();
    await broker.stop();
  }

  /** The queue of its README keeps what the command pushed, although it is killed. */
  async #keep() {
    this.#write('queue', 'queue.mjs', this.#snippet('queue', 'pzq'));
    const start = async () => {
      const queue = this.#start(process.execPath, ['queue.mjs'], this.#folder('queue'));
      await queue.says(`:${QUEUE_PORTS[0]}`);
      return queue;
    };
    const killed = await start();
    await this.#output('proj', ['push', 'hello'], this.#home);
    await killed.stop('SIGKILL');
    const queue = await start();
    const startedAt = performance.now();
    const said = await this.#output('proj', ['pull'], this.#home);
    if (!said.includes('hello')) throw new Error(`proj pull prints ${said}, and must print hello`);
    this.#row("the queue's README, killed, has what was pushed", { ms: performance.now() - startedAt, note: 'hello' });
    await queue.stop();
  }

  /** The first lines of JavaScript in the README of an installed package. */
  #snippet(folder, name) {
    const readme = readFileSync(join(this.#folder(folder), 'node_modules/@proj', name, 'README.md'), 'utf8');
    const [, lines] = /^```js\n(.*?)^```$/ms.exec(readme) ?? [];
    if (lines === undefined) throw new Error(`the README of @proj/${name} has no lines of JavaScript`);
    return lines;
  }

  #folder(name) {
    return join(this.#home, `${name}-alone`);
  }

  #write(folder, name, text) {
    writeFileSync(join(this.#folder(folder), name), text);
  }

  async #output(command, args, cwd, timeout = PATIENCE_MS) {
    try {
      const { stdout } = await promisify(execFile)(command, args, { cwd, env: this.#environment, timeout });
      return stdout.trim();
    } catch (error) {
      throw new Error(`${[command, ...args].join(' ')}: ${error.stderr || error.message}`, { cause: error });
    }
  }

  #start(command, args, cwd) {
    const child = spawn(command, args, { cwd, env: this.#environment, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.add(child);
    let heard = '';
    let tell = () => undefined;
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        heard += `${line}\n`;
        tell();
      });
    const exit = new Promise((resolve) => {
      child.on('error', (error) => (heard += error.message));
      child.on('close', (code, signal) => {
        this.#children.delete(child);
        resolve(signal ?? code);
      });
    });
    const name = [command, ...args].join(' ');
    return {
      async says(text) {
        const late = AbortSignal.timeout(PATIENCE_MS);
        const over = new Promise((resolve) => late.addEventListener('abort', () => resolve('nothing in time')));
        while (!heard.includes(text)) {
          const told = new Promise((resolve) => (tell = resolve));
          const how = await Promise.race([told, exit.then((code) => `${code} as exit code`), over]);
          if (how !== undefined && !heard.includes(text))
            throw new Error(`${name}: ${how} before it said "${text}"\n${heard}`);
        }
      },
      async stop(signal = 'SIGTERM') {
        child.kill(signal);
        const code = await exit;
        if (signal === 'SIGTERM' && code !== 0) throw new Error(`${name} left with ${code}\n${heard}`);
      },
    };
  }

  #row(what, { bytes, ms, note = '' }) {
    this.rows.push({ what, bytes, ms, note });
  }
}

/** Name and licence of each package below a folder. */
function licencesBelow(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((path) => /(^|\/)(node_modules\/)?(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
    .map((path) => JSON.parse(readFileSync(join(folder, path), 'utf8')))
    .filter(({ name, version, license }) => name !== undefined && version !== undefined && license !== undefined);
}

/** True when a queue could listen where its README says. */
export async function hasQueuePorts() {
  for (const port of QUEUE_PORTS) {
    const taken = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(500) }).then(
      () => true,
      ({ cause }) => cause?.code !== 'ECONNREFUSED',
    );
    if (taken) return false;
  }
  return true;
}
