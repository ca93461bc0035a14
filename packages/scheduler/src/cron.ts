/** Cron expressions with five fields, computed by `croner` without its timers. Rule 5. */
import { Cron } from 'croner';

/** Limit of cached expressions. */
const KEPT_MAX = 10_000;

/** True if this machine knows the time zone, such as `UTC` or `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the next time of an expression, in microseconds since 1970; `undefined` if the expression is invalid or never matches (30 February). A
 * time skipped by daylight saving fires at the end of the gap; one that occurs twice fires once.
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
