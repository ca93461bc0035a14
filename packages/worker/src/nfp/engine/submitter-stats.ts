/** NFP worker: who posted jobs, as `show_clients` of its management interface shows it. */
import { latin1 } from '@proj/frames';
import { nfpNameOf } from '@proj/frames/nfp';

/** Clients remembered; the least recently seen leave first. */
const CLIENTS_MAX = 1000;

interface Client {
  readonly name: string;
  readonly since: number;
  seenAt: number;
  jobs: number;
}

/** Who posted jobs here. */
export class SubmitterStats {
  readonly #clients = new Map<string, Client>();

  /** A client posted a job. */
  posted(address: Uint8Array, now: number): void {
    const key = latin1(address);
    const known = this.#clients.get(key);
    const client = known ?? { name: nfpNameOf(address), since: now, seenAt: now, jobs: 0 };
    client.seenAt = now;
    client.jobs++;
    if (known !== undefined) this.#clients.delete(key);
    this.#clients.set(key, client);
    if (this.#clients.size > CLIENTS_MAX) this.#clients.delete(this.#clients.keys().next().value as string);
  }

  /** `show_clients`: a row of placeholders when there is none, as the broker does. */
  list(now: number): object[] {
    const rows = [...this.#clients.values()].map(({ name, since, seenAt, jobs }) => ({
      name,
      'alive (s)': seconds(now - since),
      'idle (s)': seconds(now - seenAt),
      jobs,
    }));
    return rows.length > 0 ? rows : [{ name: '', 'alive (s)': '', 'idle (s)': '', jobs: 0 }];
  }
}

/** Whole seconds, as the releases write them. */
function seconds(ms: number): string {
  return Math.floor(ms / 1000).toString();
}
