/** Cron expressions of five fields, by `croner`, which is asked for times only and keeps no timers. Rule 5. */
import { Cron } from 'croner';

/** Parsed expressions that are kept. */
const KEPT_MAX = 10_000;

/** True for a time zone that this machine knows, such as `UTC` or `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the first time of an expression after another, both in microseconds since 1970; `undefined` if the expression is invalid or
 * never comes (30 February). A time that a change to summer time skips comes at its end; one that occurs twice comes once.
 */
export function cronIn(timeZone: string): (expression: string, afterMicros: number) => number | undefined {
  const kept = new Map<string, Cron>();
  const parse = (expression: string): Cron => {
    const known = kept.get(expression);
    if (known !== undefined) return known;
    const cron = new Cron(expression, { mode: '5-part', timezone: timeZone });
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(expression, cron);
    return cron;
  };
  return (expression, afterMicros) => {
    // Nicknames such as @daily have no fields.
    if (expression.startsWith('@')) return undefined;
    try {
      // oxlint-disable-next-line no-restricted-globals -- a time as an argument; the clock is not read
      const next = parse(expression).nextRun(new Date(afterMicros / 1000));
      return next === null ? undefined : next.getTime() * 1000;
    } catch {
      return undefined;
    }
  };
}
