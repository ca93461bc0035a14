/** NFP worker: questions of running tasks to their clients, and what becomes of them. */
import { decodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody } from '@proj/frames/nfp';
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import type { Answers } from './answers.js';
import type { NfpInputOutcome, NfpQuestion } from './events.js';
import type { NfpJob } from './job.js';
import type { Output } from './output.js';

/** At most one question of a job is open, in its `input`; here is until when. */
export class Inputs {
  readonly #answers: Answers;
  readonly #output: Output;
  readonly #due = new DeadlineHeap<NfpJob>();

  constructor(answers: Answers, output: Output) {
    this.#answers = answers;
    this.#output = output;
  }

  /** When the next question has waited too long. */
  get deadline(): number {
    return this.#due.deadline;
  }

  /** Does nothing while another question of the job is open. */
  ask(job: NfpJob, asked: NfpQuestion, now: number): void {
    if (job.input !== undefined) return;
    const { id, question, metadata, timeoutMs } = asked;
    const timeout = timeoutMs / 1000;
    job.input = { id, question, default: asked.default, timeout, metadata };
    job.inputDue ??= new HeapDeadline(job);
    this.#due.set(job.inputDue, now + timeoutMs);
    const { uuid, task } = job;
    const about = { status: 'waiting_client_input', severity: 'INFO', extras: { input_request: job.input } } as const;
    this.#answers.event(job, { uuid, task, type: 'input_request', message: question, ...about, timeout });
  }

  /** Takes the body of a PUT for the answer to the open question of the job. False when it is something else. */
  answer(job: NfpJob, body: NfpBody): boolean {
    const outcome = job.input === undefined ? undefined : readInput(body, job.input.id);
    if (outcome !== undefined) this.#settle(job, outcome);
    return outcome !== undefined;
  }

  /** The job asks nothing any more. */
  forget(job: NfpJob): void {
    job.input = undefined;
    if (job.inputDue !== undefined) this.#due.remove(job.inputDue);
  }

  /** Questions that nobody has answered in time. */
  expire(now: number): void {
    for (let job = this.#due.takeDue(now); job !== undefined; job = this.#due.takeDue(now))
      this.#settle(job, { kind: 'timeout' });
  }

  #settle(job: NfpJob, outcome: NfpInputOutcome): void {
    const { id } = job.input as NonNullable<NfpJob['input']>;
    const { uuid, task } = job;
    this.forget(job);
    this.#output.push({ kind: 'input', run: job.run as number, id, outcome });
    const extras = { input_response: { id, outcome: outcome.kind } };
    const message = `client input: ${outcome.kind}`;
    this.#answers.event(job, {
      uuid,
      task,
      type: 'input_response',
      message,
      status: 'running',
      severity: 'INFO',
      extras,
    });
  }
}

/** The answer to the question of this id in the body of a PUT; `undefined` when it is something else. */
function readInput(body: NfpBody, id: string): NfpInputOutcome | undefined {
  const value = decodeNfpJson(body);
  if (typeof value !== 'object' || value === null || !('input_id' in value) || value.input_id !== id) return undefined;
  if ('cancel' in value && value.cancel === true) return { kind: 'refused' };
  return { kind: 'answered', value: 'value' in value ? value.value : null };
}
