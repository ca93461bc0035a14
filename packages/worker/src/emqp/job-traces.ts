/** EventMQ job manager: the spans of runs, from the moment a process gets a job until it answers or is gone. */
import { ProjError } from '@proj/transport';
import { carrierInItems, Tracing } from '@proj/transport/tracing';
import type { TracedCall, TracingSettings } from '@proj/transport/tracing';
import type { EmqpJobEffect, EmqpJobManagerEvent, EmqpRun } from './engine/events.js';

/** One span for each run of a job. Jobs that run again have several, with one parent. */
export class JobTraces {
  readonly #tracing: Tracing;
  /** By slot. */
  readonly #running = new Map<number, TracedCall>();

  constructor(settings: TracingSettings | undefined) {
    this.#tracing = new Tracing('proj:worker.job', 'emqp', settings, true);
  }

  /** A process is about to get a job. Returns the job for it: with the span's context, if there is one. */
  begin({ slot, job, headers }: Extract<EmqpJobEffect, { kind: 'run' }>): EmqpRun {
    if (!this.#tracing.isOn) return job;
    const { id, queue, run, body } = job;
    const attributes = {
      'messaging.system': 'eventmq',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': queue,
      'messaging.message.id': id,
      'messaging.message.body.size': body.length,
      'proj.job.run': run,
    };
    const carrier = carrierInItems(headers);
    const trace = this.#tracing.begin({ kind: 'consumer', name: `process ${queue}`, attributes, carrier });
    this.#running.set(slot, trace);
    const own = trace.run(() => trace.carrier);
    return own === undefined ? job : { ...job, trace: own };
  }

  /** The slot's process is killed, because its job runs too long or the job manager is closing. */
  killed(slot: number): void {
    this.#end(slot, new ProjError('TIMEOUT', 'job: its process was killed'));
  }

  /** A process has answered, or is gone. */
  onEvent(event: Extract<EmqpJobManagerEvent, { slot: number }>): void {
    if (this.#running.size === 0 || event.kind === 'up') return;
    if (event.kind === 'gone') this.#end(event.slot, new ProjError('PEER_LOST', `job: ${event.reason}`));
    else if (event.outcome === 'done') this.#end(event.slot);
    else this.#end(event.slot, new ProjError('REJECTED', `job: ${event.outcome}: ${textOf(event.result)}`));
  }

  #end(slot: number, error?: ProjError): void {
    const trace = this.#running.get(slot);
    this.#running.delete(slot);
    if (error === undefined) trace?.end();
    else trace?.fail(error);
  }
}

/** Limit of the bytes of an error's text in a span. */
const TEXT_MAX_BYTES = 300;

function textOf(result: Uint8Array): string {
  return Buffer.from(result.subarray(0, TEXT_MAX_BYTES)).toString();
}
