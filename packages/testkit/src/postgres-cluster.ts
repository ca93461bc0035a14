/** A PostgreSQL for a test or benchmark: its own cluster in a temporary folder, on a Unix socket, with real flushing. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { postgresFolder } from './postgres-folder.mjs';

const USER = 'test';
const READY = 'database system is ready to accept connections';
/** The message of a server that cannot start while processes of a killed one are still exiting. */
const IN_THE_WAY = /postmaster\.pid|shared memory block/;
/** Its messages are parsed here, and a cluster with this machine's locale could reject UTF-8. */
const ENVIRONMENT = { ...process.env, LC_ALL: 'C' };

/** After a crash it flushes the file system once, not each of a thousand files per database. Only Linux can. */
const RECOVERY = process.platform === 'linux' ? ['recovery_init_sync_method=syncfs'] : [];

/** The user it runs as: it refuses to run as root. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Running servers; none outlives the tests. */
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

  /** Creates a cluster and starts its server, or leaves nothing behind. `settings` such as `fsync=off` apply to this start. */
  static async start(...settings: string[]): Promise<PostgresCluster> {
    const programs = postgresFolder();
    if (programs === undefined) throw new Error('PostgreSQL is missing: apt-get install postgresql');
    const account = process.getuid?.() === 0 ? await accountOf('postgres') : undefined;
    const folder = await mkdtemp(join(tmpdir(), 'pzq-pg-'));
    const cluster = new PostgresCluster(programs, folder, account);
    try {
      if (account !== undefined) await chown(folder, account.uid, account.gid);
      await cluster.#run('initdb', ['-D', join(folder, 'data'), '-A', 'trust', '-U', USER, '--no-sync', '-E', 'UTF8']);
      await cluster.restart(...settings);
      return cluster;
    } catch (error) {
      await cluster.remove();
      throw error;
    }
  }

  /** The address of a new, empty database. */
  async database(): Promise<string> {
    const name = `queue${++this.#databases}`;
    await this.#run('createdb', ['-h', this.#folder, '-U', USER, name]);
    return `postgres:///${name}?host=${encodeURIComponent(this.#folder)}&user=${USER}`;
  }

  /**
   * Starts the server, and retries while the remains of a killed one are in the way. Rejects with the server's message if it ends for any other
   * reason.
   */
  async restart(...settings: string[]): Promise<void> {
    const sockets = `unix_socket_directories=${this.#folder}`;
    const options = ['listen_addresses=', sockets, ...RECOVERY, ...settings].flatMap((setting) => ['-c', setting]);
    for (let isReady = false; !isReady;) isReady = await this.#attempt(['-D', join(this.#folder, 'data'), ...options]);
  }

  /** Kills the server, as a power failure would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the server in order. */
  async stop(): Promise<void> {
    await this.#end('SIGINT');
  }

  /** Stops the server and removes all its files. */
  async remove(): Promise<void> {
    await this.#end('SIGQUIT');
    // Processes of a killed server may still be writing.
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  async #attempt(args: readonly string[]): Promise<boolean> {
    const server = spawn(join(this.#programs, 'postgres'), args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: ENVIRONMENT,
      ...this.#account,
    });
    running.add(server);
    this.#server = server;
    const said: string[] = [];
    let isReady = false;
    const ready = new Promise<boolean>((resolve) => {
      createInterface(server.stderr).on('line', (line) => {
        if (!isReady) said.push(line);
        if (!line.includes(READY)) return;
        isReady = true;
        resolve(true);
      });
    });
    // Its child processes may hold standard error longer; its own messages arrive soon enough.
    void once(server, 'exit').then(() => running.delete(server));
    const closed = once(server, 'close').then(() => {
      if (isReady || said.some((line) => IN_THE_WAY.test(line))) return false;
      throw new Error(`postgres did not start: ${said.join('; ')}`);
    });
    return Promise.race([ready, closed]);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || !running.has(server)) return;
    // Processes of a killed server hold its standard error, and could serve one more query until they notice.
    const end = once(server, signal === 'SIGKILL' ? 'close' : 'exit');
    server.kill(signal);
    await end;
  }

  async #run(name: string, args: readonly string[]): Promise<void> {
    await promisify(execFile)(join(this.#programs, name), args, {
      cwd: this.#folder,
      env: ENVIRONMENT,
      ...this.#account,
    });
  }
}

async function accountOf(user: string): Promise<Account> {
  const id = async (flag: string): Promise<number> => {
    const { stdout } = await promisify(execFile)('id', [flag, user]);
    return Number(stdout);
  };
  return { uid: await id('-u'), gid: await id('-g') };
}
