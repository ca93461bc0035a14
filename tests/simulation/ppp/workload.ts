/** The requests to the simulated workers, and a record of every request. */
import { isProjError } from '@proj/transport';
import type { SeededRandom, VirtualTransport } from '@proj/transport/virtual';
import type { Simulation } from '../kit/simulation.js';
import { sleep } from '../kit/sleep.js';

/** What a request asks of its handler. */
interface Task {
  /** How long the work takes. Virtual milliseconds. */
  readonly ms: number;
  /** The handler throws the first time it gets the request. */
  readonly throws: boolean;
}

/** One call, from its start to its outcome. */
interface Call {
  readonly id: string;
  readonly transport: VirtualTransport;
  /** Issued after everything was healed: it has no excuse. */
  readonly calm: boolean;
  outcome: 'open' | 'answered' | 'TIMEOUT' | 'PEER_LOST' | 'CLOSED';
}

/** How a request is sent, and how its reply comes back. */
export type Ask = (content: string[]) => Promise<Buffer[]>;

/** Failures that a caller may get while there are faults; `CLOSED` is a restarted pool. */
const EXCUSABLE = ['TIMEOUT', 'PEER_LOST', 'CLOSED'] as const;

/** One job in ten is long: longer than a silent worker would be tolerated. Virtual milliseconds. */
const LONG_JOB_MS = 2000;
const SHORT_JOB_MS = 200;

/** Longest pause between two calls. Virtual milliseconds. */
const THINK_MS = 300;

/** All calls of a run. Wrong answers fail the simulation at once, missing ones at the end. */
export class Workload {
  readonly #simulation: Simulation;
  readonly #handlersThrow: boolean;
  readonly #calls: Call[] = [];
  /** Requests whose handler has thrown. */
  readonly #thrown = new Set<string>();
  /** Set when faults are over and everything has settled. */
  calm = false;
  #stopped = false;

  constructor(simulation: Simulation, handlersThrow: boolean) {
    this.#simulation = simulation;
    this.#handlersThrow = handlersThrow;
  }

  /** No further calls start. */
  stop(): void {
    this.#stopped = true;
  }

  /** Ids of calls of live processes, not yet answered. */
  get open(): string[] {
    return this.#calls
      .filter(({ outcome, transport }) => outcome === 'open' && transport.state !== 'dead')
      .map(({ id }) => id);
  }

  /** Numbers for the summary of a run. */
  get totals(): { readonly calls: number; readonly answered: number } {
    return { calls: this.#calls.length, answered: this.#calls.filter(({ outcome }) => outcome === 'answered').length };
  }

  /** True for a call that was issued when all was well. */
  isCalm(id: string): boolean {
    return this.#calls.find((call) => call.id === id)?.calm ?? false;
  }

  /** Fails the simulation for every request of a living caller that was not answered. */
  requireAnswers(): void {
    for (const { id, outcome, transport } of this.#calls)
      if (outcome !== 'answered' && transport.state !== 'dead')
        this.#simulation.fail(`request ${id} was lost: ${outcome}`);
  }

  /**
   * Makes calls one after the other, with pauses, until stopped or until its process closes. For use inside a process.
   */
  async run(ask: Ask, transport: VirtualTransport, random: SeededRandom): Promise<void> {
    while (true) {
      await sleep(transport, random.between(0, THINK_MS));
      if (this.#stopped) return;
      const task: Task = {
        ms: random.next() * (random.chance(0.1) ? LONG_JOB_MS : SHORT_JOB_MS),
        throws: this.#handlersThrow && random.chance(0.1),
      };
      const call: Call = {
        id: `${transport.name}/${this.#calls.length}`,
        transport,
        calm: this.calm,
        outcome: 'open',
      };
      this.#calls.push(call);
      await this.#perform(call, () => ask([call.id, JSON.stringify(task)]));
      if (call.outcome === 'CLOSED') return;
    }
  }

  /** The handler of all simulated workers: works as long as the request says. */
  async work(content: readonly Uint8Array[], transport: VirtualTransport, signal: AbortSignal): Promise<string[]> {
    const [id, text] = content.map((frame) => new TextDecoder().decode(frame)) as [string, string];
    const { ms, throws } = JSON.parse(text) as Task;
    await sleep(transport, ms, signal);
    if (throws && !this.#thrown.has(id)) {
      this.#thrown.add(id);
      throw new Error(`cannot do ${id} at first`);
    }
    return [id, 'done'];
  }

  async #perform(call: Call, ask: () => Promise<Buffer[]>): Promise<void> {
    const { id } = call;
    try {
      const answer = (await ask()).map(String).join(' ');
      call.outcome = 'answered';
      if (answer !== `${id} done`) this.#simulation.fail(`call ${id} got ${JSON.stringify(answer)}`);
    } catch (error) {
      const code = EXCUSABLE.find((excuse) => isProjError(error, excuse));
      if (code === undefined) throw error;
      call.outcome = code;
      this.#simulation.note(`${id} fails: ${code}`);
      if (call.calm) this.#simulation.fail(`call ${id} failed while all was well: ${String(error)}`);
    }
  }
}
