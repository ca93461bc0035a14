/** The management interface of an NFP worker, service `mmi.service.worker`: section 8 of docs/protocols/nfp.md. */
import { decodeNfpTask } from '@proj/frames/nfp';
import { addressOf } from './answers.js';
import type { Answers } from './answers.js';
import { joinJson } from './bodies.js';
import type { BrokerConversation } from './connection.js';
import { jobKeys } from './job.js';
import type { NfpIncomingCall } from './job.js';
import type { NfpJobs } from './jobs.js';
import type { Output } from './output.js';
import { SubmitterStats } from './submitter-stats.js';
import type { ResultReads } from './result-reads.js';
import type { NfpWorkerSessionOptions } from './session-options.js';
import type { Slots } from './slots.js';

/** Commands that change something; refused unless the option allows them. */
type NfpManagementCommand = 'restart' | 'shutdown' | 'disconnect';

const COMMANDS: Readonly<Record<NfpManagementCommand, string>> = {
  restart: 'restarting',
  shutdown: 'shutting down',
  disconnect: 'disconnecting',
};

/** What a worker answers to a management call. */
type NfpManagementAnswer =
  | { readonly status: 200; readonly result: unknown; readonly command?: NfpManagementCommand }
  | { readonly status: 400; readonly error: string; readonly command?: undefined };

/** What {@link Management} works with. */
export interface ManagementParts {
  readonly options: NfpWorkerSessionOptions;
  readonly output: Output;
  readonly connection: BrokerConversation;
  readonly answers: Answers;
  readonly jobs: NfpJobs;
  readonly slots: Slots;
  readonly reads: ResultReads;
  /** The worker was told to shut down. */
  readonly onShutdown: (now: number) => void;
  /** It was told to restart. */
  readonly onRestart: (now: number) => void;
  /** Nothing begins, since it restarts. */
  readonly isRestarting: () => boolean;
}

/** Shows what the worker is and does, and obeys where it may. */
export class Management {
  readonly #parts: ManagementParts;
  readonly #posters = new SubmitterStats();

  constructor(parts: ManagementParts) {
    this.#parts = parts;
  }

  /** A job was posted, which is about to be accepted. */
  posted(call: NfpIncomingCall, now: number): void {
    const client = addressOf(call);
    if (client !== undefined) this.#posters.posted(client, now);
  }

  /** Answers a call, and then does what it commands. */
  take(call: NfpIncomingCall, now: number): void {
    const { options, connection, answers } = this.#parts;
    const { task, kwargs = {} } = decodeNfpTask(call.body) ?? {};
    if (task === 'show_events') {
      this.#showEvents(call, kwargs['uuid']);
      return;
    }
    const answer = managementAnswer(task, options.managementCommands, {
      show_broker: () => connection.describe(now),
      show_workers: () => [this.#describe()],
      show_clients: () => this.#posters.list(now),
    });
    if (answer.status !== 200) answers.fail(call, answer.status, answer.error, 'mmi');
    else answers.management(call, answer.result);
    if (answer.command !== undefined) this.#obey(answer.command, now);
  }

  #describe(): object {
    const { options, slots, jobs, isRestarting } = this.#parts;
    const { name, service, concurrency, taskList: tasks } = options;
    const status = isRestarting() ? 'restarting' : 'alive';
    return { name, service, status, concurrency, running: slots.running.size, jobs: jobs.counts, tasks };
  }

  /** What a job has told so far: of one that has ended, from the disk. */
  #showEvents(call: NfpIncomingCall, uuid: unknown): void {
    const { answers, jobs, reads } = this.#parts;
    const job = typeof uuid === 'string' ? jobs.get(uuid) : undefined;
    if (job === undefined) answers.fail(call, 404, 'job not found', 'mmi');
    else if (!job.isFinal) answers.events(call, joinJson(job.log));
    else if (!reads.ask(call, jobKeys.events(job.uuid)))
      answers.fail(call, 500, 'too many results are being read', 'mmi');
  }

  #obey(task: NfpManagementCommand, now: number): void {
    const { output, connection, onShutdown, onRestart } = this.#parts;
    output.note({ code: 'management', task });
    if (task === 'shutdown') onShutdown(now);
    else if (task === 'restart') onRestart(now);
    else connection.renew(now);
  }
}

/** The answer to a management call, and the command that is to be obeyed after it. `shows` are the questions by name. */
function managementAnswer(
  task: string | undefined,
  commandsAllowed: boolean,
  shows: Readonly<Record<'show_broker' | 'show_workers' | 'show_clients', () => unknown>>,
): NfpManagementAnswer {
  if (task === undefined) return { status: 400, error: 'body is not a task' };
  if (isKeyOf(shows, task)) return { status: 200, result: shows[task]() };
  if (!isKeyOf(COMMANDS, task)) return { status: 200, result: `Unsupported task '${task}'` };
  if (!commandsAllowed) return { status: 400, error: `management command '${task}' is not enabled` };
  return { status: 200, result: COMMANDS[task], command: task };
}

function isKeyOf<Known extends object>(known: Known, key: PropertyKey): key is keyof Known {
  return Object.hasOwn(known, key);
}
