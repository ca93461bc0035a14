/** Small engines that take turns: together they occupy as much memory as one large engine, so their caches are as cold. */
import { MdpEngineLoad } from '../mdp-engine.js';

const TURN = 10;

/** This many engines with this many workers each. */
export class ManyEngines {
  readonly #engines: readonly MdpEngineLoad[];
  #next = 0;

  constructor(engines: number, workers: number) {
    this.#engines = Array.from({ length: engines }, () => new MdpEngineLoad({ workers }));
  }

  /** See {@link MdpEngineLoad.run}. */
  run(requests: number): number {
    const before = process.cpuUsage();
    for (let done = 0; done < requests; done += TURN) {
      this.#engines[this.#next]?.run(TURN);
      this.#next = (this.#next + 1) % this.#engines.length;
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / requests;
  }
}
