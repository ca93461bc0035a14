/**
 * The management interface of an NFP worker, service `mmi.service.worker`, and the steps of a restart. Section 8 of docs/protocols/nfp.md,
 * worker rules 14 and 15.
 */
import { latin1 } from '@proj/frames';
import { decodeNfpTask, nfpNameOf } from '@proj/frames/nfp';
import { addressOf } from './jobs/answers.js';
import type { Answers } from './jobs/answers.js';
import { joinJson } from './jobs/bodies.js';
import type { BrokerConversation } from './broker-connection.js';
import type { NfpIncomingCall, NfpWorkerSessionOptions, NfpOutput } from './events.js';
import { jobKeys } from './records.js';
import type { ResultReads } from './records.js';
import type { NfpJobs, Slots } from './state.js';

/** Number of remembered clients; the least recently seen are dropped first. */
const CLIENTS_MAX = 1000;

/** Commands that change something, and their answers. Rejected unless the option allows them. */
const COMMANDS = { restart: 'restarting', shutdown: 'shutting down', disconnect: 'disconnecting' } as const;

/** The parts that {@link Management} uses. */
export interface ManagementParts {
  readonly options: NfpWorkerSessionOptions;
  readonly out: NfpOutput;
  readonly connection: BrokerConversation;
  readonly answers: Answers;
  readonly jobs: NfpJobs;
  readonly slots: Slots;
  readonly reads: ResultReads;
  readonly restart: Restart;
  /** The worker was told to shut down. */
  readonly onShutdown: () => void;
}

/** Shows the worker's state, and executes commands if allowed. */
export class Management {
  readonly #parts: ManagementParts;
  readonly #submitters: SubmitterStats;

  constructor(parts: ManagementParts) {
    this.#parts = parts;
    this.#submitters = new SubmitterStats(parts.out);
  }

  /** A job was posted and is about to be accepted. */
  posted(call: NfpIncomingCall): void {
    const client = addressOf(call);
    if (client !== undefined) this.#submitters.posted(client);
  }

  /** Answers a call, and then executes its command. */
  take(call: NfpIncomingCall): void {
    const { options, connection, answers } = this.#parts;
    const { task, kwargs = {} } = decodeNfpTask(call.body) ?? {};
    if (task === undefined) answers.fail(call, 400, 'body is not a task', 'mmi');
    else if (task === 'show_events') this.#showEvents(call, kwargs['uuid']);
    else if (task === 'show_broker') answers.management(call, connection.describe());
    else if (task === 'show_workers') answers.management(call, [this.#describe()]);
    else if (task === 'show_clients') answers.management(call, this.#submitters.list());
    else if (!isCommand(task)) answers.management(call, `Unsupported task '${task}'`);
    else if (!options.managementCommands) answers.fail(call, 400, `management command '${task}' is not enabled`, 'mmi');
    else {
      answers.management(call, COMMANDS[task]);
      this.#obey(task);
    }
  }

  #describe(): object {
    const { options, slots, jobs, restart } = this.#parts;
    const { name, service, concurrency, taskList: tasks } = options;
    const status = restart.isUnderWay ? 'restarting' : 'alive';
    return { name, service, status, concurrency, running: slots.running.size, jobs: jobs.counts, tasks };
  }

  /** The events of a job so far; those of a finished one are in the store. */
  #showEvents(call: NfpIncomingCall, uuid: unknown): void {
    const { answers, jobs, reads } = this.#parts;
    const job = typeof uuid === 'string' ? jobs.get(uuid) : undefined;
    if (job === undefined) answers.fail(call, 404, 'job not found', 'mmi');
    else if (!job.isFinal) answers.events(call, joinJson(job.log));
    else if (!reads.ask(call, jobKeys.events(job.uuid)))
      answers.fail(call, 500, 'too many results are being read', 'mmi');
  }

  #obey(task: keyof typeof COMMANDS): void {
    const { out, connection, restart, onShutdown } = this.#parts;
    out.report({ code: 'management', task });
    if (task === 'shutdown') onShutdown();
    else if (task === 'restart') restart.begin();
    else connection.renew();
  }
}

/**
 * Keeps the steps of a restart in order; its owner performs them. `draining`: tasks may end. `stopping`: they are told to stop. `renewing`: they
 * have ended.
 */
export class Restart {
  readonly #drainMs: number;
  readonly #out: NfpOutput;
  #phase: 'no' | 'draining' | 'stopping' | 'renewing' = 'no';
  #dueAt = Infinity;

  /** `drainMs`: how long running tasks may continue, and how long to wait for those told to stop. */
  constructor(drainMs: number, out: NfpOutput) {
    this.#drainMs = drainMs;
    this.#out = out;
  }

  /** True from the command until the worker serves again: nothing begins. */
  get isUnderWay(): boolean {
    return this.#phase !== 'no';
  }

  /** When the next step is due, however many tasks still run. */
  get deadline(): number {
    return this.#dueAt;
  }

  begin(): void {
    if (this.isUnderWay) return;
    this.#phase = 'draining';
    this.#dueAt = this.#out.now + this.#drainMs;
  }

  /** True once: running tasks have had their time and must be told to stop. */
  takeStop(): boolean {
    if (this.#phase !== 'draining' || this.#out.now < this.#dueAt) return false;
    this.#phase = 'stopping';
    this.#dueAt = this.#out.now + this.#drainMs;
    return true;
  }

  /** True once: no task runs, or those that do not stop have had their time; inventory and hook are next. */
  takeRenewal(isIdle: boolean): boolean {
    const isOver = isIdle || (this.#phase === 'stopping' && this.#out.now >= this.#dueAt);
    if (!isOver || (this.#phase !== 'draining' && this.#phase !== 'stopping')) return false;
    this.#phase = 'renewing';
    this.#dueAt = Infinity;
    return true;
  }

  /** Inventory and hook are done. True if that was awaited: the worker serves again. */
  end(): boolean {
    const wasRenewing = this.#phase === 'renewing';
    if (wasRenewing) this.#phase = 'no';
    return wasRenewing;
  }

  /** The worker leaves instead. */
  cancel(): void {
    this.#phase = 'no';
    this.#dueAt = Infinity;
  }
}

interface Submitter {
  readonly name: string;
  readonly since: number;
  seenAt: number;
  jobs: number;
}

/** Clients that posted jobs, as `show_clients` shows them. */
export class SubmitterStats {
  readonly #out: NfpOutput;
  readonly #clients = new Map<string, Submitter>();

  constructor(out: NfpOutput) {
    this.#out = out;
  }

  posted(address: Uint8Array): void {
    const { now } = this.#out;
    const key = latin1(address);
    const client = this.#clients.get(key) ?? { name: nfpNameOf(address), since: now, seenAt: now, jobs: 0 };
    client.seenAt = now;
    client.jobs++;
    this.#clients.delete(key);
    this.#clients.set(key, client);
    if (this.#clients.size > CLIENTS_MAX) this.#clients.delete(this.#clients.keys().next().value as string);
  }

  /** A row of placeholders if there is none, as the broker does. */
  list(): object[] {
    const { now } = this.#out;
    const rows = [...this.#clients.values()].map(({ name, since, seenAt, jobs }) => ({
      name,
      'alive (s)': seconds(now - since),
      'idle (s)': seconds(now - seenAt),
      jobs,
    }));
    return rows.length > 0 ? rows : [{ name: '', 'alive (s)': '', 'idle (s)': '', jobs: 0 }];
  }
}

/** Whole seconds, in NORFAB's form. */
function seconds(ms: number): string {
  return Math.floor(ms / 1000).toString();
}

function isCommand(task: string): task is keyof typeof COMMANDS {
  return Object.hasOwn(COMMANDS, task);
}
