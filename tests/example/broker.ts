/** TINY/1 broker: the idle worker that has been silent longest gets the request. It is lost without one, or if that one stays silent. */
import { ExpiringMap } from '@proj/heartbeat';
import { EngineHost, parseOptions, StepOutput } from '@proj/transport';
import type { Engine, HostEvents, HostProgram, Legality, Peer, Startable, TimerEvent } from '@proj/transport';
import { loadTransport } from '@proj/zmtp';
import { decodeTiny, encodeTiny, tinyOptions } from './protocol.js';
import type { TinyCommand, TinyOptions } from './protocol.js';

/** What each peer may say. Clients are strangers; so are workers that were given up. */
export const LEGALITY: Legality<'stranger' | 'idle' | 'busy', TinyCommand['kind'], 'accept' | 'drop'> = {
  stranger: { free: ['accept', 'idle'], request: ['accept'], reply: ['drop'], lost: ['drop'], malformed: ['drop'] },
  idle: { free: ['accept'], request: ['drop'], reply: ['drop'], lost: ['drop'], malformed: ['drop'] },
  busy: { free: ['drop'], request: ['drop'], reply: ['accept', 'idle'], lost: ['accept', 'idle'], malformed: ['drop'] },
};

type Event = { kind: 'message'; peer: Peer; command: TinyCommand } | { kind: 'gone'; peer: Peer };
type Effect = { peer: Peer; command: TinyCommand };
/** `number` identifies the request at the worker: a late answer to one that was given up must not answer another. */
type Job = { worker: Peer; client: Peer; id: string; number: string };

class TinyBrokerEngine implements Engine<Event, Effect> {
  readonly #out = new StepOutput<Effect>();
  readonly #idle: ExpiringMap<string, Peer>;
  readonly #busy: ExpiringMap<string, Job>;

  constructor(patienceMs: number) {
    this.#idle = new ExpiringMap(patienceMs);
    this.#busy = new ExpiringMap(patienceMs);
  }

  get deadline(): number {
    return Math.min(this.#idle.deadline, this.#busy.deadline);
  }

  step(event: Event | TimerEvent, now: number): readonly Effect[] {
    this.#out.begin(now);
    if (event.kind === 'message') this.#receive(event.peer, event.command);
    else if (event.kind === 'timer') {
      this.#idle.takeAllDue(now, event.lateMs);
      for (const job of this.#busy.takeAllDue(now, event.lateMs)) this.#end(job);
    } else if (!this.#idle.take(event.peer.key)) this.#end(this.#busy.take(event.peer.key));
    return this.#out.effects;
  }

  assertInvariants(): void {
    for (const { worker } of this.#busy.values()) if (this.#idle.has(worker.key)) throw new Error('busy and idle');
  }

  #receive(peer: Peer, command: TinyCommand): void {
    const job = this.#busy.get(peer.key);
    const standing = job !== undefined ? 'busy' : this.#idle.has(peer.key) ? 'idle' : 'stranger';
    if (LEGALITY[standing][command.kind][0] === 'drop' || (job !== undefined && job.number !== command.id)) return;
    if (command.kind !== 'request') {
      this.#end(this.#busy.take(peer.key), command);
      this.#idle.set(peer.key, peer, this.#out.now);
      return;
    }
    const request = { client: peer, id: command.id, number: `${peer.key} ${command.id}` };
    const worker = this.#idle.takeFirst();
    if (worker === undefined) this.#end(request);
    else {
      this.#busy.set(worker.key, { ...request, worker }, this.#out.now);
      this.#out.effects.push({ peer: worker, command: { ...command, id: request.number } });
    }
  }

  #end(request?: Omit<Job, 'worker'>, { kind, body }: Omit<TinyCommand, 'id'> = { kind: 'lost', body: [] }): void {
    if (request) this.#out.effects.push({ peer: request.client, command: { kind, id: request.id, body } });
  }
}

/** A broker, not yet started. Throws `OPTIONS_INVALID`. */
export function tinyBroker(options: TinyOptions = {}): Startable<HostEvents, string[][]> {
  const { endpoint, patienceMs, transport } = parseOptions('tinyBroker', tinyOptions, options);
  const program: HostProgram<Event, Effect> = {
    name: 'tinyBroker',
    engine: new TinyBrokerEngine(patienceMs),
    sockets: [
      {
        kind: 'router',
        bind: [endpoint],
        onMessage: (peer, frames) => ({ kind: 'message', peer, command: decodeTiny(frames) }),
        onPeerGone: (peer) => ({ kind: 'gone', peer }),
      },
    ],
    perform: ({ peer, command }) => {
      host.send(0, peer, encodeTiny(command));
    },
  };
  const host = new EngineHost(program, () => loadTransport(transport, undefined));
  return host;
}
