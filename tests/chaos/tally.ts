/** Counts received messages, for tests that state numbers. */
export class Tally {
  /** How often each message came. */
  readonly answers = new Map<string, number>();
  /** How many messages came. */
  total = 0;
  #awaited: { readonly total: number; readonly resolve: () => void } | undefined;

  /** Counts one more. */
  count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
    this.total++;
    if (this.#awaited !== undefined && this.total >= this.#awaited.total) this.#awaited.resolve();
  }

  /** Resolves when this many have come. One caller at a time. */
  async received(total: number): Promise<void> {
    if (this.total >= total) return;
    await new Promise<void>((resolve) => {
      this.#awaited = { total, resolve };
    });
  }
}
