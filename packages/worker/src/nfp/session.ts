/** NFP, the worker's side: every decision about its connection and its jobs. Section 8 of docs/protocols/nfp.md. */
import { decodeNfpJson, decodeNfpOpenInfo, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpAnswer, NfpBody, NfpBrokerOpen, NfpCommandForm, NfpToWorker } from '@proj/frames/nfp';
import { DeadlineHeap, HeapDeadline } from '@proj/heartbeat';
import type { Engine, TimerEvent } from '@proj/transport';
import type { LossReason } from '../parts/contract.js';
import { Link } from '../parts/link.js';
import type { LinkDue } from '../parts/link.js';
import { eventBody, resultBody, statusBody } from './bodies.js';
import type { NfpEventText, NfpSpeaker } from './bodies.js';
import { canonicalCall, readCall } from './call.js';
import type { NfpCallBody } from './call.js';
import type {
  NfpFromWorker,
  NfpInputOutcome,
  NfpQuestion,
  NfpRefusalReason,
  NfpTaskOutcome,
  NfpWorkerDropReason,
  NfpWorkerEffect,
  NfpWorkerEvent,
  NfpWorkerLeaveReason,
  NfpWorkerNote,
} from './contract.js';
import { assertNfpJobs } from './invariants.js';
import { encodeJob, jobKeys, NfpJob } from './job.js';
import type { NfpFinalState, NfpIncomingCall, NfpReplyTo, NfpStoredJob } from './job.js';
import { NfpJobs } from './jobs.js';
import { managementAnswer, NfpPosters } from './management.js';
import type { NfpManagementCommand } from './management.js';
import { ResultReads } from './result-reads.js';
import { Writes } from './writes.js';
import type { Write } from './writes.js';

/** After a commit that failed: how long nothing new is begun, and changes of accepted jobs wait. */
const STORE_RETRY_MS = 1000;

/** Finished jobs removed in one commit, and the time between two such commits. */
const SWEEP_MAX = 1000;
const SWEEP_EVERY_MS = 100;

/** Calls about a job that may wait for a change of it to be durable. */
const PARKED_MAX = 16;

/** Bytes of calls that may wait to be durable, besides the first one. */
const ACCEPTING_MAX_BYTES = 67_108_864;

/** Events kept with a result. */
const LOG_MAX = 100;

/** Most of a message that is not body: an address, a uuid and fixed frames. */
const ENVELOPE_BYTES = 1024;

/** Half-width of the jitter of the back-off. */
const SPREAD = 0.2;

/** What OPEN says besides the name: the version of the protocol that the headers stand for. */
const VERSION = '0.1';

/** Settings of an {@link NfpWorkerSession}; options.ts of this folder has the defaults. Times in milliseconds. */
export interface NfpWorkerSessionOptions {
  readonly endpoints: readonly string[];
  readonly service: string;
  readonly name: string;
  readonly concurrency: number;
  readonly maxPendingJobs: number;
  /** 0 for ever. */
  readonly resultTtlMs: number;
  readonly resultsMax: number;
  readonly crashPolicy: 'rerun' | 'fail';
  readonly maxRuns: number;
  readonly commandForm: NfpCommandForm;
  readonly dialect: 'current' | 'legacy';
  readonly sendOpen: boolean;
  readonly keepaliveIntervalMs: number;
  readonly keepaliveMultiplier: number;
  readonly managementCommands: boolean;
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly minUptimeMs: number;
  readonly drainMs: number;
  readonly maxMessageBytes: number;
  /** Shown by `show_workers`. */
  readonly taskList: readonly { readonly name: string; readonly description: string }[];
}

/** What a session cannot know by itself. */
export interface NfpWorkerWorld {
  /** In [0, 1). */
  random(): number;
  /** Wall clock, in microseconds since 1970. */
  wallMicros(): number;
  /** A short text that differs for different texts, such as a cryptographic hash. */
  digest(text: string): string;
}

/** Sizes now and totals so far. */
export interface NfpWorkerCounters {
  /** Jobs by state. Those that are about to be accepted count as pending. */
  readonly jobs: Readonly<Record<NfpStoredJob['state'], number>>;
  /** Tasks that run now. */
  readonly running: number;
}

const NOTHING: readonly NfpWorkerEffect[] = [];

/**
 * One connection and all jobs of a worker as a deterministic machine. A job is accepted when it is durable, and finished when
 * its result is; the connection may come and go meanwhile.
 */
export class NfpWorkerSession implements Engine<NfpWorkerEvent, NfpWorkerEffect> {
  readonly #options: NfpWorkerSessionOptions;
  readonly #world: NfpWorkerWorld;
  readonly #self: NfpSpeaker;
  readonly #link: Link;
  readonly #jobs: NfpJobs;
  readonly #writes = new Writes();
  readonly #reads = new ResultReads();
  readonly #posters = new NfpPosters();
  readonly #runs = new Map<number, NfpJob>();
  readonly #questions = new DeadlineHeap<NfpJob>();
  #effects: NfpWorkerEffect[] = [];
  #phase: 'new' | 'on' | 'ended' = 'new';
  /** On the way out: nothing is accepted, nothing begins. With `closed` and after `drainMs`, tasks are aborted too. */
  #leaving: 'no' | 'draining' | NfpWorkerLeaveReason = 'no';
  #drainAt = Infinity;
  #stalledUntil = -Infinity;
  #sweepAfter = -Infinity;
  #socket = 0;
  #heardAt: number | undefined;
  #keepalives = { interval: 0, multiplier: 0 };
  #seq = 0;
  #run = 0;
  /** Slots taken: jobs from the decision to start them to the end of their task. */
  #busy = 0;
  #acceptingBytes = 0;

  constructor(options: NfpWorkerSessionOptions, world: NfpWorkerWorld) {
    this.#options = options;
    this.#world = world;
    this.#self = { name: options.name, service: options.service };
    const { keepaliveIntervalMs: heartbeatIntervalMs, keepaliveMultiplier: liveness } = options;
    this.#link = new Link({ ...options, heartbeatIntervalMs, liveness, spread: SPREAD }, () => world.random());
    this.#jobs = new NfpJobs(options.resultTtlMs === 0 ? Infinity : options.resultTtlMs);
  }

  get deadline(): number {
    if (this.#phase !== 'on') return Infinity;
    const retryAt = this.#stalledUntil > -Infinity ? this.#stalledUntil : Infinity;
    const sweepAt = Math.max(this.#jobs.deadline, this.#sweepAfter, this.#stalledUntil);
    return Math.min(
      this.#link.deadline,
      this.#drainAt,
      this.#questions.deadline,
      retryAt,
      this.#leaving === 'no' ? sweepAt : Infinity,
    );
  }

  /** Sizes now; the cost does not depend on them. */
  counters(): NfpWorkerCounters {
    return { jobs: this.#jobs.counts, running: this.#runs.size };
  }

  step(event: NfpWorkerEvent | TimerEvent, now: number): readonly NfpWorkerEffect[] {
    if (this.#phase !== 'ended') {
      this.#on(event, now);
      this.#proceed(now);
    }
    if (this.#effects.length === 0) return NOTHING;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  assertInvariants(): void {
    const check = (holds: boolean, what: string): void => {
      if (!holds) throw new Error(`NfpWorkerSession: ${what}`);
    };
    const on = this.#phase === 'on';
    this.#link.assertInvariants(!on || this.#isGone());
    check(this.#effects.length === 0, 'effects are left over from the last step');
    check(on || this.deadline === Infinity, 'something is due before the start or after the end');
    check(this.#busy <= this.#options.concurrency, 'more jobs run than may');
    check(this.#runs.size <= this.#busy, 'a task runs without a slot');
    check(this.#acceptingBytes >= 0, 'less than nothing is being accepted');
    assertNfpJobs(this.#jobs, this.#runs, this.#busy, this.#leaving !== 'no');
  }

  #on(event: NfpWorkerEvent | TimerEvent, now: number): void {
    switch (event.kind) {
      case 'start':
        if (this.#phase !== 'new') return;
        this.#phase = 'on';
        this.#recover(event.jobs, now);
        this.#open(now);
        break;
      case 'message':
        if (this.#isCurrent(event.socket)) this.#message(event.command, now);
        break;
      case 'rejected':
        if (this.#isCurrent(event.socket)) this.#drop(event.reason);
        break;
      case 'undeliverable':
        this.#note({ code: 'unsent' });
        break;
      case 'lost':
        if (this.#isCurrent(event.socket)) this.#lose(event.reason, now);
        break;
      case 'committed':
        for (const write of this.#writes.settle(event.commit)) this.#written(write, now);
        break;
      case 'commit-failed':
        this.#commitFailed(this.#writes.settle(event.commit), event.message, now);
        break;
      case 'loaded':
        this.#loaded(event.load, event.value);
        break;
      case 'load-failed':
        this.#loadFailed(event.load);
        break;
      case 'event':
        this.#tell(this.#runs.get(event.run), event.body);
        break;
      case 'stream':
        this.#stream(this.#runs.get(event.run), event.chunk);
        break;
      case 'ask':
        this.#ask(this.#runs.get(event.run), event.question, now);
        break;
      case 'done':
        this.#done(event.run, event.outcome);
        break;
      case 'drain':
        this.#drain(now);
        break;
      case 'close':
        this.#leaveAtOnce('closed', now);
        break;
      case 'timer':
        this.#timer(event.lateMs, now);
        break;
    }
  }

  /** What follows from any event: free slots are filled, changes are written, results are read, and a worker with nothing left to do ends. */
  #proceed(now: number): void {
    if (this.#phase !== 'on') return;
    this.#fill(now);
    if (this.#stalledUntil <= now) {
      const commit = this.#writes.take();
      if (commit !== undefined) this.#effects.push({ kind: 'commit', commit: commit.number, batch: commit.batch });
    }
    for (let read = this.#reads.take(); read !== undefined; read = this.#reads.take())
      this.#effects.push({ kind: 'load', load: read.load, key: jobKeys.result(read.uuid) });
    if (this.#leaving !== 'no' && this.#busy === 0 && this.#writes.isIdle && this.#reads.isIdle) this.#end();
  }

  // The connection.

  #open(now: number): void {
    const { keepaliveIntervalMs: interval, keepaliveMultiplier: multiplier, sendOpen, service } = this.#options;
    const { endpoint } = this.#link;
    const form = this.#options.commandForm;
    this.#link.open(now);
    this.#keepalives = { interval, multiplier };
    this.#effects.push({ kind: 'open', socket: ++this.#socket, endpoint });
    const about = { name: this.#self.name, version: VERSION, keepalive: this.#keepalives };
    if (sendOpen) this.#send({ kind: 'worker-open', form, body: encodeNfpJson(about) });
    this.#send({ kind: 'worker-ready', form, service });
    this.#note({ code: 'ready', endpoint });
  }

  #message(command: NfpToWorker, now: number): void {
    if (command.kind === 'malformed') {
      this.#drop(command.reason);
      return;
    }
    this.#heardAt = now;
    this.#link.heard(now);
    switch (command.kind) {
      case 'broker-open':
        this.#agree(command, now);
        break;
      case 'broker-keepalive':
        break;
      case 'broker-disconnect':
        this.#lose('disconnected', now);
        break;
      case 'worker-call':
      case 'worker-table-call':
        this.#call(command, now);
        break;
    }
  }

  #agree(open: NfpBrokerOpen, now: number): void {
    const keepalive = decodeNfpOpenInfo(open.body)?.keepalive;
    if (keepalive === undefined) return;
    const interval = Math.min(Math.max(Math.round(keepalive.interval), 100), 600_000);
    const multiplier = Math.min(Math.max(Math.round(keepalive.multiplier), 2), 20);
    this.#keepalives = { interval, multiplier };
    this.#link.agree(interval, multiplier, now);
  }

  #lose(reason: LossReason, now: number): void {
    const { endpoint } = this.#link;
    // A broker that is merely slow learns that we are gone; one that has told us so does not.
    const isSilent = reason === 'silent';
    if (isSilent) this.#disconnect();
    this.#effects.push({ kind: 'close', socket: this.#socket, flush: isSilent });
    const retryInMs = this.#link.lost(now, false);
    this.#note({ code: 'lost', endpoint, reason, retryInMs });
  }

  #disconnect(): void {
    const { commandForm: form, service } = this.#options;
    this.#send({ kind: 'worker-disconnect', form, service, body: [] });
  }

  /** Ends the conversation by our own wish. */
  #leaveConversation(reason: NfpWorkerLeaveReason): void {
    if (!this.#link.isOpen) return;
    this.#disconnect();
    this.#effects.push({ kind: 'close', socket: this.#socket, flush: true });
    this.#note({ code: 'left', endpoint: this.#link.endpoint, reason });
  }

  // Calls.

  #call(call: NfpIncomingCall, now: number): void {
    switch (call.command) {
      case 'post':
        this.#post(call, now);
        break;
      case 'get':
        this.#get(call);
        break;
      case 'delete':
        this.#delete(call);
        break;
      case 'put':
        this.#put(call);
        break;
      case 'mmi':
        this.#manage(call, now);
        break;
    }
  }

  #post(call: NfpIncomingCall, now: number): void {
    const job = this.#jobs.get(call.uuid);
    if (job?.change !== undefined) {
      this.#park(job, call);
      return;
    }
    const body = readCall(call.body, this.#options.maxMessageBytes);
    if (typeof body === 'string') {
      this.#refuse(call, 500, 'body', body);
      return;
    }
    const text = canonicalCall(body);
    if (text === undefined) {
      this.#refuse(call, 500, 'body', 'body is nested too deeply');
      return;
    }
    const digest = this.#world.digest(text);
    if (job !== undefined) this.#repeat(job, call, digest);
    else this.#accept(call, body, digest, now);
  }

  /** A client that did not hear the first answer; or one that chose its uuid badly. */
  #repeat(job: NfpJob, call: NfpIncomingCall, digest: string): void {
    if (job.digest !== digest) {
      this.#refuse(call, 400, 'conflict', 'uuid is in use for another call');
      return;
    }
    job.replyTo = addressOf(call);
    this.#note({ code: 'job-repeated', uuid: job.uuid });
    this.#answerAccepted(call, { state: job.shownState, duplicate: true });
  }

  #accept(call: NfpIncomingCall, body: NfpCallBody, digest: string, now: number): void {
    const bytes = (call.body[0] as Uint8Array).length;
    const busyStore = this.#acceptingBytes > 0 && this.#acceptingBytes + bytes > ACCEPTING_MAX_BYTES;
    if (this.#leaving !== 'no') {
      this.#refuse(call, 500, 'leaving', 'worker is leaving');
      return;
    }
    if (this.#stalledUntil > now || busyStore) {
      this.#refuse(call, 500, 'store', 'store does not take jobs at the moment');
      return;
    }
    if (this.#jobs.pending >= this.#options.maxPendingJobs) {
      this.#refuse(call, 500, 'full', `${this.#options.maxPendingJobs} jobs are waiting`);
      return;
    }
    const replyTo = addressOf(call);
    if (replyTo !== undefined) this.#posters.posted(replyTo, now);
    const job = new NfpJob({
      uuid: call.uuid,
      seq: ++this.#seq,
      task: body.task,
      digest,
      timeoutMs: body.timeoutMs,
      replyTo,
      state: 'PENDING',
      runs: 0,
      cancelling: false,
      startedAt: 0,
      endedAt: 0,
    });
    job.change = 'accept';
    this.#jobs.add(job);
    this.#acceptingBytes += bytes;
    const atOnce = this.#jobs.waiting === 0 && this.#busy < this.#options.concurrency;
    if (atOnce) this.#takeSlot(job);
    this.#writes.add({
      kind: 'accept',
      job,
      puts: [
        [jobKeys.job(job.uuid), encodeJob(job, atOnce ? { state: 'STARTED' } : {})],
        [jobKeys.call(job.uuid), call.body[0] as Uint8Array],
      ],
      removes: [],
      call,
      ...(atOnce ? { body } : {}),
    });
  }

  #get(call: NfpIncomingCall): void {
    const job = this.#jobs.get(call.uuid);
    if (job === undefined) this.#answerNotFound(call);
    else if (job.change === 'accept') this.#park(job, call);
    else if (job.isFinal) {
      if (!this.#reads.ask(call)) this.#refuseCall(call, 500, 'too many results are being read');
    } else if (job.input !== undefined)
      this.#answerStatus(call, 102, 'WAITING_CLIENT_INPUT', { input_request: job.input });
    else this.#answerStatus(call, 300, job.state);
  }

  #delete(call: NfpIncomingCall): void {
    const job = this.#jobs.get(call.uuid);
    if (job === undefined) this.#answerNotFound(call);
    else if (job.change !== undefined) this.#park(job, call);
    else if (job.isFinal) this.#remove(job, call);
    else if (job.run !== undefined) this.#cancel(job, job.run, call);
    else if (job.state === 'PENDING') {
      this.#jobs.unqueue(job);
      this.#finish(job, 'CANCELLED', 'null', ['cancelled'], call);
    } else this.#refuseCall(call, 500, 'worker is leaving');
  }

  /** The task is told to stop; a crash meanwhile must not run the job again. */
  #cancel(job: NfpJob, run: number, call: NfpIncomingCall): void {
    if (job.cancelling) {
      this.#answerStatus(call, 200, 'CANCELLING');
      return;
    }
    job.cancelling = true;
    this.#effects.push({ kind: 'abort', run, reason: 'deleted' });
    this.#writes.add({ kind: 'mark', job, puts: [[jobKeys.job(job.uuid), encodeJob(job)]], removes: [], call });
  }

  #put(call: NfpIncomingCall): void {
    const job = this.#jobs.get(call.uuid);
    if (job?.change === 'accept' || job?.change === 'start') {
      this.#park(job, call);
      return;
    }
    if (job?.run === undefined) {
      this.#drop('put');
      return;
    }
    const answer = job.input === undefined ? undefined : readInput(call.body, job.input.id);
    if (answer === undefined) this.#effects.push({ kind: 'put', run: job.run, body: call.body });
    else this.#answered(job, answer);
  }

  #manage(call: NfpIncomingCall, now: number): void {
    const { endpoints: _endpoints, name, service, concurrency, taskList, managementCommands } = this.#options;
    const answer = managementAnswer(call.body, managementCommands, {
      show_broker: () => ({
        endpoint: this.#link.endpoint,
        state: this.#link.isOpen ? 'connected' : 'reconnecting',
        'last seen (s)': this.#heardAt === undefined ? '' : Math.floor((now - this.#heardAt) / 1000).toString(),
        keepalives: this.#keepalives,
      }),
      show_workers: () => [
        {
          name,
          service,
          status: 'alive',
          concurrency,
          running: this.#runs.size,
          jobs: this.#jobs.counts,
          tasks: taskList,
        },
      ],
      show_clients: () => this.#posters.list(now),
    });
    if (answer.status !== 200) this.#refuseCall(call, answer.status, answer.error, 'mmi');
    else this.#answer(addressOf(call), 'mmi', call.uuid, 200, encodeNfpJson(answer.result));
    if (answer.command !== undefined) this.#obey(answer.command, now);
  }

  #obey(task: NfpManagementCommand, now: number): void {
    this.#note({ code: 'management', task });
    if (task === 'shutdown') {
      this.#drain(now);
      return;
    }
    this.#leaveConversation('management');
    this.#link.lost(now, false);
  }

  #park(job: NfpJob, call: NfpIncomingCall): void {
    job.parked ??= [];
    if (job.parked.length < PARKED_MAX) job.parked.push(call);
    else if (call.command === 'put') this.#drop('put');
    else this.#refuseCall(call, 500, 'job is busy');
  }

  #unpark(job: NfpJob, now: number): void {
    const calls = job.parked ?? [];
    job.parked = undefined;
    for (const call of calls) this.#call(call, now);
  }

  // The life of a job.

  /** Jobs that were here before: finished ones are kept, the others go on in the order they were accepted. */
  #recover(stored: readonly NfpStoredJob[], now: number): void {
    const wallMs = this.#wallMs();
    const finished: NfpJob[] = [];
    for (const each of [...stored].sort((a, b) => a.seq - b.seq)) {
      const job = new NfpJob(each);
      this.#seq = Math.max(this.#seq, job.seq);
      this.#jobs.add(job);
      if (job.isFinal) finished.push(job);
      else this.#resume(job);
    }
    finished.sort((a, b) => a.endedAt - b.endedAt);
    for (const job of finished) this.#jobs.keep(job, now - Math.max(0, wallMs - job.endedAt));
    this.#trim();
  }

  #resume(job: NfpJob): void {
    const wasRunning = job.state === 'STARTED';
    const { crashPolicy, maxRuns } = this.#options;
    if (wasRunning && job.cancelling) this.#finish(job, 'CANCELLED', 'null', ['cancelled']);
    else if (wasRunning && (crashPolicy === 'fail' || job.runs >= maxRuns))
      this.#finish(job, 'FAILED', 'null', ['interrupted']);
    else {
      this.#jobs.setState(job, 'PENDING');
      this.#jobs.enqueue(job);
    }
  }

  #fill(now: number): void {
    while (this.#leaving === 'no' && this.#stalledUntil <= now && this.#busy < this.#options.concurrency) {
      const job = this.#jobs.dequeue();
      if (job === undefined) return;
      job.change = 'start';
      this.#takeSlot(job);
      const record = encodeJob(job, { state: 'STARTED' });
      this.#writes.add({ kind: 'start', job, puts: [[jobKeys.job(job.uuid), record]], removes: [] });
    }
  }

  #takeSlot(job: NfpJob): void {
    this.#busy++;
    job.run = ++this.#run;
    job.runs++;
    job.startedAt = this.#wallMs();
  }

  #freeSlot(job: NfpJob): void {
    this.#busy--;
    job.run = undefined;
  }

  /** The change is durable. */
  #written(write: Write, now: number): void {
    const { job, call } = write;
    if (write.kind === 'mark') {
      if (call !== undefined) this.#answerStatus(call, 200, 'CANCELLING');
      return;
    }
    job.change = undefined;
    switch (write.kind) {
      case 'accept':
        this.#accepted(job, write);
        break;
      case 'start':
        this.#jobs.setState(job, 'STARTED');
        this.#begin(job, undefined);
        break;
      case 'finish':
        this.#finished(job, write, now);
        break;
      case 'remove':
        this.#jobs.delete(job);
        if (call !== undefined) this.#answerStatus(call, 200, 'DELETED');
        break;
    }
    this.#unpark(job, now);
  }

  #accepted(job: NfpJob, write: Write): void {
    const call = write.call as NfpIncomingCall;
    this.#acceptingBytes -= (call.body[0] as Uint8Array).length;
    this.#note({ code: 'job-accepted', uuid: job.uuid, task: job.task });
    this.#answerAccepted(call);
    if (job.run === undefined) this.#jobs.enqueue(job);
    else {
      this.#jobs.setState(job, 'STARTED');
      this.#begin(job, write.body);
    }
  }

  #begin(job: NfpJob, call: NfpCallBody | undefined): void {
    const run = job.run as number;
    if (this.#isGone()) {
      this.#interrupt(job);
      return;
    }
    const { uuid, task, replyTo, timeoutMs, runs: attempt } = job;
    this.#runs.set(run, job);
    this.#note({ code: 'job-started', uuid, task, attempt });
    this.#effects.push({ kind: 'run', run, uuid, task, replyTo, timeoutMs, attempt, call });
    this.#progress(job, 'starting', 'running', 'INFO');
  }

  #done(run: number, outcome: NfpTaskOutcome): void {
    const job = this.#runs.get(run);
    if (job === undefined) return;
    this.#runs.delete(run);
    this.#forgetQuestion(job);
    if (job.cancelling) {
      this.#freeSlot(job);
      this.#finish(job, 'CANCELLED', 'null', ['cancelled']);
    } else if ('result' in outcome) {
      this.#freeSlot(job);
      this.#finish(job, 'COMPLETED', outcome.result, []);
    } else if (this.#isGone()) this.#interrupt(job);
    else {
      this.#freeSlot(job);
      this.#finish(job, 'FAILED', 'null', outcome.errors);
    }
  }

  /** It stays on the disk as it is, and the next start treats it as a crash would. */
  #interrupt(job: NfpJob): void {
    this.#freeSlot(job);
    this.#note({ code: 'job-interrupted', uuid: job.uuid, task: job.task });
  }

  #finish(job: NfpJob, state: NfpFinalState, result: string, errors: readonly string[], call?: NfpIncomingCall): void {
    const { uuid, task, startedAt } = job;
    const endedAt = this.#wallMs();
    const outcome = { uuid, task, startedAt, endedAt, status: STATUS[state], result, errors };
    const body = resultBody(this.#self, outcome);
    const max = this.#options.maxMessageBytes - ENVELOPE_BYTES;
    if (body.length > max && state === 'COMPLETED') {
      this.#finish(job, 'FAILED', 'null', [`result of ${body.length} bytes: allowed are ${max}`]);
      return;
    }
    job.change = 'finish';
    job.endedAt = endedAt;
    const puts: Write['puts'][number][] = [
      [jobKeys.job(uuid), encodeJob(job, { state })],
      [jobKeys.result(uuid), body],
    ];
    if (job.log.length > 0) puts.push([jobKeys.events(uuid), joinJson(job.log)]);
    this.#writes.add({ kind: 'finish', job, puts, removes: [jobKeys.call(uuid)], state, call });
  }

  #finished(job: NfpJob, write: Write, now: number): void {
    const state = write.state as NfpFinalState;
    this.#jobs.setState(job, state);
    this.#jobs.keep(job, now);
    this.#note({ code: 'job-finished', uuid: job.uuid, task: job.task, state });
    if (write.call !== undefined) this.#answerStatus(write.call, 200, 'CANCELLED');
    this.#progress(job, 'completed', STATUS[state], state === 'FAILED' ? 'ERROR' : 'INFO');
    job.log = [];
    this.#trim();
  }

  /** More results than may be kept: the oldest leave. */
  #trim(): void {
    let count = 0;
    for (; this.#jobs.finished > this.#options.resultsMax; count++) this.#remove(this.#jobs.oldest() as NfpJob);
    if (count > 0) this.#note({ code: 'results-removed', count });
  }

  #sweep(now: number): void {
    let count = 0;
    for (; count < SWEEP_MAX; count++) {
      const job = this.#jobs.takeDue(now);
      if (job === undefined) break;
      this.#remove(job);
    }
    if (count === 0) return;
    this.#sweepAfter = now + SWEEP_EVERY_MS;
    this.#note({ code: 'results-removed', count });
  }

  #remove(job: NfpJob, call?: NfpIncomingCall): void {
    const { uuid } = job;
    this.#jobs.release(job);
    job.change = 'remove';
    const removes = [jobKeys.job(uuid), jobKeys.call(uuid), jobKeys.result(uuid), jobKeys.events(uuid)];
    this.#writes.add({ kind: 'remove', job, puts: [], removes, call });
  }

  /** Nothing of it was kept. Who is not accepted yet is refused; what else has happened has happened, and is written again. */
  #commitFailed(writes: readonly Write[], message: string, now: number): void {
    if (writes.length === 0) return;
    this.#note({ code: 'store-failed', message });
    const isStaying = this.#leaving === 'no';
    if (isStaying) this.#stalledUntil = now + STORE_RETRY_MS;
    this.#writes.again(writes.filter(({ kind }) => isStaying && kind !== 'accept' && kind !== 'start'));
    // From the last to the first, so that jobs are back in the queue in their order.
    for (const write of [...writes].reverse())
      if (!isStaying || write.kind === 'accept' || write.kind === 'start') this.#giveUp(write, now);
  }

  /** A change that will not be written: a job that is lost by that is done again after the next start. */
  #giveUp({ kind, job, call }: Write, now: number): void {
    switch (kind) {
      case 'accept':
        this.#acceptingBytes -= ((call as NfpIncomingCall).body[0] as Uint8Array).length;
        if (job.run !== undefined) this.#freeSlot(job);
        job.change = undefined;
        this.#jobs.delete(job);
        this.#refuse(call as NfpIncomingCall, 500, 'store', 'store did not take the job');
        this.#unpark(job, now);
        break;
      case 'start':
        job.change = undefined;
        job.runs--;
        this.#freeSlot(job);
        this.#jobs.putBack(job);
        this.#unpark(job, now);
        break;
      case 'finish':
        this.#note({ code: 'job-interrupted', uuid: job.uuid, task: job.task });
        break;
      case 'mark':
      case 'remove':
        if (call !== undefined) this.#refuseCall(call, 500, 'store does not take changes');
        break;
    }
  }

  // Results.

  #loaded(load: number, value: Uint8Array | undefined): void {
    const call = this.#reads.settle(load);
    if (call === undefined) return;
    if (value === undefined) this.#answerNotFound(call);
    else this.#answer(addressOf(call), 'response', call.uuid, 200, [value]);
  }

  #loadFailed(load: number): void {
    const call = this.#reads.settle(load);
    if (call !== undefined) this.#refuseCall(call, 500, 'store cannot be read');
  }

  // What a running task says.

  #progress(job: NfpJob, message: string, status: string, severity: NfpEventText['severity']): void {
    this.#event(job, { uuid: job.uuid, task: job.task, type: 'progress', message, status, severity });
  }

  #event(job: NfpJob, text: NfpEventText): void {
    this.#tell(job, eventBody(this.#self, text, this.#wallMs()));
  }

  #tell(job: NfpJob | undefined, body: NfpBody): void {
    if (job === undefined) return;
    if (job.log.length === LOG_MAX) job.log.shift();
    job.log.push(body[0] as Uint8Array);
    this.#answer(job.replyTo, 'event', job.uuid, 200, body);
  }

  #stream(job: NfpJob | undefined, chunk: Uint8Array): void {
    if (job !== undefined) this.#answer(job.replyTo, 'stream', job.uuid, 200, [chunk]);
  }

  #ask(job: NfpJob | undefined, asked: NfpQuestion, now: number): void {
    if (job === undefined || job.input !== undefined) return;
    const { id, question, metadata, timeoutMs } = asked;
    const timeout = timeoutMs / 1000;
    job.input = { id, question, default: asked.default, timeout, metadata };
    job.inputDue ??= new HeapDeadline(job);
    this.#questions.set(job.inputDue, now + timeoutMs);
    const { uuid, task } = job;
    const status = 'waiting_client_input';
    const extras = { input_request: job.input };
    this.#event(job, {
      uuid,
      task,
      type: 'input_request',
      message: question,
      status,
      severity: 'INFO',
      extras,
      timeout,
    });
  }

  #answered(job: NfpJob, outcome: NfpInputOutcome): void {
    const { id } = job.input as NonNullable<NfpJob['input']>;
    const { uuid, task } = job;
    this.#forgetQuestion(job);
    this.#effects.push({ kind: 'input', run: job.run as number, id, outcome });
    const extras = { input_response: { id, outcome: outcome.kind } };
    const message = `client input: ${outcome.kind}`;
    this.#event(job, { uuid, task, type: 'input_response', message, status: 'running', severity: 'INFO', extras });
  }

  #forgetQuestion(job: NfpJob): void {
    job.input = undefined;
    if (job.inputDue !== undefined) this.#questions.remove(job.inputDue);
  }

  // The end.

  #drain(now: number): void {
    if (this.#leaving !== 'no') return;
    if (this.#phase === 'new') {
      this.#end();
      return;
    }
    this.#drainAt = now + this.#options.drainMs;
    this.#leave('draining', now);
  }

  #leaveAtOnce(reason: 'closed' | 'drain-timeout', now: number): void {
    if (this.#isGone()) return;
    if (this.#phase === 'new') {
      this.#end();
      return;
    }
    this.#drainAt = Infinity;
    this.#leave(reason, now);
    for (const run of this.#runs.keys()) this.#effects.push({ kind: 'abort', run, reason });
    this.#leaveConversation(reason);
    this.#link.stop();
  }

  /** What waits for a disk that is broken would wait for ever. */
  #leave(how: 'draining' | NfpWorkerLeaveReason, now: number): void {
    this.#leaving = how;
    if (this.#stalledUntil > -Infinity) for (const write of this.#writes.drop().reverse()) this.#giveUp(write, now);
    this.#stalledUntil = -Infinity;
  }

  /** Tasks are told to stop, and the conversation is over. */
  #isGone(): boolean {
    return this.#leaving !== 'no' && this.#leaving !== 'draining';
  }

  #end(): void {
    this.#leaveConversation('drained');
    this.#link.stop();
    this.#phase = 'ended';
    this.#effects.push({ kind: 'ended' });
  }

  #timer(lateMs: number, now: number): void {
    this.#link.credit(lateMs, now);
    if (this.#drainAt <= now) this.#leaveAtOnce('drain-timeout', now);
    if (this.#stalledUntil <= now) this.#stalledUntil = -Infinity;
    for (let job = this.#questions.takeDue(now); job !== undefined; job = this.#questions.takeDue(now))
      this.#answered(job, { kind: 'timeout' });
    if (this.#leaving === 'no' && this.#sweepAfter <= now && this.#stalledUntil <= now) this.#sweep(now);
    for (let due = this.#link.takeDue(now); due !== undefined; due = this.#link.takeDue(now)) this.#due(due, now);
  }

  #due(due: LinkDue, now: number): void {
    switch (due) {
      case 'open':
        this.#open(now);
        break;
      case 'heartbeat':
        this.#send({ kind: 'worker-keepalive', form: this.#options.commandForm, service: this.#options.service });
        break;
      case 'silent':
        this.#lose('silent', now);
        break;
    }
  }

  // What goes out.

  #answerAccepted(call: NfpIncomingCall, more: object = {}): void {
    this.#answerStatus(call, this.#options.dialect === 'current' ? 201 : 202, 'ACCEPTED', more);
  }

  #answerNotFound(call: NfpIncomingCall): void {
    this.#answerStatus(call, 404, 'JOB NOT FOUND');
  }

  #answerStatus(call: NfpIncomingCall, status: number, text: string, more: object = {}): void {
    this.#answer(addressOf(call), 'response', call.uuid, status, statusBody(this.#self, call.uuid, text, more));
  }

  #refuse(call: NfpIncomingCall, status: number, reason: NfpRefusalReason, error: string): void {
    this.#note({ code: 'job-refused', uuid: call.uuid, reason });
    this.#refuseCall(call, status, error);
  }

  #refuseCall(call: NfpIncomingCall, status: number, error: string, command: NfpAnswer = 'response'): void {
    const body = statusBody(this.#self, call.uuid, 'FAILED', { errors: [error] });
    this.#answer(addressOf(call), command, call.uuid, status, body);
  }

  #answer(to: NfpReplyTo, command: NfpAnswer, uuid: string, status: number, body: NfpBody): void {
    const { commandForm: form, service } = this.#options;
    if (!this.#link.isOpen) this.#note({ code: 'unsent' });
    else if (to === undefined) this.#send({ kind: 'worker-table-answer', form, command, service, uuid, status, body });
    else this.#send({ kind: 'worker-answer', form, command, client: to, uuid, status, body });
  }

  #isCurrent(socket: number): boolean {
    return this.#link.isOpen && socket === this.#socket;
  }

  #wallMs(): number {
    return Math.floor(this.#world.wallMicros() / 1000);
  }

  #drop(reason: NfpWorkerDropReason): void {
    this.#note({ code: 'message-dropped', reason });
  }

  #send(command: NfpFromWorker): void {
    this.#effects.push({ kind: 'send', socket: this.#socket, command });
  }

  #note(note: NfpWorkerNote): void {
    this.#effects.push({ kind: 'note', note });
  }
}

const STATUS = { COMPLETED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled' } as const;

function addressOf(call: NfpIncomingCall): NfpReplyTo {
  return call.kind === 'worker-call' ? call.client : undefined;
}

/** The answer to the question of this id in the body of a PUT; `undefined` when it is something else. */
function readInput(body: NfpBody, id: string): NfpInputOutcome | undefined {
  const value = decodeNfpJson(body);
  if (typeof value !== 'object' || value === null || !('input_id' in value) || value.input_id !== id) return undefined;
  if ('cancel' in value && value.cancel === true) return { kind: 'refused' };
  return { kind: 'answered', value: 'value' in value ? value.value : null };
}

/** A list of JSON texts as one. */
function joinJson(texts: readonly Uint8Array[]): Uint8Array {
  const size = texts.reduce((sum, { length }) => sum + length + 1, 1);
  const joined = new Uint8Array(size);
  let at = 0;
  for (const text of texts) {
    joined[at++] = at === 1 ? 0x5b : 0x2c;
    joined.set(text, at);
    at += text.length;
  }
  joined[at] = 0x5d;
  return joined;
}
