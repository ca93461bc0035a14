/** NFP client: which answers are older than a job's last POST. Client rule 4 of docs/protocols/nfp.md. */

/** Answers may be lost, so no more old ones are expected of a worker. */
const OLD_MAX = 16;

/** Counts a job's GETs on one connection, and their answers: nothing says which GET a worker answers, but it answers them in order. */
export class OldAnswers {
  /** GETs that may have reached workers, and those of them from before the last POST. */
  #asked = 0;
  #askedBefore = 0;
  /** Answers by worker. */
  #heard: Map<string, number> | undefined;

  /** Number of workers whose answers are counted. */
  get size(): number {
    return this.#heard?.size ?? 0;
  }

  /** A GET is sent. */
  asked(): void {
    this.#asked++;
  }

  /** The broker has answered a GET itself, so no worker will. */
  unasked(): void {
    if (this.#asked > 0) this.#asked--;
  }

  /** The job is posted. */
  posted(): void {
    this.#askedBefore = this.#asked;
  }

  /** A worker has answered. Returns whether the question may be from before the last POST. Only answers of workers that once were members count. */
  isOld(worker: string, isMember: boolean): boolean {
    const heard = this.#heard?.get(worker);
    if (heard === undefined && !isMember) return false;
    const count = 1 + Math.max(heard ?? 0, this.#askedBefore - OLD_MAX);
    this.#heard ??= new Map();
    this.#heard.set(worker, count);
    return count <= this.#askedBefore;
  }
}
