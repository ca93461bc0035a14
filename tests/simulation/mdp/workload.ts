/** The requests of the simulated clients, the work of the simulated workers, and a record of every request. */
import { isProjError } from '@proj/transport';
import type { SeededRandom, VirtualTransport } from '@proj/transport/virtual';
import type { Simulation } from '../kit/simulation.js';
import { sleep } from '../kit/sleep.js';

/** What a request asks of its handler. */
interface Task {
  /** How long the work takes. Virtual milliseconds. */
  readonly ms: number;
  /** Partial replies on the way; 0 for a plain request. */
  readonly parts: number;
}

/** One call of a client, from its start to its outcome. */
export interface Call {
  readonly id: string;
  readonly service: string;
  readonly task: Task;
  readonly transport: VirtualTransport;
  /** Issued after everything was healed: it has no excuse. */
  readonly calm: boolean;
  outcome: 'open' | 'answered' | 'TIMEOUT' | 'PEER_LOST';
}

/** How long a call may take, and how often it may be sent. */
interface Patience {
  readonly timeoutMs: number;
  readonly tries?: number;
}

/** A client or a pool that can be asked. */
export interface Asked {
  request(service: string, body: string[], patience: Patience): Promise<Buffer[]>;
  stream(service: string, body: string[], patience: Patience): AsyncGenerator<Buffer[], Buffer[], undefined>;
}

/** Failures that a client may report while there are faults. */
const EXCUSABLE = ['TIMEOUT', 'PEER_LOST'] as const;

/** One job in ten is long: longer than a silent worker would be tolerated. Virtual milliseconds. */
const LONG_JOB_MS = 2000;
const SHORT_JOB_MS = 200;

/** All calls of a run. Wrong answers fail the simulation at once, missing ones at the end. */
export class Workload {
  readonly #simulation: Simulation;
  readonly calls: Call[] = [];
  /** Set when faults are over and everything has settled. */
  calm = false;
  #stopped = false;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** No further calls start. */
  stop(): void {
    this.#stopped = true;
  }

  /** Calls of live processes, not yet answered. */
  get open(): string[] {
    return this.calls
      .filter(({ outcome, transport }) => outcome === 'open' && transport.state !== 'dead')
      .map(({ id }) => id);
  }

  /** Numbers for the summary of a run. */
  get totals(): { readonly calls: number; readonly answered: number } {
    return { calls: this.calls.length, answered: this.calls.filter(({ outcome }) => outcome === 'answered').length };
  }

  /** True for a call that was issued when all was well. */
  isCalm(id: string): boolean {
    return this.calls.find((call) => call.id === id)?.calm ?? false;
  }

  /** Fails the simulation for every plain request of a living client that was not answered. */
  requireAnswers(): void {
    for (const { id, task, outcome, transport } of this.calls)
      if (task.parts === 0 && outcome !== 'answered' && transport.state !== 'dead')
        this.#simulation.fail(`request ${id} was lost: ${outcome}`);
  }

  /** Makes calls one after the other, with pauses, until stopped. For use inside a client's process. */
  async run(client: Asked, transport: VirtualTransport, random: SeededRandom, target: Target): Promise<void> {
    while (true) {
      await sleep(transport, random.between(0, target.thinkMs));
      if (this.#stopped) return;
      const parts = target.streams && random.chance(0.25) ? 1 + random.below(3) : 0;
      const call: Call = {
        id: `${transport.name}/${this.calls.length}`,
        service: target.service,
        task: { ms: random.next() * (random.chance(0.1) ? LONG_JOB_MS : SHORT_JOB_MS), parts },
        transport,
        calm: this.calm,
        outcome: 'open',
      };
      this.calls.push(call);
      await this.#perform(client, call, target);
    }
  }

  async #perform(client: Asked, call: Call, { patience, streamPatience }: Target): Promise<void> {
    const { id, service, task } = call;
    const body = [id, JSON.stringify(task)];
    try {
      const answer = [];
      if (task.parts === 0) answer.push(await client.request(service, body, patience));
      else {
        const stream = client.stream(service, body, streamPatience);
        let next = await stream.next();
        for (; next.done !== true; next = await stream.next()) answer.push(next.value);
        answer.push(next.value);
      }
      call.outcome = 'answered';
      this.#verify(call, answer);
    } catch (error) {
      const code = EXCUSABLE.find((excuse) => isProjError(error, excuse));
      if (code === undefined) throw error;
      call.outcome = code;
      this.#simulation.note(`${id} fails: ${code}`);
      if (call.calm) this.#simulation.fail(`call ${id} for ${service} failed while all was well: ${String(error)}`);
    }
  }

  #verify({ id, task }: Call, replies: readonly Buffer[][]): void {
    const actual = replies.map((reply) => reply.map(String).join(' '));
    const expected = [...Array.from({ length: task.parts }, (_, i) => `${id} part ${i}`), `${id} done`];
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      this.#simulation.fail(`call ${id} got ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
  }
}

/** The target of one loop of calls. */
export interface Target {
  readonly service: string;
  /** Longest pause between two calls. Virtual milliseconds. */
  readonly thinkMs: number;
  /** Whether some calls are streams. */
  readonly streams: boolean;
  readonly patience: Patience;
  readonly streamPatience: Patience;
}

/** The handler of all simulated workers: works as long as the request says. */
export async function work(
  body: readonly Uint8Array[],
  transport: VirtualTransport,
  signal: AbortSignal,
  partial: (body: string[]) => unknown,
): Promise<string[]> {
  const [id, text] = body.map((frame) => new TextDecoder().decode(frame)) as [string, string];
  const task = JSON.parse(text) as Task;
  for (let i = 0; i < task.parts; i++) {
    await sleep(transport, task.ms / (task.parts + 1), signal);
    await partial([id, `part ${i}`]);
  }
  await sleep(transport, task.ms / (task.parts + 1), signal);
  return [id, 'done'];
}
