/**
 * Honest clients, one kind per protocol: each one sends requests again and again, and records whether and when the answers
 * come.
 */
import type { Transport } from '@proj/transport';
import type { ClientCurve } from '@proj/transport/curve';
import type { Port } from '../attack.js';

/** A client and its worker. */
export interface Honest {
  /** Starts; `at` are the endpoints of the program. Resolves when all peers are known. */
  start(at: Readonly<Partial<Record<Port, string>>>, transport: Transport, curve?: ClientCurve): Promise<void>;
  /** Asks once. Rejects without an answer, or with a wrong one. */
  ask(text: string): Promise<void>;
  /** Resolves when what was requested has arrived, if that is later than the answer, or is given up. */
  drain?(): Promise<void>;
  /** How often its worker was disconnected so far, and how many deliveries never came. */
  losses(): number;
}

/** How long an answer may take before it counts as lost. */
export const PATIENCE_MS = 30_000;

/** Throws if the answer does not match the question. */
export function check(question: string, answer: string | undefined): void {
  if (answer !== question) throw new Error(`"${String(answer).slice(0, 100)}" is no answer to "${question}"`);
}

/** What was recorded between two looks. */
export interface Notes {
  readonly asked: number;
  readonly answered: number;
  /** Requests without an answer or with a wrong one, and disconnected workers. */
  readonly lost: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Reasons for the losses. */
  readonly why: readonly string[];
}

const WHY_MAX = 5;
const AT_ONCE = 20;

/** How often a prober asks, and how many requests may be open; at that limit it waits for an answer before it asks again. */
export interface Pace {
  readonly everyMs: number;
  readonly openMax: number;
}

/**
 * Asks at a steady pace, whether or not answers come: a prober that waits for each answer would not see how long others wait. A limit on
 * open requests keeps a slow machine from piling them up without end.
 */
export class Prober {
  readonly #honest: Honest;
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Set<number>();
  #times: number[] = [];
  #why: string[] = [];
  #asked = 0;
  #lost = 0;
  #losses: number;
  #count = 0;

  constructor(honest: Honest, { everyMs, openMax }: Pace) {
    this.#honest = honest;
    this.#losses = honest.losses();
    this.#timer = setInterval(() => {
      if (this.#open.size < openMax) void this.#ask();
    }, everyMs);
  }

  /** Asks as fast as possible for this long, so that code is compiled and heaps reach their size. */
  static async warmUp(honest: Honest, forMs: number): Promise<void> {
    const end = performance.now() + forMs;
    const one = async (number: number): Promise<void> => {
      for (let round = 0; performance.now() < end; round++) await honest.ask(`warm-up ${number}/${round}`);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => one(number)));
    await honest.drain?.();
  }

  /** What happened since the last look. An open request counts with its age if that exceeds the other times. */
  look(): Notes {
    const now = performance.now();
    const losses = this.#honest.losses();
    const times = [...this.#times, ...[...this.#open].map((begun) => now - begun).filter((age) => age > 1000)].sort(
      (one, other) => one - other,
    );
    const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
    const notes = {
      asked: this.#asked,
      answered: this.#times.length,
      lost: this.#lost + losses - this.#losses,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: at(1),
      why:
        losses > this.#losses ? [...this.#why, `${losses - this.#losses} disconnected, or never delivered`] : this.#why,
    };
    [this.#times, this.#why, this.#asked, this.#lost, this.#losses] = [[], [], 0, 0, losses];
    return notes;
  }

  /** Stops asking; resolves when everything has been answered or is lost. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#open.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.#honest.drain?.();
  }

  async #ask(): Promise<void> {
    const begun = performance.now();
    this.#open.add(begun);
    this.#asked++;
    try {
      await this.#honest.ask(`question ${this.#count++}`);
      this.#times.push(performance.now() - begun);
    } catch (error) {
      this.#lost++;
      if (this.#why.length < WHY_MAX) this.#why.push(error instanceof Error ? error.message : String(error));
    }
    this.#open.delete(begun);
  }
}
