/** The three processes of an attack: the program, the honest clients, and the attacker. */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PeerProcess } from '@proj/testkit/peer-process';
import { PROTOCOLS } from '../protocols.js';
import type { Protocol } from '../protocols.js';
import type { Flags, Port, Variant } from './attack.js';
import type { AllNotes, HonestPlan } from './honest.js';
import { Keyring } from './keyring.js';

export type Endpoints = Readonly<Partial<Record<Port, string>>>;
export type TransportName = 'zmtp' | 'zmq';

/** Where the programs are, relative to these sources. */
export const APPS = new URL('../../apps/', import.meta.url);
const KIB = 1024;

/** Resident memory of a process in bytes: now, its peak, and how much of it now are pages of files. */
export interface Memory {
  readonly now: number;
  readonly peak: number;
  readonly ofFiles: number;
}

/** A program under attack, with its own folder: what it shares is in `shared`, what it must not share is beside it. */
export class Target implements AsyncDisposable {
  readonly endpoints: Endpoints;
  readonly process: PeerProcess;
  /** For the variant `encrypted`. */
  readonly keys: string | undefined;
  readonly #variant: Variant | undefined;
  readonly #folder: string;

  private constructor(process: PeerProcess, endpoints: Endpoints, folder: string, variant: Variant | undefined) {
    this.process = process;
    this.#variant = variant;
    this.keys = variant === 'encrypted' ? join(folder, 'keys') : undefined;
    this.endpoints = endpoints;
    this.#folder = folder;
  }

  /**
   * Starts the program of a protocol with its defaults, but on free ports. Resolves when it listens. `apps` is the folder of the
   * programs.
   */
  static async start(
    apps: URL,
    protocol: Protocol,
    transport: TransportName,
    flags: Flags = {},
    variant?: Variant,
  ): Promise<Target> {
    const folder = await mkdtemp(join(tmpdir(), 'attack-'));
    const shared = join(folder, 'shared');
    await mkdir(shared);
    await writeFile(join(shared, 'open.txt'), 'anybody may read this');
    await writeFile(join(folder, 'secret.txt'), 'nobody may read this');
    const app = PROTOCOLS[protocol].program;
    const served = Object.values(PROTOCOLS).filter(({ program }) => program === app);
    const ports = served.flatMap(({ ports: own }): readonly string[] => own);
    const own = app === 'queue' ? { store: `lmdb:${join(folder, 'queue')}` } : { files: shared };
    const given: Flags = {
      transport,
      'log-format': 'json',
      ...own,
      ...(variant === 'encrypted' ? (await Keyring.make(join(folder, 'keys'))).flags : {}),
      ...(variant === 'unread' ? { 'log-level': 'trace' } : {}),
      ...flags,
    };
    const process_ = new PeerProcess({
      name: `proj-${app}`,
      command: process.execPath,
      args: [
        fileURLToPath(new URL(`${app}/dist/main.js`, apps)),
        ...ports.flatMap((name) => [`--${name}`, 'tcp://127.0.0.1:*']),
        ...Object.entries(given).flatMap(([name, value]) =>
          value === true ? [`--${name}`] : [`--${name}`, String(value)],
        ),
      ],
      cwd: folder,
    });
    const { endpoints } = (await process_.line('listening')) as unknown as { readonly endpoints: Endpoints };
    return new Target(process_, endpoints, folder, variant);
  }

  /** From here on, nobody reads the log of the variant `unread`. */
  begin(): void {
    if (this.#variant === 'unread') this.process.pauseOutput();
  }

  /** The log is read again; otherwise the end of the program would not be noticed. */
  end(): void {
    this.process.resumeOutput();
  }

  /** The shared folder. */
  get shared(): string {
    return join(this.#folder, 'shared');
  }

  /** What the system reports about it; `undefined` once it is gone. */
  memory(): Memory | undefined {
    try {
      const status = readFileSync(`/proc/${this.process.pid}/status`, 'utf8');
      const field = (name: string): number =>
        Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * KIB;
      if (!status.includes('VmRSS')) return undefined;
      return { now: field('VmRSS'), peak: field('VmHWM'), ofFiles: field('RssFile') };
    } catch {
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The honest clients: asks them what they have recorded. */
export class Others implements AsyncDisposable {
  readonly process: PeerProcess;

  /** `programs` is the folder of the bundled programs. */
  constructor(programs: string, plan: HonestPlan) {
    this.process = node(programs, 'honest', [JSON.stringify(plan)]);
  }

  /** Resolves when every client has been served once. */
  async ready(): Promise<void> {
    await this.process.line('ready');
  }

  /**
   * What was recorded since the last time; with `end`, clients stop asking, and everything is answered or lost first.
   */
  async notes(end = false): Promise<AllNotes> {
    const said = this.process.next('notes');
    this.process.tell({ end });
    return (await said)['notes'] as AllNotes;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.process[Symbol.asyncDispose]();
  }
}

/** See ruler.ts. */
export class Ruler implements AsyncDisposable {
  readonly process: PeerProcess;

  constructor(programs: string) {
    this.process = node(programs, 'ruler', []);
  }

  /** Where it listens. */
  async port(): Promise<number> {
    return (await this.process.line('ready'))['port'] as number;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.process[Symbol.asyncDispose]();
  }
}

/** The attacker. */
export class Attacker implements AsyncDisposable {
  readonly process: PeerProcess;

  constructor(programs: string) {
    this.process = node(programs, 'attacker', []);
  }

  /** Runs an attack to its end: for this long, or in its small size. Resolves with the broken promises that it saw. */
  async run(attack: string, { endpoints, shared: folder }: Target, fullMs?: number): Promise<readonly string[]> {
    const said = this.process.next('attacked', { attack });
    this.process.tell({ attack, endpoints, folder, fullMs });
    return (await said)['facts'] as readonly string[];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.process[Symbol.asyncDispose]();
  }
}

function node(programs: string, name: string, args: readonly string[]): PeerProcess {
  return new PeerProcess({ name, command: process.execPath, args: [join(programs, `${name}.mjs`), ...args] });
}
