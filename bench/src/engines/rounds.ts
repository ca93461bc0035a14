/** The engine of one protocol alone, with encode and decode and without sockets: one request after the other. */
import { ENGINES, YARDSTICK } from './index.js';
import type { EngineName } from './index.js';
import type { Round } from './round.js';

/** Measures its rounds. */
export class EngineRounds {
  readonly #round: Round;

  /** Without a name, the yardstick. */
  constructor(name?: EngineName) {
    this.#round = (name === undefined ? YARDSTICK : ENGINES[name]).open();
  }

  /** At least this many requests, each with its answer. Returns the CPU time of each in microseconds, garbage collection included. */
  run(requests: number): number {
    const before = process.cpuUsage();
    let done = 0;
    while (done < requests) {
      const answers = this.#round();
      if (answers === 0) throw new Error('a request got no answer');
      done += answers;
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / done;
  }
}
