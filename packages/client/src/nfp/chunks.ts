/** NFP client: the chunks of a file in order, several on their way at a time. Rule 9 of docs/protocols/nfp.md. */
import { totalBytes } from '@proj/frames';
import { ProjError } from '@proj/transport';
import { chunksOf } from './files.js';

/** What a file is cut into. */
export interface ChunkPlan {
  readonly url: string;
  readonly totalBytes: number;
  readonly chunkBytes: number;
  readonly inTransit: number;
}

/** Asks for chunks by offset, as a broker answers them. A failure ends it; what is on its way then is dropped. */
export async function* askedChunks(
  plan: ChunkPlan,
  ask: (offset: number) => Promise<readonly Uint8Array[]>,
): AsyncGenerator<readonly Uint8Array[]> {
  const wanted = chunksOf(plan.totalBytes, plan.chunkBytes);
  const underWay: { readonly bytes: number; readonly answer: Promise<readonly Uint8Array[]> }[] = [];
  for (;;) {
    while (underWay.length < plan.inTransit) {
      const next = wanted.next();
      if (next.done === true) break;
      const answer = ask(next.value.offset);
      // Whoever comes first to fail is told; the others need not be.
      answer.catch(() => undefined);
      underWay.push({ bytes: next.value.bytes, answer });
    }
    const first = underWay.shift();
    if (first === undefined) return;
    yield checked(plan.url, await first.answer, first.bytes);
  }
}

/** A job that streams chunks, as far as {@link StreamedChunks} needs it. */
export interface ChunkJob {
  /** Asks for the chunk that begins there. */
  put(offset: number): void;
  /** Rejects, or resolves to why, when the job ends without having sent everything. */
  readonly end: Promise<unknown>;
}

/** Chunks that a worker streams: the first one by itself, each other one asked for once that has come, all in the order of the questions. */
export class StreamedChunks {
  readonly #plan: ChunkPlan;
  readonly #arrived: (readonly Uint8Array[])[] = [];
  #wake: () => void = () => undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(plan: ChunkPlan) {
    this.#plan = plan;
  }

  /** Takes what the worker streams. */
  readonly push = (frames: readonly Uint8Array[]): void => {
    this.#arrived.push(frames);
    this.#wake();
  };

  /** The chunks in order. The worker decides how many there are on its side; here no more than asked for are taken. */
  async *read(job: ChunkJob): AsyncGenerator<readonly Uint8Array[]> {
    const { url, totalBytes: total, chunkBytes, inTransit } = this.#plan;
    job.end.then(
      () => this.#fail(new ProjError('PROTOCOL_REMOTE', `file ${url}: the worker ended before all of it had come`)),
      (error: unknown) => this.#fail(error),
    );
    const wanted = [...chunksOf(total, chunkBytes)];
    let asked = 1;
    for (const [index, { bytes }] of wanted.entries()) {
      const frames = await this.#next();
      // Not before the first one has come: workers of NORFAB drop what is asked before the job runs.
      for (const most = Math.min(wanted.length, index + 1 + inTransit); asked < most; asked++)
        job.put((wanted[asked] as { offset: number }).offset);
      yield checked(url, frames, bytes);
    }
  }

  async #next(): Promise<readonly Uint8Array[]> {
    for (;;) {
      const frames = this.#arrived.shift();
      if (frames !== undefined) return frames;
      if (this.#failure !== undefined) throw this.#failure.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    this.#wake();
  }
}

/** A chunk of another length is an error text, or a source that cuts otherwise. */
function checked(url: string, frames: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  const came = totalBytes(frames);
  if (came === bytes) return frames;
  throw new ProjError('PROTOCOL_REMOTE', `file ${url}: a chunk of ${came} bytes came where ${bytes} were asked for`);
}
