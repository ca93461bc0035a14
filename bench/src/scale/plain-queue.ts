/**
 * The yardstick for requests that wait: the codec around a queue that is nothing but a ring of decoded requests. What it costs more
 * with a million of them is what the memory of this machine and its collection cost any program that keeps what it has decoded.
 */
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import type { MdpClientRequest } from '@proj/frames/mdp';

const CLIENT = Buffer.from([0, 1, 2, 3, 4]);
const REQUEST = [Buffer.from('MDPC02'), Buffer.of(1), Buffer.from('echo'), Buffer.alloc(64, 7)];
const ANSWER = [Buffer.from('MDPW02'), Buffer.of(4)];

/** A queue in which so many requests always wait ahead of a new one. */
export class PlainQueue {
  readonly #ring: (MdpClientRequest | undefined)[];
  #at = 0;

  constructor(queued: number) {
    this.#ring = Array.from({ length: queued }, () => undefined);
    for (let count = 0; count < queued; count++) this.#exchange();
  }

  /** As that of the engine: decoded, queued, encoded, the answer decoded and encoded. Microseconds of CPU of each. */
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

  /** A new request for the oldest. */
  #exchange(): MdpClientRequest | undefined {
    const oldest = this.#ring[this.#at];
    const command = decodeMdpAtBroker(REQUEST);
    this.#ring[this.#at] = command.kind === 'client-request' ? command : undefined;
    this.#at = (this.#at + 1) % this.#ring.length;
    return oldest;
  }
}
