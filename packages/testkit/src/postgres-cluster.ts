/** A PostgreSQL of a test or a benchmark: a cluster of its own in a temporary folder, on a Unix socket in there, flushing as in earnest. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { postgresFolder } from './postgres-folder.mjs';

const USER = 'test';
const READY = 'database system is ready to accept connections';

/** Who the server runs as: it refuses to be root. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Servers that run now: none outlives the tests. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const server of running) server.kill('SIGKILL');
});

/** A running server and its data. */
export class PostgresCluster {
  readonly #programs: string;
  readonly #folder: string;
  readonly #account: Account | undefined;
  #server: ChildProcess | undefined;
  #databases = 0;

  private constructor(programs: string, folder: string, account: Account | undefined) {
    this.#programs = programs;
    this.#folder = folder;
    this.#account = account;
  }

  /** Makes a cluster and starts its server. `settings` such as `fsync=off` go to every start. */
  static async start(...settings: string[]): Promise<PostgresCluster> {
    const programs = postgresFolder();
    if (programs === undefined) throw new Error('PostgreSQL is missing: apt-get install postgresql');
    const account = userInfo().uid === 0 ? await accountOf('postgres') : undefined;
    const folder = await mkdtemp(join(tmpdir(), 'pzq-pg-'));
    if (account !== undefined) await chown(folder, account.uid, account.gid);
    const cluster = new PostgresCluster(programs, folder, account);
    await cluster.#run('initdb', ['-D', join(folder, 'data'), '-A', 'trust', '-U', USER, '--no-sync', '-E', 'UTF8']);
    await cluster.restart(...settings);
    return cluster;
  }

  /** The address of a new, empty database. */
  async database(): Promise<string> {
    const name = `queue${++this.#databases}`;
    await this.#run('createdb', ['-h', this.#folder, '-U', USER, name]);
    return `postgres:///${name}?host=${encodeURIComponent(this.#folder)}&user=${USER}`;
  }

  /** Starts the server, and again for as long as what is left of a killed one is in the way. */
  async restart(...settings: string[]): Promise<void> {
    const sockets = `unix_socket_directories=${this.#folder}`;
    const options = ['listen_addresses=', sockets, ...settings].flatMap((setting) => ['-c', setting]);
    for (let isReady = false; !isReady;) isReady = await this.#attempt(['-D', join(this.#folder, 'data'), ...options]);
  }

  /** Ends the server without any order, as a power failure does to it. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends the server in order. */
  async stop(): Promise<void> {
    await this.#end('SIGINT');
  }

  /** Ends the server and removes everything. */
  async remove(): Promise<void> {
    await this.#end('SIGQUIT');
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #attempt(args: readonly string[]): Promise<boolean> {
    const server = spawn(join(this.#programs, 'postgres'), args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...this.#account,
    });
    running.add(server);
    const exit = once(server, 'exit').then(() => {
      running.delete(server);
      return false;
    });
    const ready = new Promise<boolean>((resolve) => {
      createInterface(server.stderr).on('line', (line) => {
        if (line.includes(READY)) resolve(true);
      });
    });
    this.#server = server;
    return Promise.race([ready, exit]);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || !running.has(server)) return;
    const exit = once(server, 'exit');
    server.kill(signal);
    await exit;
  }

  async #run(name: string, args: readonly string[]): Promise<void> {
    await promisify(execFile)(join(this.#programs, name), args, { cwd: this.#folder, ...this.#account });
  }
}

async function accountOf(user: string): Promise<Account> {
  const id = async (flag: string): Promise<number> => {
    const { stdout } = await promisify(execFile)('id', [flag, user]);
    return Number(stdout);
  };
  return { uid: await id('-u'), gid: await id('-g') };
}
