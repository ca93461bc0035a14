/** EventMQ job manager: current jobs, their slots, and results as text. */
import type { EmqpReadHeaders } from '@proj/frames/emqp';
import { encodeEmqpJson } from '@proj/frames/emqp';
import { HeapDeadline } from '@proj/heartbeat';
import type { EmqpRun } from './events.js';

/** Longest error text in a note, in characters. */
const REASON_MAX_LENGTH = 300;

/** A current job. */
export interface Job extends EmqpRun {
  readonly headers: EmqpReadHeaders;
  /** The headers as received. */
  readonly headerFrame: Uint8Array;
  /** The connection that delivered it. */
  readonly socket: number;
  run: number;
}

/** A place for one process and its job. */
export class Slot {
  readonly index: number;
  isUp = false;
  job: Job | undefined;
  /** `killing`: until its process has gone. `resting`: until the next run is due. `due`: it is, but no process is up. */
  phase: 'idle' | 'running' | 'killing' | 'resting' | 'due' = 'idle';
  /** When the run has to end, or the next one begins. */
  readonly deadline = new HeapDeadline<Slot>(this);
  /** Number of runs of its process. */
  runs = 0;
  /** This run already got extra time because our process was late. */
  excused = false;

  constructor(index: number) {
    this.index = index;
  }
}

/** Worker rule 4: the client wants the result, or the broker needs it. */
export function wantsReply({ headers }: Job): boolean {
  return headers.replyRequested || headers.guarantee || headers.retryCount > 0;
}

/** The result for a failure with this text. */
export function toResult(text: string): Uint8Array {
  return new TextEncoder().encode(encodeEmqpJson({ value: text }));
}

/** The text of a failure's result, shortened for a note. */
export function reasonOf(result: Uint8Array): string {
  const json = new TextDecoder().decode(result);
  try {
    const { value } = JSON.parse(json) as { value: unknown };
    return String(value).slice(0, REASON_MAX_LENGTH);
  } catch {
    return json.slice(0, REASON_MAX_LENGTH);
  }
}
