/** What the simulated producers send, what the simulated consumers do with it, and a record of every message. */
import type { PzqMessage, PzqProducer } from '@proj/client';
import { isProjError } from '@proj/transport';
import type { SeededRandom, VirtualTransport } from '@proj/transport/virtual';
import type { Simulation } from '../kit/simulation.js';
import { sleep } from '../kit/sleep.js';
import type { ClusterPlan } from './plan.js';
import { messageId } from './sight.js';

/** One message of a producer, from its sending to its outcome. */
interface Sending {
  readonly id: string;
  readonly transport: VirtualTransport;
  /** Sent after everything was healed: it has no excuse. */
  readonly calm: boolean;
  outcome: 'open' | 'stored' | 'refused';
}

/** Longest pause between two messages of one loop, and longest work. Virtual milliseconds. */
const CALM_THINK_MS = 3000;
/** All loops together send about this many messages a second. */
const RATE = 20;
const WORK_MS = 60;
const CALM_WORK_MS = 10;

/** All messages of a run. */
export class Workload {
  readonly #simulation: Simulation;
  readonly #plan: ClusterPlan;
  readonly #sendings = new Map<string, Sending>();
  readonly #handled = new Set<string>();
  /** Set while nothing new may be sent: the queue has to empty itself. */
  resting = false;
  /** Set when faults are over and everything has settled. */
  calm = false;
  #stopped = false;

  constructor(simulation: Simulation, plan: ClusterPlan) {
    this.#simulation = simulation;
    this.#plan = plan;
  }

  /** No further messages are sent. */
  stop(): void {
    this.#stopped = true;
  }

  /** Messages of live processes without an outcome. */
  get open(): string[] {
    return [...this.#sendings.values()]
      .filter(({ outcome, transport }) => outcome === 'open' && transport.state !== 'dead')
      .map(({ id }) => id);
  }

  /** Numbers for the summary of a run. */
  get totals(): { readonly sent: number; readonly stored: number; readonly handled: number } {
    const stored = [...this.#sendings.values()].filter(({ outcome }) => outcome === 'stored').length;
    return { sent: this.#sendings.size, stored, handled: this.#handled.size };
  }

  /** True for a message that was sent when all was well. */
  isCalm(id: string): boolean {
    return this.#sendings.get(id)?.calm ?? false;
  }

  /** Fails the simulation for every message that its producer considers stored, but that was neither handled nor is in the queue. */
  requireHandled(stillThere: ReadonlySet<string>): void {
    for (const { id, outcome } of this.#sendings.values())
      if (outcome === 'stored' && !this.#handled.has(id) && !stillThere.has(id))
        this.#simulation.fail(`${id} was acknowledged and never handled`);
  }

  /** Sends one message after the other, with pauses, until stopped. For use inside a producer's process. */
  async produce(producer: PzqProducer, transport: VirtualTransport, random: SeededRandom): Promise<void> {
    const thinkMs = (2000 * this.#plan.producers * this.#plan.loops) / RATE;
    while (true) {
      await sleep(transport, random.between(0, this.calm ? CALM_THINK_MS : thinkMs));
      if (this.#stopped) return;
      if (this.resting) continue;
      const id = `${transport.name}/${this.#sendings.size}`;
      const sending: Sending = { id, transport, calm: this.calm, outcome: 'open' };
      this.#sendings.set(id, sending);
      try {
        await producer.send([id, '', 'x'.repeat(random.below(50))]);
        sending.outcome = 'stored';
      } catch (error) {
        if (!isProjError(error, 'REJECTED')) throw error;
        sending.outcome = 'refused';
        if (sending.calm) this.#simulation.fail(`${id} was refused while all was well: ${error.message}`);
      }
    }
  }

  /** Handles one message: works a while, sometimes for too long or in vain. For use inside a consumer's process. */
  async handle(message: PzqMessage, transport: VirtualTransport, random: SeededRandom): Promise<void> {
    const id = messageId(message.body);
    if (message.body.length !== 3 || !this.#sendings.has(id)) this.#simulation.fail(`nobody has sent ${id}`);
    const { failing, slow, ackTimeoutMs } = this.#plan;
    const tooLong = !this.calm && random.chance(slow) ? ackTimeoutMs * 1.5 : 0;
    await sleep(transport, tooLong + random.between(0, this.calm ? CALM_WORK_MS : WORK_MS));
    if (!this.calm && random.chance(failing)) throw new Error('in vain');
    this.#handled.add(id);
  }
}
