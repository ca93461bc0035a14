/** NFP, the worker's side: every decision about its connection and its jobs. Section 8 of docs/protocols/nfp.md. */
import type { NfpToWorker } from '@proj/frames/nfp';
import type { Engine, TimerEvent } from '@proj/transport';
import { Answers } from './answers.js';
import { CallHandler } from './call-handler.js';
import { JobWrites } from './changes.js';
import { BrokerConversation } from './connection.js';
import type { NfpWorkerEffect, NfpWorkerEvent } from './events.js';
import { Inputs } from './inputs.js';
import { assertNfpJobs } from './invariants.js';
import { jobRows } from './job-rows.js';
import type { NfpJobFilter, NfpJobRow } from './job-rows.js';
import { NfpJobs } from './jobs.js';
import { Lifecycle } from './lifecycle.js';
import { Management } from './management.js';
import { Output } from './output.js';
import { BrokerQuestions } from './questions.js';
import { ResultReads } from './result-reads.js';
import { Restart } from './restart.js';
import { Retention } from './retention.js';
import type { NfpWorkerCounters, NfpWorkerSessionOptions, NfpWorkerWorld } from './session-options.js';
import { Settlement } from './settlement.js';
import { Slots } from './slots.js';

/**
 * One connection and all jobs of a worker as a deterministic machine. A job is accepted when it is durable, and finished when
 * its result is; the connection may come and go meanwhile.
 */
export class NfpWorkerSession implements Engine<NfpWorkerEvent, NfpWorkerEffect> {
  readonly #options: NfpWorkerSessionOptions;
  readonly #output = new Output();
  readonly #connection: BrokerConversation;
  readonly #answers: Answers;
  readonly #inputs: Inputs;
  readonly #questions: BrokerQuestions;
  readonly #jobs: NfpJobs;
  readonly #slots: Slots;
  readonly #changes = new JobWrites(this.#output);
  readonly #retention: Retention;
  readonly #lifecycle: Lifecycle;
  readonly #settlement: Settlement;
  readonly #calls: CallHandler;
  readonly #reads = new ResultReads();
  readonly #restart: Restart;
  #phase: 'new' | 'on' | 'ended' = 'new';
  #drainAt = Infinity;

  constructor(options: NfpWorkerSessionOptions, world: NfpWorkerWorld) {
    const output = this.#output;
    const changes = this.#changes;
    const wallMs = (): number => Math.floor(world.wallMicros() / 1000);
    const connection = new BrokerConversation(options, output, () => world.random());
    const answers = new Answers(options, connection, output, wallMs);
    const inputs = new Inputs(answers, output);
    const jobs = new NfpJobs(options.resultTtlMs === 0 ? Infinity : options.resultTtlMs);
    const slots = new Slots(options.concurrency);
    const retention = new Retention(options.resultsMax, jobs, changes, output);
    const restart = new Restart(options.drainMs);
    const parts = { options, output, connection, answers, inputs, jobs, slots, changes, retention, restart, wallMs };
    const lifecycle = new Lifecycle(parts);
    const onShutdown = this.#drain.bind(this);
    const reads = this.#reads;
    const onRestart = restart.begin.bind(restart);
    const isRestarting = (): boolean => restart.isUnderWay;
    const management = new Management({ ...parts, reads, onShutdown, onRestart, isRestarting });
    const digest = world.digest.bind(world);
    const calls = new CallHandler({ ...parts, lifecycle, management, reads, digest });
    const onSettled = calls.unpark.bind(calls);
    this.#options = options;
    this.#connection = connection;
    this.#answers = answers;
    this.#inputs = inputs;
    this.#questions = new BrokerQuestions(options, connection, output);
    this.#jobs = jobs;
    this.#slots = slots;
    this.#retention = retention;
    this.#restart = restart;
    this.#lifecycle = lifecycle;
    this.#settlement = new Settlement({ ...parts, lifecycle, onSettled });
    this.#calls = calls;
  }

  /** See {@link Engine.deadline}. */
  get deadline(): number {
    if (this.#phase !== 'on') return Infinity;
    return Math.min(
      this.#connection.deadline,
      this.#drainAt,
      this.#restart.deadline,
      this.#inputs.deadline,
      this.#questions.deadline,
      this.#changes.deadline,
      this.#lifecycle.isStaying ? this.#retention.deadline : Infinity,
    );
  }

  /** Sizes now; the cost does not depend on them. */
  counters(): NfpWorkerCounters {
    return { jobs: this.#jobs.counts, running: this.#slots.running.size };
  }

  /** Jobs as they are now; the cost is linear in their number. */
  jobs(filter: NfpJobFilter): NfpJobRow[] {
    return jobRows(this.#jobs, filter);
  }

  /** What a job that has no result yet has told so far, each event a JSON text; `undefined` when there is no such job. */
  eventsOf(uuid: string): readonly Uint8Array[] | undefined {
    const job = this.#jobs.get(uuid);
    return job?.isFinal === false ? job.log : undefined;
  }

  /** See {@link Engine.step}. */
  step(event: NfpWorkerEvent | TimerEvent, now: number): readonly NfpWorkerEffect[] {
    if (this.#phase !== 'ended') {
      this.#on(event, now);
      this.#proceed(now);
    }
    return this.#output.take();
  }

  /** See {@link Engine.assertInvariants}. */
  assertInvariants(): void {
    const check = (holds: boolean, what: string): void => {
      if (!holds) throw new Error(`NfpWorkerSession: ${what}`);
    };
    const on = this.#phase === 'on';
    this.#connection.assertInvariants(!on || this.#lifecycle.isGone);
    check(this.#output.isEmpty, 'effects are left over from the last step');
    check(on || this.deadline === Infinity, 'something is due before the start or after the end');
    this.#slots.assertInvariants();
    this.#changes.assertInvariants();
    this.#questions.assertInvariants();
    assertNfpJobs(this.#jobs, this.#slots.running, this.#slots.taken, !this.#lifecycle.isStaying);
  }

  #on(event: NfpWorkerEvent | TimerEvent, now: number): void {
    switch (event.kind) {
      case 'start':
        if (this.#phase !== 'new') return;
        this.#phase = 'on';
        this.#lifecycle.recover(event.jobs, now);
        this.#connection.open(now);
        break;
      case 'undeliverable':
        this.#output.note({ code: 'unsent' });
        break;
      case 'message':
      case 'rejected':
      case 'lost':
        if (this.#connection.isCurrent(event.socket)) this.#onSocket(event, now);
        break;
      case 'committed':
        this.#settlement.committed(event.commit, now);
        break;
      case 'commit-failed':
        this.#settlement.failed(event.commit, event.message, now);
        break;
      case 'loaded':
      case 'load-failed':
        this.#onLoad(event);
        break;
      case 'event':
      case 'stream':
      case 'ask':
        this.#onTask(event, now);
        break;
      case 'question':
        this.#questions.ask(event.question, now);
        break;
      case 'done':
        this.#lifecycle.done(event.run, event.outcome);
        break;
      case 'restarted':
        this.#onRestarted(now);
        break;
      case 'drain':
        this.#drain(now);
        break;
      case 'close':
        this.#leaveAtOnce('closed', now);
        break;
      case 'timer':
        this.#onTimer(event.lateMs, now);
        break;
    }
  }

  /** What follows from any event: free slots are filled, changes are written, results are read, and a worker with nothing left to do ends. */
  #proceed(now: number): void {
    if (this.#phase !== 'on') return;
    if (this.#restart.takeRenewal(this.#slots.taken === 0, now)) this.#output.push({ kind: 'restart' });
    this.#lifecycle.fill(now);
    this.#changes.flush(now);
    this.#questions.proceed(now);
    for (let read = this.#reads.take(); read !== undefined; read = this.#reads.take())
      this.#output.push({ kind: 'load', ...read });
    const isIdle = this.#slots.taken === 0 && this.#changes.isIdle && this.#reads.isIdle;
    if (!this.#lifecycle.isStaying && isIdle) this.#end();
  }

  #onSocket(event: Extract<NfpWorkerEvent, { kind: 'message' | 'rejected' | 'lost' }>, now: number): void {
    if (event.kind === 'lost') this.#connection.lose(event.reason, now);
    else if (event.kind === 'rejected') this.#output.drop(event.reason);
    else this.#onMessage(event.command, now);
  }

  #onMessage(command: NfpToWorker, now: number): void {
    if (command.kind === 'malformed') {
      this.#output.drop(command.reason);
      return;
    }
    this.#connection.heard(now);
    switch (command.kind) {
      case 'broker-open':
        this.#connection.agree(command, now);
        break;
      case 'broker-keepalive':
        break;
      case 'broker-disconnect':
        this.#connection.lose('disconnected', now);
        break;
      case 'client-answer':
        this.#questions.answer(command, now);
        break;
      case 'worker-call':
      case 'worker-table-call':
        this.#calls.take(command, now);
        break;
    }
  }

  #onLoad(event: Extract<NfpWorkerEvent, { load: number }>): void {
    const call = this.#reads.settle(event.load);
    if (call === undefined) return;
    const answer = call.command === 'mmi' ? 'mmi' : 'response';
    if (event.kind === 'load-failed') this.#answers.fail(call, 500, 'store cannot be read', answer);
    else if (call.command === 'mmi') this.#answers.events(call, event.value);
    else if (event.value === undefined) this.#answers.notFound(call);
    else this.#answers.result(call, event.value);
  }

  #onTask(event: Extract<NfpWorkerEvent, { kind: 'event' | 'stream' | 'ask' }>, now: number): void {
    const job = this.#slots.running.get(event.run);
    if (job === undefined) return;
    if (event.kind === 'event') this.#answers.tell(job, event.body);
    else if (event.kind === 'stream') this.#answers.stream(job, event.chunk);
    else this.#inputs.ask(job, event.question, now);
  }

  #onTimer(lateMs: number, now: number): void {
    this.#connection.credit(lateMs, now);
    if (this.#drainAt <= now) this.#leaveAtOnce('drain-timeout', now);
    if (this.#restart.takeStop(now)) this.#lifecycle.abort('restart');
    this.#changes.recover(now);
    this.#inputs.expire(now);
    this.#questions.expire(now);
    if (this.#lifecycle.isStaying) this.#retention.sweep(now);
    this.#connection.act(now);
  }

  /** Serves again, in a new conversation where there is one. */
  #onRestarted(now: number): void {
    if (!this.#restart.end()) return;
    this.#output.note({ code: 'restarted' });
    if (this.#connection.isOpen) this.#connection.renew(now);
  }

  #drain(now: number): void {
    if (!this.#lifecycle.isStaying) return;
    if (this.#phase === 'new') {
      this.#end();
      return;
    }
    this.#restart.cancel();
    this.#drainAt = now + this.#options.drainMs;
    this.#lifecycle.leave('draining');
    this.#settlement.abandon(now);
  }

  #leaveAtOnce(reason: 'closed' | 'drain-timeout', now: number): void {
    if (this.#lifecycle.isGone) return;
    if (this.#phase === 'new') {
      this.#end();
      return;
    }
    this.#restart.cancel();
    this.#drainAt = Infinity;
    this.#lifecycle.leave(reason);
    this.#settlement.abandon(now);
    this.#lifecycle.abort(reason);
    this.#questions.close();
    this.#connection.stop(reason);
  }

  #end(): void {
    this.#questions.close();
    this.#connection.stop('drained');
    this.#phase = 'ended';
    this.#output.push({ kind: 'ended' });
  }
}
