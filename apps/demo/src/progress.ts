/** Progress of the work: one line that is rewritten on a terminal, or a line per quarter otherwise. */

/** Where to show progress. */
export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const CLEAR_LINE = '\r\u001b[2K';

/** Progress towards `total` steps. */
export class Progress {
  readonly #output: Output;
  readonly #total: number;
  #done = 0;
  /** Quarters, or percent, shown so far. */
  #mark = 0;

  constructor(output: Output, total: number) {
    this.#output = output;
    this.#total = total;
  }

  /** Steps done so far. */
  get done(): number {
    return this.#done;
  }

  /** Counts one step. */
  step(): void {
    this.#done++;
    const unit = this.#output.isTTY === true ? 1 : 25;
    const mark = Math.floor(this.#percent / unit);
    if (mark === this.#mark) return;
    this.#mark = mark;
    this.#show();
  }

  /** Writes a permanent line above the progress line. */
  say(line: string): void {
    if (this.#output.isTTY !== true) {
      this.#output.write(`${line}\n`);
      return;
    }
    this.#output.write(`${CLEAR_LINE}${line}\n`);
    if (this.#done > 0 && this.#done < this.#total) this.#show();
  }

  get #percent(): number {
    return (this.#done * 100) / this.#total;
  }

  #show(): void {
    const text = `  ${Math.floor(this.#percent)} % (${this.#done} of ${this.#total} answers)`;
    const ended = this.#done === this.#total || this.#output.isTTY !== true;
    this.#output.write(`${this.#output.isTTY === true ? CLEAR_LINE : ''}${text}${ended ? '\n' : ''}`);
  }
}
