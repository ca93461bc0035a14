/** Checker of broker rules 4, 6, 29 and 30 of docs/protocols/emqp.md: when all is calm, the broker lists each live peer once, with its slots. */
import { decodeEmqpAtAdmin, encodeEmqp } from '@proj/frames/emqp';
import type { EmqpCommand } from '@proj/frames/emqp';
import type { NetworkEvent, VirtualTransport } from '@proj/transport/virtual';
import { ROUTER_PEER } from '@proj/transport';
import type { Program, Watcher } from '../kit/simulation.js';
import { sleep } from '../kit/sleep.js';

interface Worker {
  readonly queues: readonly (readonly [number, string])[];
  readonly available_slots: number;
}

interface Listing {
  readonly connected_workers?: Readonly<Record<string, Worker>>;
  readonly connected_schedulers?: Readonly<Record<string, unknown>>;
}

const LOOK_MS = 200;

/** Knows which host is behind which routing id. */
export class TableChecker implements Watcher {
  readonly #hosts = new Map<string, string>();
  #workers: string[] = [];
  #schedulers: string[] = [];

  onEvent(event: NetworkEvent): void {
    if (event.kind === 'connected') this.#hosts.set(event.peer.key, event.client);
    else if (event.kind === 'disconnected') this.#hosts.delete(event.peer.key);
  }

  /** A console that asks until the table is as `expected`, one line per peer. For use as a process. */
  console(transport: VirtualTransport, endpoint: string): Program {
    const port = transport.dealer({ lingerMs: 0 });
    port.connect(endpoint);
    port.start({
      onMessage: (_peer, frames) => {
        const answer = decodeEmqpAtAdmin(frames);
        if (answer.kind === 'admin-reply') this.#read(JSON.parse(answer.json) as Listing);
      },
      onPeerGone: () => undefined,
      onUndeliverable: () => undefined,
      onRejected: () => undefined,
      onBroken: () => undefined,
    });
    let isOpen = true;
    const ask = (kind: 'show-workers' | 'show-schedulers'): void => {
      const command: EmqpCommand = { kind, id: kind };
      port.send(ROUTER_PEER, encodeEmqp(command));
    };
    const look = async (): Promise<void> => {
      while (isOpen) {
        ask('show-workers');
        ask('show-schedulers');
        await sleep(transport, LOOK_MS);
      }
    };
    const looking = look();
    return {
      close: async () => {
        isOpen = false;
        await looking;
        await port.close();
      },
    };
  }

  /** What is wrong with the console's last answer, one line each; empty if it is right. */
  differences(expected: readonly string[]): string[] {
    const found = [...this.#workers, ...this.#schedulers];
    const missing = expected.filter((line) => !found.includes(line)).map((line) => `${line} is missing`);
    const extra = found.filter((line) => !expected.includes(line)).map((line) => `${line} is one too many`);
    const twice = found.filter((line, at) => found.indexOf(line) !== at).map((line) => `${line} is there twice`);
    return [...missing, ...extra, ...twice];
  }

  #read({ connected_workers: workers, connected_schedulers: schedulers }: Listing): void {
    if (workers !== undefined)
      this.#workers = Object.entries(workers).map(([id, { queues, available_slots: slots }]) =>
        lineOf(this.#hosts.get(id), queues, slots),
      );
    if (schedulers !== undefined) this.#schedulers = Object.keys(schedulers).map((id) => this.#hosts.get(id) ?? '?');
  }
}

/** How a worker is listed; the order of its queues shows which was served last. */
export function lineOf(host = '?', queues: readonly (readonly [number, string])[], slots: number): string {
  const sorted = queues.map(([weight, name]) => `${name}:${weight}`).sort();
  return `${host} ${sorted.join(' ')}, ${slots} slots`;
}
