/** Runs an NFP worker's session: owns its sockets, its store and its running tasks. All decisions are the session's. */
import { decodeNfpAtWorker, encodeNfp, nfpNameOf, nfpRoutingId } from '@proj/frames/nfp';
import { isProjError, ProjError, SessionHost } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import type { HandshakeRefusal, PortOptions, RecordBatch, RecordStore, Transport } from '@proj/transport';
import { untilRoom } from '@proj/transport/service';
import { carrierInJson } from '@proj/transport/tracing';
import type { TracedCall, Tracing } from '@proj/transport/tracing';
import { BrokerServices } from './broker-services.js';
import { readCall } from './engine/jobs/call-handler.js';
import type { NfpAbortReason, NfpCallBody, NfpRun, NfpStoredJob, NfpTaskOutcome } from './engine/events.js';
import type { NfpWorkerEffect, NfpWorkerEvent, NfpWorkerNote } from './engine/events.js';
import { decodeJob, JOB_PREFIX, jobKeys } from './engine/records.js';
import type { NfpWorkerSession } from './engine/session.js';
import type { NfpWorkerSettings } from './options.js';
import { errorText, failedResult } from './task-book.js';
import type { TaskBook } from './task-book.js';
import { TaskRun } from './task-run.js';
import type { TaskRunHost } from './task-run.js';

/** Answers that may wait while the broker does not read. */
const ANSWERS_MAX = 10_000;

/** What a worker supplies. */
export interface NfpHostProgram {
  readonly settings: NfpWorkerSettings;
  readonly session: NfpWorkerSession;
  readonly store: RecordStore;
  readonly tasks: TaskBook;
  readonly tracing: Tracing;
  readonly onNote: (note: NfpWorkerNote) => void;
  /** A task threw, the store failed, or a socket did. `uuid`: the job's, if there is one. */
  readonly onError: (error: unknown, uuid?: string) => void;
  readonly onPutDropped: () => void;
  /** A CURVE handshake failed; it will be retried. */
  readonly onRefused: (refusal: HandshakeRefusal) => void;
}

/** Runs one session from {@link start} to {@link finish}. */
export class NfpWorkerHost {
  readonly #program: NfpHostProgram;
  readonly #transport: Transport;
  readonly #host: SessionHost<NfpWorkerEvent, NfpWorkerEffect>;
  readonly #runs = new Map<number, TaskRun>();
  readonly #taskHost: TaskRunHost;
  /** The broker's inventory and files. */
  readonly services: BrokerServices;
  #over: Promise<void> | undefined;

  /** The transport must be loaded, and the store open. */
  constructor(program: NfpHostProgram, transport: Transport) {
    this.#program = program;
    this.#transport = transport;
    this.#host = new SessionHost<NfpWorkerEvent, NfpWorkerEffect>(
      {
        engine: program.session,
        perform: this.#perform,
        onMessage: (socket, frames) => ({ kind: 'message', socket, command: decodeNfpAtWorker(frames) }),
        onRejected: (socket, reason) => ({ kind: 'rejected', socket, reason }),
        onLost: (socket, reason) => ({ kind: 'lost', socket, reason }),
        onUndeliverable: (socket) => ({ kind: 'undeliverable', socket }),
        onRefused: program.onRefused,
        onError: program.onError,
      },
      transport,
    );
    this.services = new BrokerServices({
      ...program.settings,
      newId: this.#newId,
      dispatch: (question) => {
        this.#host.dispatch({ kind: 'question', question });
      },
    });
    this.#taskHost = {
      settings: program.settings,
      services: this.services,
      newId: this.#newId,
      wallMs: () => Math.floor(transport.entropy.wallMicros() / 1000),
      dispatch: this.#host.dispatch.bind(this.#host),
      room: (isOver) => untilRoom(this.#host, transport.clock, isOver),
    };
  }

  /** Reads the store and opens the first socket. Rejects if the store cannot be read or the transport refuses the endpoint. */
  async start(): Promise<void> {
    const jobs = await this.#storedJobs();
    this.#host.start({ kind: 'start', jobs });
    if (this.#program.settings.fetchInventory) void this.#refreshInventory();
  }

  /** Ends the session, after its work or at once; resolves when socket and store are closed. May be repeated. */
  async finish(how: 'drain' | 'close'): Promise<void> {
    this.#host.dispatch({ kind: how });
    await this.#host.done;
    await this.#over;
  }

  async #storedJobs(): Promise<NfpStoredJob[]> {
    const jobs: NfpStoredJob[] = [];
    for await (const [key, record] of this.#program.store.entries(JOB_PREFIX)) {
      const job = decodeJob(record);
      if (job === undefined)
        throw new ProjError(
          'CORRUPT',
          `NfpWorker: record ${key} of the store is not a job of this version: use the version that wrote it, or restore the store from a backup`,
        );
      jobs.push(job);
    }
    return jobs;
  }

  /** Never rejects: tasks that want the inventory request it again. */
  async #refreshInventory(): Promise<void> {
    await this.services.refresh().catch((error: unknown) => {
      if (!isProjError(error, 'CLOSED')) this.#program.onNote({ code: 'inventory-failed', message: errorText(error) });
    });
  }

  /** Never rejects: whatever goes wrong, the worker serves again. */
  async #restart(): Promise<void> {
    const { fetchInventory, onRestart } = this.#program.settings;
    if (fetchInventory) await this.#refreshInventory();
    else this.services.forgetInventory();
    try {
      await onRestart?.({ inventory: () => this.services.inventory() });
    } catch (error) {
      this.#program.onError(error);
    }
    this.#host.dispatch({ kind: 'restarted' });
  }

  readonly #newId = (): string => this.#transport.entropy.uuid().replaceAll('-', '');

  async #closed(): Promise<void> {
    this.services.close();
    await this.#host.over();
    await this.#program.store.close();
  }

  readonly #perform = (effect: NfpWorkerEffect): void => {
    switch (effect.kind) {
      case 'open':
        this.#host.open(effect.socket, { endpoints: [effect.endpoint], port: this.#portOptions() });
        break;
      case 'send':
        this.#host.send(effect.socket, encodeNfp(effect.command));
        break;
      case 'close':
        this.#host.closeSocket(effect.socket, effect.flush);
        break;
      case 'commit':
        void this.#commit(effect.commit, effect.batch);
        break;
      case 'load':
        void this.#load(effect.load, effect.key);
        break;
      case 'run':
        void this.#run(effect);
        break;
      case 'abort':
        this.#runs.get(effect.run)?.abort(abortion(effect.reason));
        break;
      case 'put':
        if (this.#runs.get(effect.run)?.put(effect.body) !== true) this.#program.onPutDropped();
        break;
      case 'input':
        this.#runs.get(effect.run)?.settle(effect.id, effect.outcome);
        break;
      case 'restart':
        void this.#restart();
        break;
      case 'reply':
        this.services.settle(effect.uuid, effect.reply);
        break;
      case 'note':
        this.#program.onNote(effect.note);
        break;
      case 'ended':
        this.#host.ended();
        this.#over = this.#closed();
        break;
    }
  };

  #portOptions(): PortOptions {
    const { name, maxMessageFrames, maxMessageBytes, curve } = this.#program.settings;
    const limits = { maxMessageFrames, maxMessageBytes, peerQueueMax: ANSWERS_MAX };
    return { routingId: nfpRoutingId(name), ...limits, ...clientCurve(curve) };
  }

  async #commit(commit: number, batch: RecordBatch): Promise<void> {
    try {
      await this.#program.store.commit(batch);
    } catch (error) {
      this.#program.onError(error);
      this.#host.dispatch({ kind: 'commit-failed', commit, message: errorText(error) });
      return;
    }
    this.#host.dispatch({ kind: 'committed', commit });
  }

  async #load(load: number, key: string): Promise<void> {
    let value: Uint8Array | undefined;
    try {
      value = await this.#program.store.get(key);
    } catch (error) {
      this.#program.onError(error);
      this.#host.dispatch({ kind: 'load-failed', load });
      return;
    }
    this.#host.dispatch({ kind: 'loaded', load, value });
  }

  async #run(run: NfpRun): Promise<void> {
    const task = new TaskRun(run, this.#taskHost);
    this.#runs.set(run.run, task);
    let outcome: NfpTaskOutcome;
    try {
      const call = run.call ?? (await this.#callOf(run.uuid));
      const perform = (): Promise<string> => this.#program.tasks.run(this.#toCall(run, call), task);
      task.trace = this.#program.tracing.isOn ? this.#traced(run, call) : undefined;
      outcome = { result: await (task.trace === undefined ? perform() : task.trace.run(perform)) };
      task.trace?.end();
    } catch (error) {
      task.trace?.fail(task.isAborted ? task.signal.reason : error);
      outcome = { errors: [errorText(error)], failedResult: failedResult(error) };
      // Whatever a task throws after it was told to stop is its way of stopping.
      if (!task.isAborted) this.#program.onError(error, run.uuid);
    }
    task.end();
    this.#runs.delete(run.run);
    this.#host.dispatch({ kind: 'done', run: run.run, outcome });
  }

  #traced({ uuid, attempt }: NfpRun, { task, trace }: NfpCallBody): TracedCall {
    const name = `${this.#program.settings.service}/${task}`;
    const job = { 'proj.job.id': uuid, 'proj.job.run': attempt };
    const attributes = { 'rpc.system.name': 'nfp', 'rpc.method': name, ...job };
    return this.#program.tracing.begin({ kind: 'server', name, attributes, carrier: carrierInJson(trace) });
  }

  /** The call of a job that has waited, or that an earlier start accepted: it is not kept in memory. */
  async #callOf(uuid: string): Promise<NfpCallBody> {
    const frame = await this.#program.store.get(jobKeys.call(uuid));
    const call = frame === undefined ? 'it is missing' : readCall([frame], frame.length);
    if (typeof call === 'string') throw new ProjError('CORRUPT', `call of the job in the store: ${call}`);
    return call;
  }

  #toCall({ uuid, replyTo, attempt, timeoutMs }: NfpRun, { task, args, kwargs }: NfpCallBody) {
    const { service } = this.#program.settings;
    const client = replyTo === undefined ? '' : nfpNameOf(replyTo);
    return { task, args, kwargs, uuid, client, service, timeoutMs, run: attempt };
  }
}

function abortion(reason: NfpAbortReason): ProjError {
  if (reason === 'deleted') return new ProjError('REJECTED', 'job: its client has deleted it');
  if (reason === 'restart') return new ProjError('CLOSED', 'job: interrupted, the worker restarts; it is run again');
  return new ProjError('CLOSED', `job: interrupted, the worker is closing (${reason})`);
}
