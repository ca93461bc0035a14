/** The calls of the simulated clients, the work of the simulated workers, and a record of every job. */
import type { NfpClient, NfpInputRequest, NfpJob, NfpJobRecord, NfpJobResult, NfpJobResults } from '@proj/client/nfp';
import { isProjError } from '@proj/transport';
import type { SeededRandom, VirtualTransport } from '@proj/transport/virtual';
import type { NfpTaskCall, NfpTaskContext } from '@proj/worker';
import type { RecordDisk } from '../kit/record-disk.js';
import type { Simulation } from '../kit/simulation.js';
import { sleep } from '../kit/sleep.js';
import type { ClusterPlan, ServicePlan } from './plan.js';

/** What a job asks of its task. */
interface Task {
  /** How long the work takes. Virtual milliseconds. */
  readonly ms: number;
  /** Events and chunks on the way. */
  readonly parts: number;
  readonly fails: boolean;
  readonly asks: boolean;
}

/** One job, from its POST to its outcome. */
interface Call {
  readonly uuid: string;
  /** Host of the client. */
  readonly host: string;
  readonly service: ServicePlan;
  readonly target: string | string[];
  readonly task: Task;
  /** Posted after everything was healed: it has no excuse. */
  readonly calm: boolean;
  /** After this many milliseconds its client gives it up. */
  readonly abortMs: number | undefined;
  /** The client's process; another one if that resumes the job. */
  transport: VirtualTransport;
  /** `post` has resolved. */
  posted: boolean;
  deleted: boolean;
  outcome: 'open' | 'done' | 'aborted' | 'over' | (typeof EXCUSABLE)[number];
  results: NfpJobResults;
}

/** Failures that a client may report while there are faults. */
const EXCUSABLE = ['TIMEOUT', 'REJECTED', 'WRITE_FAILED'] as const;

/** One job in ten is long: longer than a silent worker would be tolerated. Virtual milliseconds. */
const LONG_JOB_MS = 2000;
const SHORT_JOB_MS = 150;
const THINK_MS = 1200;
const TIMEOUT_MS = 10_000;
const CALM_TIMEOUT_MS = 60_000;
const UNLIMITED_MS = 3_600_000;

const ABORTED = new Error('the client has given up');

/** All jobs of a run. Wrong answers fail the simulation at once, missing ones at the end. */
export class Workload {
  readonly #simulation: Simulation;
  readonly #plan: ClusterPlan;
  readonly #calls = new Map<string, Call>();
  readonly #inputs = new Set<string>();
  /** Set when faults are over and everything has settled. */
  calm = false;
  #stopped = false;

  constructor(simulation: Simulation, plan: ClusterPlan) {
    this.#simulation = simulation;
    this.#plan = plan;
  }

  /** Nothing further starts. */
  stop(): void {
    this.#stopped = true;
  }

  /** Jobs of live processes without an outcome. */
  get open(): string[] {
    return [...this.#calls.values()]
      .filter(({ outcome, transport }) => outcome === 'open' && transport.state !== 'dead')
      .map(({ uuid }) => uuid);
  }

  /** Numbers for the summary of a run. */
  get totals(): { readonly calls: number; readonly answered: number } {
    const answered = [...this.#calls.values()].filter(({ outcome }) => outcome === 'done').length;
    return { calls: this.#calls.size, answered };
  }

  /** True for a job that was posted when all was well, and that no client wants to delete. */
  isCalm(uuid: string): boolean {
    const call = this.#calls.get(uuid);
    return call !== undefined && call.calm && call.abortMs === undefined && !call.deleted;
  }

  /** Posts one job after the other, with pauses and queries in between, until stopped. For use inside a client's process. */
  async run(client: NfpClient, transport: VirtualTransport, random: SeededRandom): Promise<void> {
    while (true) {
      await sleep(transport, random.between(0, THINK_MS));
      if (this.#stopped) return;
      if (random.chance(0.15)) await this.#question(client, random);
      else await this.#perform(client, this.#newCall(transport, random), transport);
    }
  }

  /** Resumes what an earlier process of this client has left on its disk. */
  async resume(client: NfpClient, transport: VirtualTransport, disk: RecordDisk): Promise<void> {
    const jobs = await client.start();
    const resumed = new Set(jobs.map(({ uuid }) => uuid));
    for (const call of this.#calls.values())
      if (call.host === transport.name && call.outcome === 'open' && !resumed.has(call.uuid))
        this.#isOver(call, transport, disk);
    await Promise.all(
      jobs.map((job) => {
        const call = this.#calls.get(job.uuid);
        if (call === undefined) throw new Error(`nobody has posted ${job.uuid}`);
        call.transport = transport;
        call.outcome = 'open';
        return this.#follow(job, call);
      }),
    );
  }

  /** The task of all workers. */
  async work({ uuid, args }: NfpTaskCall, context: NfpTaskContext, transport: VirtualTransport): Promise<object> {
    const { ms, parts, fails, asks } = args[0] as Task;
    const worker = transport.name;
    for (let part = 0; part < parts; part++) {
      await sleep(transport, ms / (parts + 1), context.signal);
      context.progress(`part ${part}`);
      await context.stream(`${worker} ${part}`);
    }
    const said = asks ? await context.requestInput('go on?', { default: 'nobody', timeoutMs: 3000 }) : null;
    await sleep(transport, ms / (parts + 1), context.signal);
    if (fails) throw new Error(`boom ${uuid}`);
    return { uuid, worker, said };
  }

  /** How clients answer the questions of jobs. */
  readonly input = ({ uuid, worker, id }: NfpInputRequest): string => {
    const question = `${worker}/${uuid}/${id}`;
    if (this.#inputs.has(question) && this.isCalm(uuid)) this.#simulation.fail(`${question} was asked twice`);
    this.#inputs.add(question);
    return `yes ${uuid}`;
  };

  #newCall(transport: VirtualTransport, random: SeededRandom): Call {
    const service = random.pick(this.#plan.services);
    const names = workersOf(service);
    const some = names.filter(() => random.chance(0.5));
    const call: Call = {
      uuid: `${transport.name}-${this.#calls.size}`,
      host: transport.name,
      service,
      target: random.pick(['any', 'any', 'all', random.pick(names), some.length > 0 ? some : 'any']),
      task: {
        ms: random.next() * (random.chance(0.1) ? LONG_JOB_MS : SHORT_JOB_MS),
        parts: random.chance(0.2) ? 1 + random.below(3) : 0,
        fails: random.chance(0.1),
        asks: random.chance(0.1),
      },
      calm: this.calm,
      abortMs: random.chance(0.1) ? random.between(0, 300) : undefined,
      transport,
      posted: false,
      deleted: false,
      outcome: 'open',
      results: {},
    };
    this.#calls.set(call.uuid, call);
    return call;
  }

  async #perform(client: NfpClient, call: Call, transport: VirtualTransport): Promise<void> {
    const { uuid, service, target, task, abortMs } = call;
    const controller = new AbortController();
    const aborting =
      abortMs === undefined ? undefined : sleep(transport, abortMs).then(() => controller.abort(ABORTED));
    const chunks: string[] = [];
    try {
      const job = await client.post(service.name, 'work', {
        uuid,
        target,
        args: [task],
        timeoutMs: this.#timeoutMs(call),
        onStream: (chunk) => chunks.push(chunk.map(String).join()),
        ...(aborting === undefined ? {} : { signal: controller.signal }),
      });
      call.posted = true;
      await this.#follow(job, call);
      if (call.calm && call.outcome === 'done') await this.#verifyNews(call, job, chunks);
    } catch (error) {
      this.#failed(call, error);
    }
    await aborting;
  }

  #timeoutMs({ calm }: Call): number {
    if (this.#plan.faults === 'workers') return UNLIMITED_MS;
    return calm ? CALM_TIMEOUT_MS : TIMEOUT_MS;
  }

  /** Waits for the end of a job. Rejects with errors that are not failures of the job. */
  async #follow(job: NfpJob, call: Call): Promise<void> {
    try {
      call.results = await job.done();
    } catch (error) {
      this.#failed(call, error);
      return;
    }
    call.outcome = 'done';
    const said: string[] = [];
    for await (const { worker } of job.results()) said.push(worker);
    if (said.length !== new Set(said).size) this.#simulation.fail(`${call.uuid}: one of ${said.join()} speaks twice`);
    this.#verify(call);
  }

  #failed(call: Call, error: unknown): void {
    const { uuid, calm, target, abortMs } = call;
    if (error === ABORTED) {
      call.outcome = 'aborted';
      return;
    }
    const code = EXCUSABLE.find((excuse) => isProjError(error, excuse));
    if (code === undefined) throw error;
    call.outcome = code;
    this.#simulation.note(`${uuid} fails: ${String(error)}`);
    if (calm) this.#simulation.fail(`${uuid} failed while all was well: ${String(error)}`);
    const { faults, queueForService } = this.#plan;
    // Rule 13: three other workers are tried, or one that often.
    const isExcused = abortMs !== undefined || /were lost|sent \d+ times|cancelled/.test(String(error));
    if (faults === 'workers' && queueForService && target === 'any' && !isExcused)
      this.#simulation.fail(`${uuid} was lost: ${String(error)}`);
  }

  /** A job that the next process of its client does not resume: its record must say why. */
  #isOver(call: Call, transport: VirtualTransport, disk: RecordDisk): void {
    const value = disk.records.get(`nfp/job/${call.uuid}`);
    if (value === undefined) {
      if (call.posted) this.#simulation.fail(`${call.uuid} was posted, and its client has no record of it`);
    } else {
      const { endedAt, deadlineAt } = JSON.parse(Buffer.from(value).toString()) as NfpJobRecord;
      const wallMs = transport.entropy.wallMicros() / 1000;
      if (endedAt === undefined && deadlineAt > wallMs)
        this.#simulation.fail(`${call.uuid} was left open by its client`);
    }
    call.outcome = 'over';
  }

  #verify(call: Call): void {
    const { uuid, service, target, calm } = call;
    for (const result of Object.values(call.results)) this.#verifyResult(call, result);
    if (!calm) return;
    const actual = Object.keys(call.results).sort();
    const expected = target === 'any' ? actual.slice(0, 1) : target === 'all' ? workersOf(service) : [target].flat();
    if (actual.length === 0 || actual.join() !== [...expected].sort().join())
      this.#simulation.fail(`${uuid} for ${String(target)} has results of ${actual.join()}`);
  }

  #verifyResult(call: Call, { worker, status, failed, result, errors, value }: NfpJobResult): void {
    const { uuid, task, calm, abortMs, deleted } = call;
    const isUnwanted = abortMs !== undefined || deleted;
    const wrong = (what: string) => {
      this.#simulation.fail(`${uuid} at ${worker}: ${what}: ${status} ${JSON.stringify(value)}`);
    };
    if (status !== 200) {
      if (calm && !isUnwanted) wrong('no result while all was well');
      return;
    }
    if ((value as { readonly juuid?: unknown }).juuid !== uuid) wrong('the result of another job');
    const [error] = errors;
    if (!failed) {
      const { said } = result as { readonly said: unknown };
      const answers: unknown[] = task.asks ? [`yes ${uuid}`, ...(calm ? [] : ['nobody'])] : [null];
      if (task.fails || !answers.includes(said) || !isSame(result, { uuid, worker, said }))
        wrong('not what the task returns');
    } else if (error === `boom ${uuid}`) {
      if (!task.fails) wrong('the task does not fail');
    } else if (error === 'cancelled') {
      // A worker that a broker told to drop a job says so to whoever asks it, also when that broker is no more.
      if (!isUnwanted && (calm || this.#plan.faults === 'workers')) wrong('nobody has cancelled it');
    } else if (error !== 'interrupted' || calm) wrong('no reason to fail');
  }

  /** In the calm nothing of what a job tells gets lost. */
  async #verifyNews({ uuid, task, results }: Call, job: NfpJob, chunks: readonly string[]): Promise<void> {
    const told = new Map<string, string[]>();
    for await (const { worker = '', message = '' } of job.events())
      if (/^(starting|part \d|completed)$/.test(message)) told.set(worker, [...(told.get(worker) ?? []), message]);
    const parts = Array.from({ length: task.parts }, (_, part) => `part ${part}`);
    for (const worker of Object.keys(results)) {
      const events = told.get(worker) ?? [];
      if (!isSame(events, ['starting', ...parts, 'completed']))
        this.#simulation.fail(`${uuid} at ${worker} told ${events.join()}`);
      const streamed = chunks.filter((chunk) => chunk.startsWith(`${worker} `));
      if (
        !isSame(
          streamed,
          parts.map((_, part) => `${worker} ${part}`),
        )
      )
        this.#simulation.fail(`${uuid} at ${worker} streamed ${streamed.join()}`);
    }
  }

  /** Asks about, or deletes, a job that somebody has had done. */
  async #question(client: NfpClient, random: SeededRandom): Promise<void> {
    const calls = [...this.#calls.values()].filter(({ outcome, deleted }) => outcome === 'done' && !deleted);
    if (calls.length === 0) return;
    const call = random.pick(calls);
    const { uuid, service } = call;
    const deletes = random.chance(0.2);
    if (deletes) call.deleted = true;
    const wasCalm = this.calm;
    try {
      const answers = await client[deletes ? 'delete' : 'get'](uuid, { service: service.name });
      if (deletes || call.deleted) return;
      for (const result of Object.values(answers)) if (result.status === 200) this.#verifyResult(call, result);
      const missing = Object.values(call.results).filter(
        ({ worker, status }) => status === 200 && answers[worker]?.status !== 200,
      );
      if (wasCalm && missing.length > 0)
        this.#simulation.fail(`${missing.map(({ worker }) => worker).join()} has no result of ${uuid} any more`);
    } catch (error) {
      const isExcused = EXCUSABLE.some((excuse) => isProjError(error, excuse));
      if (!isExcused) throw error;
      const isKnown = Object.values(call.results).some(({ status }) => status === 200);
      if (wasCalm && isKnown && (deletes || !call.deleted))
        this.#simulation.fail(`nobody knows about ${uuid} any more: ${String(error)}`);
    }
  }
}

/** Names of the workers of a service. */
export function workersOf({ name, hosts }: ServicePlan): string[] {
  return Array.from({ length: hosts }, (_, index) => `${name}-worker-${index}`);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
