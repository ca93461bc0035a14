/** The management interface of an NFP worker, service `mmi.service.worker`: section 8 of docs/protocols/nfp.md. */
import { latin1 } from '@proj/frames';
import { decodeNfpTask, nfpNameOf } from '@proj/frames/nfp';
import type { NfpBody } from '@proj/frames/nfp';

/** Commands that change something; refused unless the option allows them. */
export type NfpManagementCommand = 'restart' | 'shutdown' | 'disconnect';

const COMMANDS: Readonly<Record<NfpManagementCommand, string>> = {
  restart: 'restarting',
  shutdown: 'shutting down',
  disconnect: 'disconnecting',
};

/** What a worker answers to a management call. */
export type NfpManagementAnswer =
  | { readonly status: 200; readonly result: unknown; readonly command?: NfpManagementCommand }
  | { readonly status: 400; readonly error: string; readonly command?: undefined };

/** The answer to a management call, and the command that is to be obeyed after it. `shows` are the questions by name. */
export function managementAnswer(
  body: NfpBody,
  commandsAllowed: boolean,
  shows: Readonly<Record<'show_broker' | 'show_workers' | 'show_clients', () => unknown>>,
): NfpManagementAnswer {
  const task = decodeNfpTask(body)?.task;
  if (task === undefined) return { status: 400, error: 'body is not a task' };
  if (isKeyOf(shows, task)) return { status: 200, result: shows[task]() };
  if (!isKeyOf(COMMANDS, task)) return { status: 200, result: `Unsupported task '${task}'` };
  if (!commandsAllowed) return { status: 400, error: `management command '${task}' is not enabled` };
  return { status: 200, result: COMMANDS[task], command: task };
}

function isKeyOf<Known extends object>(known: Known, key: PropertyKey): key is keyof Known {
  return Object.hasOwn(known, key);
}

/** Clients remembered; the least recently seen leave first. */
const CLIENTS_MAX = 1000;

interface Client {
  readonly name: string;
  readonly since: number;
  seenAt: number;
  jobs: number;
}

/** Who posted jobs here. */
export class NfpPosters {
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
