/**
 * The yardstick for waiting requests: the codec around a queue that is only a ring of decoded requests. Its extra cost with a
 * million requests is the cost of memory and garbage collection on this machine, for any program that keeps decoded requests.
 */
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import type { MdpClientRequest } from '@proj/frames/mdp';

const CLIENT = Buffer.from([0, 1, 2, 3, 4]);
const REQUEST = [Buffer.from('MDPC02'), Buffer.of(1), Buffer.from('echo'), Buffer.alloc(64, 7)];
const ANSWER = [Buffer.from('MDPW02'), Buffer.of(4)];

/** A queue in which this many requests always wait ahead of a new one. */
export class PlainQueue {
  readonly #ring: (MdpClientRequest | undefined)[];
  #at = 0;

  constructor(queued: number) {
    this.#ring = Array.from({ length: queued }, () => undefined);
    for (let count = 0; count < queued; count++) this.#exchange();
  }

  /**
   * The same work as the engine's: decode, queue, encode, decode the answer and encode it. Microseconds of CPU time for
   * each request.
   */
  run(requests: number): number {
    const before = process.cpuUsage();
    for (let done = 0; done < requests; done++) {
      const oldest = this.#exchange();
      if (oldest === undefined) continue;
      const { version, body, service } = oldest;
      const frames = encodeMdp({ kind: 'worker-request', version, client: CLIENT, body });
      const answer = decodeMdpAtBroker([...ANSWER, ...frames.slice(2)]);
      if (answer.kind === 'worker-final') encodeMdp({ kind: 'client-final', version, service, body: answer.body });
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / requests;
  }

  /** Exchanges a new request for the oldest one. */
  #exchange(): MdpClientRequest | undefined {
    const oldest = this.#ring[this.#at];
    const command = decodeMdpAtBroker(REQUEST);
    this.#ring[this.#at] = command.kind === 'client-request' ? command : undefined;
    this.#at = (this.#at + 1) % this.#ring.length;
    return oldest;
  }
}
