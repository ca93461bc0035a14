/** Requests per second, calculated from the totals in successive answers of MMI. Pure. */
import type { MmiServiceEntry } from '@proj/client/mdp';

/** Period of the rates, the same as over HTTP. */
const WINDOW_MS = 10_000;

/** Identifies a service: both versions of Majordomo can have one with the same name. */
export function keyOf({ version, name }: Pick<MmiServiceEntry, 'version' | 'name'>): string {
  return `${version}/${name}`;
}

/** Requests that have ended; `undefined` if the broker does not count them. */
function endedOf({ requests, waiting, busy }: MmiServiceEntry): number | undefined {
  return requests === undefined ? undefined : requests - waiting - busy;
}

interface Answer {
  readonly at: number;
  /** By key of the service. */
  readonly ended: ReadonlyMap<string, number>;
}

/** The answers of the last ten seconds. */
export class EndedRates {
  #answers: Answer[] = [];

  /** Ended requests per second, by key of the service. A service has no rate in its first answer. */
  next(services: readonly MmiServiceEntry[], now: number): ReadonlyMap<string, number> {
    const ended = new Map<string, number>();
    for (const service of services) {
      const count = endedOf(service);
      if (count !== undefined) ended.set(keyOf(service), count);
    }
    if (this.#hasRestarted(ended)) this.#answers = [];
    // One answer older than the window is kept: a late answer is compared with it.
    while ((this.#answers[1]?.at ?? Infinity) <= now - WINDOW_MS) this.#answers.shift();
    const rates = new Map<string, number>();
    for (const [key, count] of ended) {
      const before = this.#answers.find((answer) => answer.ended.has(key));
      const past = before?.ended.get(key);
      if (before !== undefined && past !== undefined && now > before.at)
        rates.set(key, ((count - past) * 1000) / (now - before.at));
    }
    this.#answers.push({ at: now, ended });
    return rates;
  }

  /** Whether the broker was restarted and counts from zero. Its first answers may list no services. */
  #hasRestarted(ended: ReadonlyMap<string, number>): boolean {
    return this.#answers.some((past) => [...past.ended].some(([key, count]) => (ended.get(key) ?? count) < count));
  }
}
