/** Node processes that benchmarks start and talk to over their IPC channel. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Options of a process besides its script and its plan. */
export interface ChildOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Options for Node itself. */
  readonly node?: readonly string[];
}

/** Starts `dist/<name>.js` with a plan as JSON on its command line. */
export function startChild(name: string, plan: unknown = {}, { environment, node }: ChildOptions = {}): ChildProcess {
  return fork(fileURLToPath(new URL(`./${name}.js`, import.meta.url)), [JSON.stringify(plan)], {
    stdio: 'inherit',
    serialization: 'advanced',
    env: { ...process.env, ...environment },
    execArgv: [...process.execArgv, ...(node ?? [])],
  });
}

/** The next message of a child. Rejects if the child ends instead. */
export function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown): void => {
      child.off('exit', onExit);
      resolve(message as Message);
    };
    const onExit = (code: number | null, signal?: string | null): void => {
      child.off('message', onMessage);
      reject(new Error(`${child.spawnargs.join(' ')} ended with ${code ?? signal ?? 'nothing'}`));
    };
    child.once('message', onMessage).once('exit', onExit);
    if (child.exitCode !== null) onExit(child.exitCode);
  });
}

/** The child's answer to a message. */
export function ask<Message>(child: ChildProcess, message: string | number | object): Promise<Message> {
  const answered = nextMessage<Message>(child);
  child.send(message);
  return answered;
}

/** Tells a child to exit, and waits until it has. */
export async function dismiss(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.send('exit');
  await exited;
}
