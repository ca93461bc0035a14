/** Which process holds a store. Recorded in the database, whose write lock makes checking and taking one step. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A process that has a store open, or had it open when it died. */
export interface Holder {
  readonly pid: number;
  /** When that process started, in ticks since boot, if the system reports it. */
  readonly started: string | undefined;
  /** The boot of the machine, if the system reports it. */
  readonly boot: string | undefined;
  /** Distinguishes stores of one process. */
  readonly token: string;
}

/** Tokens of the stores that this process holds. */
const held = new Set<string>();

/** This process as the holder of one more store. */
export function takeHold(): Holder {
  const token = randomUUID();
  held.add(token);
  return { pid: process.pid, started: startOf(process.pid), boot: bootId(), token };
}

/** The store was closed, or could not be taken. */
export function letGo({ token }: Holder): void {
  held.delete(token);
}

/** True while that process runs. Its start time distinguishes it from a later process with the same pid. */
export function isHolding({ pid, started, boot, token }: Holder): boolean {
  if (boot !== bootId()) return false;
  if (pid === process.pid && started === startOf(pid)) return held.has(token);
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return started === startOf(pid);
}

export function encodeHolder(holder: Holder): Buffer {
  return Buffer.from(JSON.stringify(holder));
}

/** Decodes {@link encodeHolder}; `undefined` for other bytes. */
export function decodeHolder(bytes: Uint8Array): Holder | undefined {
  try {
    const { pid, started, boot, token } = JSON.parse(Buffer.from(bytes).toString()) as Partial<Holder>;
    return typeof pid === 'number' && typeof token === 'string' ? { pid, started, boot, token } : undefined;
  } catch {
    return undefined;
  }
}

/** `undefined` if the process does not exist or the system does not report it. */
function startOf(pid: number): string | undefined {
  // The name, in parentheses, may contain anything; after it come the state (3rd field) and the start (22nd).
  const [state, ...fields] =
    read(`/proc/${pid}/stat`)
      ?.replace(/^.*\) /s, '')
      .split(' ') ?? [];
  return state === 'Z' || state === 'X' ? 'ended' : fields[18];
}

function bootId(): string | undefined {
  return read('/proc/sys/kernel/random/boot_id')?.trim();
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
