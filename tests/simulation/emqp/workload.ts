/** The requests of the simulated clients, their outcomes, and a record of every job. */
import type { EmqpClient } from '@proj/client';
import { isProjError } from '@proj/transport';
import type { SeededRandom, VirtualTransport } from '@proj/transport/virtual';
import type { Simulation } from '../kit/simulation.js';
import { sleep } from '../kit/sleep.js';
import type { RunObserver } from './job-hosts.js';
import { QUEUES } from './plan.js';
import type { ClusterPlan } from './plan.js';
import { nameInBody } from './sight.js';
import type { Task } from './task.js';

/** One job of a client, from its start to its outcome. */
interface Call {
  readonly name: string;
  readonly task: Task;
  readonly guarantee: boolean;
  readonly wantsResult: boolean;
  readonly retries: number;
  readonly transport: VirtualTransport;
  /** Issued after everything was healed: it has no excuse. */
  readonly calm: boolean;
  accepted: boolean;
  outcome: 'open' | 'accepted' | 'answered' | 'TIMEOUT' | 'PEER_LOST' | 'given up waiting';
  runs: number;
}

/** What a client gets for a job that its broker did not end. */
const STOPPED = 'job lost: the broker has stopped';

/** Failures that a client may report while there are faults. */
const EXCUSABLE = ['TIMEOUT', 'PEER_LOST'] as const;

/** Longest pause of a loop. Virtual milliseconds. */
const THINK_MS = 600;
const LONG_JOB_MS = 1500;
const SHORT_JOB_MS = 150;
/** How long to wait for a result that nothing guarantees. Virtual milliseconds. */
const WAIT_MS = 6000;

const GAVE_UP = 'waited long enough';

/** All jobs of a run. Wrong answers fail the simulation at once, missing ones at the end. */
export class Workload implements RunObserver {
  readonly #simulation: Simulation;
  readonly #plan: ClusterPlan;
  readonly #calls = new Map<string, Call>();
  /** Set when faults are over and everything has settled. */
  calm = false;
  #stopped = false;

  constructor(simulation: Simulation, plan: ClusterPlan) {
    this.#simulation = simulation;
    this.#plan = plan;
  }

  /** No further calls start. */
  stop(): void {
    this.#stopped = true;
  }

  /** Calls of live processes without an outcome. */
  get open(): string[] {
    const open = [...this.#calls.values()].filter(({ outcome }) => outcome === 'open');
    return open.filter(({ transport }) => transport.state !== 'dead').map(({ name }) => name);
  }

  /** Numbers for the summary of a run. */
  get totals(): { readonly calls: number; readonly answered: number } {
    const answered = [...this.#calls.values()].filter(({ outcome }) => outcome === 'answered').length;
    return { calls: this.#calls.size, answered };
  }

  /** True for a job that was issued when all was well. */
  isCalm(name: string): boolean {
    return this.#calls.get(name)?.calm ?? false;
  }

  onRun(name: string, run: number): void {
    const call = this.#calls.get(name);
    if (call === undefined) return;
    call.runs++;
    if (run > call.retries + 1)
      this.#simulation.fail(`${name} runs for the ${run}th time, allowed are ${call.retries} retries`);
  }

  /**
   * Fails the simulation for every job that ran more often than its dispatches allow, or never although its client got a result.
   */
  requireRuns(dispatches: ReadonlyMap<string, number>): void {
    for (const { name, runs, retries, outcome } of this.#calls.values()) {
      const most = (dispatches.get(name) ?? 0) * (retries + 1);
      if (runs > most) this.#simulation.fail(`${name} ran ${runs} times, allowed are ${most}`);
      if (outcome === 'answered' && (dispatches.get(name) ?? 0) === 0)
        this.#simulation.fail(`${name} was answered and never given to a worker`);
    }
  }

  /** Asks for one job after the other, with pauses, until stopped. For use inside a client's process. */
  async run(client: EmqpClient, transport: VirtualTransport, random: SeededRandom): Promise<void> {
    while (true) {
      await sleep(transport, random.between(0, THINK_MS));
      if (this.#stopped) return;
      const end = random.chance(0.9) ? 'well' : random.pick(['hangs', 'dies'] as const);
      const call: Call = {
        name: `${transport.name}/${this.#calls.size}`,
        task: {
          ms: Math.round(random.next() * (random.chance(0.1) ? LONG_JOB_MS : SHORT_JOB_MS)),
          failing: random.pick([0, 0, 0, 1, 3]),
          end,
        },
        guarantee: random.chance(0.6),
        wantsResult: random.chance(0.7),
        retries: random.pick([0, 0, 1, 2]),
        transport,
        calm: this.calm,
        accepted: false,
        outcome: 'open',
        runs: 0,
      };
      this.#calls.set(call.name, call);
      await this.#perform(client, call, random.pick(QUEUES));
    }
  }

  async #perform(client: EmqpClient, call: Call, queue: string): Promise<void> {
    const { name, task, guarantee, wantsResult: replyRequested, retries: retryCount, transport } = call;
    const job = { path: 'jobs', callable: 'work', args: [nameInBody(name), task] };
    // A call that hangs ends by its own timeout.
    const timeoutSeconds = task.end === 'hangs' ? 1 : 0;
    const { signal, release } = this.#patience(call);
    try {
      const { result } = await client.defer(queue, job, {
        guarantee,
        replyRequested,
        retryCount,
        timeoutSeconds,
        signal,
      });
      call.accepted = true;
      if (result === undefined) call.outcome = 'accepted';
      else {
        const value = await result;
        this.#verify(call, value);
        call.outcome = value === STOPPED ? 'given up waiting' : 'answered';
      }
    } catch (error) {
      const code = EXCUSABLE.find((excuse) => isProjError(error, excuse));
      if (code === undefined && error !== GAVE_UP) throw error;
      call.outcome = code ?? 'given up waiting';
      this.#simulation.note(`${name} fails: ${call.outcome}`);
      if (!this.#mayFail(call, code))
        this.#simulation.fail(`${name} failed without excuse: ${call.outcome}, ${String(error)}`);
    } finally {
      release();
      if (transport.state === 'dead') call.outcome = 'PEER_LOST';
    }
  }

  /** Do not wait until the end for results that may be lost. */
  #patience(call: Call): { readonly signal: AbortSignal; readonly release: () => void } {
    const controller = new AbortController();
    const { transport } = call;
    if (call.calm || this.#plan.faults !== 'everything') return { signal: controller.signal, release: () => undefined };
    const timer = transport.clock.at(transport.clock.now() + WAIT_MS, () => {
      controller.abort(GAVE_UP);
    });
    return {
      signal: controller.signal,
      release: () => {
        timer.cancel();
      },
    };
  }

  /**
   * Without faults at broker and clients every job is accepted and answered, with the result or with what happened to the job. Clients that
   * learn of lost connections request guaranteed jobs again, and get an answer once these are accepted.
   */
  #mayFail({ calm, guarantee, accepted }: Call, code: 'TIMEOUT' | 'PEER_LOST' | undefined): boolean {
    if (calm || (guarantee && code === 'PEER_LOST')) return false;
    if (this.#plan.faults === 'everything') return true;
    return this.#plan.faults === 'broker' && !(guarantee && accepted && this.#plan.disconnectNotices);
  }

  #verify(call: Call, result: unknown): void {
    const { name, task, retries } = call;
    const text = String(result);
    if (task.end === 'hangs') this.#expect(call, text, 'TimeoutError');
    else if (task.end === 'dies') this.#expect(call, text, 'the process ended with code 7');
    else this.#expect(call, text, task.failing > retries ? 'in vain' : `${name} done`);
  }

  #expect({ name, guarantee, retries }: Call, text: string, expected: string): void {
    const { guaranteeAttempts } = this.#plan;
    const lostWith = (workers: number) => `job lost with ${workers === 1 ? 'its worker' : `${workers} workers`}`;
    // What a broker or a job manager answers for a job that did not end.
    const instead = guarantee ? [`guaranteed ${lostWith(guaranteeAttempts)}`] : [lostWith(retries + 1)];
    if (!guarantee && retries === 0) instead.push('the job manager stopped before the job had ended');
    if (this.#plan.faults === 'everything' || this.#plan.faults === 'broker') instead.push(STOPPED);
    if (![expected, ...instead].includes(text))
      this.#simulation.fail(`${name} got ${JSON.stringify(text)}, expected ${JSON.stringify(expected)}`);
  }
}
