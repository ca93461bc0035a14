/** What the demonstration counts for each service. */

/** The counts of one service. */
export class ServiceFigures {
  readonly service: string;
  sent = 0;
  answered = 0;
  failed = 0;
  mismatched = 0;
  /** Answers by the process id of the worker. */
  readonly answersByPid = new Map<number, number>();
  readonly #latenciesMs: number[] = [];
  #firstMs = Infinity;
  #lastMs = 0;

  constructor(service: string) {
    this.service = service;
  }

  /** Counts an answer from process `pid` that arrived at `nowMs`, to a request sent at `sentMs`. */
  answer(pid: number, sentMs: number, nowMs: number): void {
    this.answered++;
    this.answersByPid.set(pid, (this.answersByPid.get(pid) ?? 0) + 1);
    this.#latenciesMs.push(nowMs - sentMs);
    this.#firstMs = Math.min(this.#firstMs, sentMs);
    this.#lastMs = Math.max(this.#lastMs, nowMs);
  }

  /** The latency that `share` (0 to 1) of the answers did not exceed, in milliseconds; NaN without answers. */
  percentileMs(share: number): number {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  }

  /** Answers per second between the first request and the last answer. */
  get perSecond(): number {
    return this.answered === 0 ? 0 : (this.answered * 1000) / (this.#lastMs - this.#firstMs);
  }

  /** True if every request was answered correctly. */
  get sound(): boolean {
    return this.answered === this.sent && this.failed === 0 && this.mismatched === 0;
  }
}
