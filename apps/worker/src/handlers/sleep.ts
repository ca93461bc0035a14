/** Handler `sleep`: a job of known length, to try out time limits, drains and lost workers. */
import { setTimeout as delay } from 'node:timers/promises';

const DEFAULT_MS = 1000;
const LONGEST_MS = 86_400_000;

/** Waits for the given number of milliseconds, by default 1000, at most a day, and replies with that number. */
export async function sleep(text: string, signal: AbortSignal): Promise<string> {
  const ms = /^\d{1,8}$/.test(text) ? Math.min(Number(text), LONGEST_MS) : DEFAULT_MS;
  await delay(ms, undefined, { signal });
  return ms.toString();
}
