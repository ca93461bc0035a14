/**
 * NFP worker: every decision about its connection and its jobs. The rules are those of docs/protocols/nfp.md, section "Worker".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 to 3 | OPEN, READY, KEEPALIVE, DISCONNECT | broker-connection.ts, shared/broker-connection.ts |
 * | 4 | accepted jobs | jobs/call-handler.ts, jobs/commits.ts, records.ts |
 * | 5 | running jobs | jobs/lifecycle.ts, state.ts, jobs/call-handler.ts |
 * | 6 | known uuids | jobs/call-handler.ts, legality.ts |
 * | 7 | GET | jobs/call-handler.ts, legality.ts |
 * | 8 | DELETE | jobs/call-handler.ts, jobs/lifecycle.ts, jobs/commits.ts, legality.ts |
 * | 9 | what a task gets and sends | jobs/answers.ts, put-queue.ts, task-run.ts, jobs/lifecycle.ts |
 * | 10 | what is no call | jobs/call-handler.ts, records.ts |
 * | 11 | a full disk | jobs/commits.ts, records.ts |
 * | 12 | after a crash | jobs/lifecycle.ts, records.ts |
 * | 13 | how long results are kept | jobs/retention.ts |
 * | 14 | draining | session.ts, jobs/lifecycle.ts |
 * | 15 | management | management.ts |
 * | 16 | shared files | file-sharing.ts |
 * | 17 | inventory and files from the broker | broker-services.ts, jobs/questions.ts |
 * | 18 | base tasks | base/tasks.ts, base/catalogue.ts, base/job-rows.ts, base/shell.ts |
 */
import type { NfpToWorker } from '@proj/frames/nfp';
import type { Engine, TimerEvent } from '@proj/transport';
import { checksOf } from '../../shared/invariants.js';
import { SessionOutput } from '../../shared/output.js';
import { Answers, Inputs } from './jobs/answers.js';
import { CallHandler } from './jobs/call-handler.js';
import { BrokerConversation } from './broker-connection.js';
import type {
  NfpFromWorker,
  NfpJobEffect,
  NfpWorkerCounters,
  NfpWorkerEffect,
  NfpWorkerEvent,
  NfpWorkerNote,
  NfpWorkerSessionOptions,
  NfpWorkerWorld,
} from './events.js';
import { assertNfpJobs } from './invariants.js';
import { Lifecycle } from './jobs/lifecycle.js';
import { Management, Restart } from './management.js';
import { BrokerQuestions } from './jobs/questions.js';
import { JobWrites, ResultReads } from './records.js';
import { Commits } from './jobs/commits.js';
import { Retention } from './jobs/retention.js';
import { NfpJobs, Slots } from './state.js';

const check = checksOf('NfpWorkerSession');

/**
 * One connection and all jobs of a worker as a deterministic state machine. A job is accepted when it is durable, and finished when its result
 * is; the connection may come and go meanwhile.
 */
export class NfpWorkerSession implements Engine<NfpWorkerEvent, NfpWorkerEffect> {
  readonly #options: NfpWorkerSessionOptions;
  readonly #out = new SessionOutput<NfpFromWorker, NfpWorkerNote, NfpJobEffect>();
  readonly #connection: BrokerConversation;
  readonly #answers: Answers;
  readonly #inputs: Inputs;
  readonly #questions: BrokerQuestions;
  readonly #jobs: NfpJobs;
  readonly #slots: Slots;
  readonly #writes = new JobWrites(this.#out);
  readonly #reads = new ResultReads(this.#out);
  readonly #retention: Retention;
  readonly #restart: Restart;
  readonly #lifecycle: Lifecycle;
  readonly #commits: Commits;
  readonly #calls: CallHandler;
  #phase: 'new' | 'on' | 'ended' = 'new';
  #drainAt = Infinity;

  constructor(options: NfpWorkerSessionOptions, world: NfpWorkerWorld) {
    const out = this.#out;
    const wallMs = (): number => Math.floor(world.wallMicros() / 1000);
    const connection = (this.#connection = new BrokerConversation(options, out, () => world.random()));
    const answers = (this.#answers = new Answers(options, connection, out, wallMs));
    const inputs = (this.#inputs = new Inputs(answers, out));
    const jobs = (this.#jobs = new NfpJobs(options.resultTtlMs === 0 ? Infinity : options.resultTtlMs));
    const slots = (this.#slots = new Slots(options.concurrency));
    const restart = (this.#restart = new Restart(options.drainMs, out));
    const [writes, reads] = [this.#writes, this.#reads];
    const retention = (this.#retention = new Retention(options.resultsMax, jobs, writes, out));
    const parts = { options, out, connection, answers, inputs, jobs, slots, writes, reads, retention, restart, wallMs };
    const lifecycle = (this.#lifecycle = new Lifecycle(parts));
    const management = new Management({ ...parts, onShutdown: this.#drain.bind(this) });
    const digest = world.digest.bind(world);
    const calls = (this.#calls = new CallHandler({ ...parts, lifecycle, management, digest }));
    this.#commits = new Commits({ ...parts, lifecycle, onSettled: calls.unpark.bind(calls) });
    this.#questions = new BrokerQuestions(options, connection, out);
    this.#options = options;
  }

  get deadline(): number {
    if (this.#phase !== 'on') return Infinity;
    return Math.min(
      this.#connection.deadline,
      this.#drainAt,
      this.#restart.deadline,
      this.#inputs.deadline,
      this.#questions.deadline,
      this.#writes.deadline,
      this.#lifecycle.isStaying ? this.#retention.deadline : Infinity,
    );
  }

  /** Current sizes, in constant time. */
  counters(): NfpWorkerCounters {
    return { jobs: this.#jobs.counts, running: this.#slots.running.size };
  }

  /** Current jobs, for listings. Do not modify. */
  get jobs(): Pick<NfpJobs, 'get' | 'values'> {
    return this.#jobs;
  }

  step(event: NfpWorkerEvent | TimerEvent, now: number): readonly NfpWorkerEffect[] {
    this.#out.begin(now);
    if (this.#phase !== 'ended') {
      this.#on(event);
      this.#proceed();
    }
    return this.#out.effects;
  }

  assertInvariants(): void {
    const isOn = this.#phase === 'on';
    this.#connection.assertInvariants(!isOn || this.#lifecycle.isGone);
    check(isOn || this.deadline === Infinity, 'something is due before the start or after the end');
    this.#writes.assertInvariants();
    this.#questions.assertInvariants();
    assertNfpJobs(this.#jobs, this.#slots, !this.#lifecycle.isStaying);
  }

  #on(event: NfpWorkerEvent | TimerEvent): void {
    switch (event.kind) {
      case 'start':
        if (this.#phase !== 'new') return;
        this.#phase = 'on';
        this.#lifecycle.recover(event.jobs);
        this.#retention.trim();
        this.#connection.open();
        break;
      case 'undeliverable':
        this.#out.report({ code: 'unsent' });
        break;
      case 'message':
        if (this.#connection.isCurrent(event.socket)) this.#onMessage(event.command);
        break;
      case 'rejected':
        if (this.#connection.isCurrent(event.socket))
          this.#out.report({ code: 'message-dropped', reason: event.reason });
        break;
      case 'lost':
        if (this.#connection.isCurrent(event.socket)) this.#connection.lose(event.reason);
        break;
      case 'committed':
        this.#commits.committed(event.commit);
        break;
      case 'commit-failed':
        this.#commits.failed(event.commit, event.message);
        break;
      case 'loaded':
      case 'load-failed':
        this.#onLoad(event);
        break;
      case 'event':
      case 'stream':
      case 'ask':
        this.#onTask(event);
        break;
      case 'question':
        this.#questions.ask(event.question);
        break;
      case 'done':
        this.#lifecycle.done(event.run, event.outcome);
        break;
      case 'restarted':
        this.#onRestarted();
        break;
      case 'drain':
        this.#drain();
        break;
      case 'close':
        this.#leaveAtOnce('closed');
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
    }
  }

  /** What follows any event: free slots are filled, changes written, records read, and a worker with nothing left to do ends. */
  #proceed(): void {
    if (this.#phase !== 'on') return;
    if (this.#restart.takeRenewal(this.#slots.taken === 0)) this.#out.push({ kind: 'restart' });
    this.#lifecycle.fill();
    this.#writes.flush();
    this.#questions.proceed();
    this.#reads.flush();
    const isIdle = this.#slots.taken === 0 && this.#writes.isIdle && this.#reads.isIdle;
    if (!this.#lifecycle.isStaying && isIdle) this.#end();
  }

  /** Every command is legal while the conversation is open, and a sign of life. legality.ts says what a call about a job means. */
  #onMessage(command: NfpToWorker): void {
    if (command.kind === 'malformed') {
      this.#out.report({ code: 'message-dropped', reason: command.reason });
      return;
    }
    this.#connection.heard();
    switch (command.kind) {
      case 'broker-open':
        this.#connection.agree(command);
        break;
      case 'broker-keepalive':
        break;
      case 'broker-disconnect':
        this.#connection.lose('disconnected');
        break;
      case 'client-answer':
        this.#questions.answer(command);
        break;
      case 'worker-call':
      case 'worker-table-call':
        this.#calls.take(command);
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

  #onTask(event: Extract<NfpWorkerEvent, { kind: 'event' | 'stream' | 'ask' }>): void {
    const job = this.#slots.running.get(event.run);
    if (job === undefined) return;
    if (event.kind === 'event') this.#answers.tell(job, event.body);
    else if (event.kind === 'stream') this.#answers.stream(job, event.chunk);
    else this.#inputs.ask(job, event.question);
  }

  #onTimer(lateMs: number): void {
    this.#connection.credit(lateMs);
    if (this.#drainAt <= this.#out.now) this.#leaveAtOnce('drain-timeout');
    if (this.#restart.takeStop()) this.#lifecycle.abort('restart');
    this.#writes.recover();
    this.#inputs.expire();
    this.#questions.expire();
    if (this.#lifecycle.isStaying) this.#retention.sweep();
    this.#connection.act();
  }

  /** The worker serves again, in a new conversation if one is open. */
  #onRestarted(): void {
    if (!this.#restart.end()) return;
    this.#out.report({ code: 'restarted' });
    if (this.#connection.isOpen) this.#connection.renew();
  }

  #drain(): void {
    if (!this.#lifecycle.isStaying) return;
    if (this.#phase === 'new') {
      this.#end();
      return;
    }
    this.#restart.cancel();
    this.#drainAt = this.#out.now + this.#options.drainMs;
    this.#lifecycle.leave('draining');
    this.#commits.abandon();
  }

  #leaveAtOnce(reason: 'closed' | 'drain-timeout'): void {
    if (this.#lifecycle.isGone) return;
    if (this.#phase === 'new') {
      this.#end();
      return;
    }
    this.#restart.cancel();
    this.#drainAt = Infinity;
    this.#lifecycle.leave(reason);
    this.#commits.abandon();
    this.#lifecycle.abort(reason);
    this.#questions.close();
    this.#connection.stop(reason);
  }

  #end(): void {
    this.#questions.close();
    this.#connection.stop('drained');
    this.#phase = 'ended';
    this.#out.push({ kind: 'ended' });
  }
}
