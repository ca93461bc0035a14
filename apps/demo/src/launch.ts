/** Starts programs of this repository, and notices if one of them ends unexpectedly. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChildProgram } from '@proj/appkit';
import type { LogRecord } from '@proj/appkit';
import { ProjError } from '@proj/client';

const HOST = '127.0.0.1';

/** Path of the built program of a folder in `apps/`. */
export function programPath(app: string): string {
  return fileURLToPath(new URL(`../../${app}/dist/main.js`, import.meta.url));
}

/** Distinguishes programs that were told to end from programs that were not. */
export class Guard {
  readonly #failure = new AbortController();
  readonly #dismissed = new Set<ChildProgram>();

  /** Aborts when a program ends unexpectedly. */
  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  /** From now on the program may end. */
  dismiss(program: ChildProgram): void {
    this.#dismissed.add(program);
  }

  /** Watches a program until it ends. */
  watch(program: ChildProgram): void {
    void program.exit.then(({ code, signal, stderr }) => {
      if (this.#dismissed.has(program)) return;
      const how = signal ?? `exit code ${String(code)}`;
      this.#failure.abort(new ProjError('UNAVAILABLE', `${program.name} ended unexpectedly (${how}) ${stderr}`.trim()));
    });
  }
}

/** `HOST:PORT` on loopback for an HTTP server: this port if it is free, else any port. */
export async function httpAddress(port: number): Promise<string> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => {
      resolve(false);
    });
    probe.listen(port, HOST, () => {
      probe.close(() => {
        resolve(true);
      });
    });
  });
  return `${HOST}:${isFree ? port : 0}`;
}

/** Starts the program of a folder in `apps/` and watches it. Throws `UNAVAILABLE` if it was not built. */
export function launch(
  name: string,
  app: string,
  options: Readonly<Record<string, string>>,
  guard: Guard,
): ChildProgram {
  const path = programPath(app);
  if (!existsSync(path))
    throw new ProjError(
      'UNAVAILABLE',
      `${name}: ${relative(process.cwd(), path)} is missing, 'npm run build' makes it`,
    );
  const flags = Object.entries({ ...options, 'log-format': 'json' });
  const program = new ChildProgram(
    name,
    path,
    flags.flatMap(([flag, value]) => [`--${flag}`, value]),
  );
  guard.watch(program);
  return program;
}

/** Resolves at the next log record that satisfies the condition, or when the signal aborts. */
export function recorded(
  program: ChildProgram,
  condition: (record: LogRecord) => boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      forget();
      resolve();
    };
    const forget = program.onRecord((record) => {
      if (condition(record)) end();
    });
    signal.addEventListener('abort', end, { once: true });
  });
}
