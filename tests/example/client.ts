/** TINY/1 client: each request ends once, with its reply or as lost. */
import { ExpiringMap } from '@proj/heartbeat';
import { parseOptions, ProjError, SessionHost, StepOutput } from '@proj/transport';
import type { Engine, Legality, SessionEvents, SessionProgram, Startable, TimerEvent } from '@proj/transport';
import { loadTransport } from '@proj/zmtp';
import { decodeTiny, encodeTiny, tinyOptions } from './protocol.js';
import type { Body, TinyCommand, TinyOptions } from './protocol.js';

/** What the broker may say about a request. */
export const LEGALITY: Legality<'open' | 'over', TinyCommand['kind'], 'accept' | 'drop'> = {
  open: { free: ['drop'], request: ['drop'], reply: ['accept', 'over'], lost: ['accept', 'over'], malformed: ['drop'] },
  over: { free: ['drop'], request: ['drop'], reply: ['drop'], lost: ['drop'], malformed: ['drop'] },
};

type Settle = (reply: Body | undefined) => void;
type Request = { kind: 'request'; command: TinyCommand; settle: Settle };
type Event = Request | { kind: 'message'; command: TinyCommand } | { kind: 'gone' };
type TinyClient = Startable<SessionEvents> & { request(body: Body): Promise<Body> };
type Effect = { kind: 'send'; command: TinyCommand } | { kind: 'settle'; settle: Settle; reply: Body | undefined };

class TinyClientEngine implements Engine<Event, Effect> {
  readonly #out = new StepOutput<Effect>();
  readonly #open: ExpiringMap<string, Settle>;

  constructor(timeoutMs: number) {
    this.#open = new ExpiringMap(timeoutMs);
  }

  get deadline(): number {
    return this.#open.deadline;
  }

  step(event: Event | TimerEvent, now: number): readonly Effect[] {
    const effects = this.#out.begin(now);
    if (event.kind === 'request') {
      this.#open.set(event.command.id, event.settle, now);
      effects.push({ kind: 'send', command: event.command });
    } else if (event.kind === 'message') {
      const { kind, id, body } = event.command;
      const [verdict] = LEGALITY[this.#open.has(id) ? 'open' : 'over'][kind];
      const settle = verdict === 'accept' ? this.#open.take(id) : undefined;
      if (settle !== undefined) effects.push({ kind: 'settle', settle, reply: kind === 'reply' ? body : undefined });
    } else {
      const lost = event.kind === 'timer' ? this.#open.takeAllDue(now, event.lateMs) : this.#open.takeAllDue(Infinity);
      for (const settle of lost) effects.push({ kind: 'settle', settle, reply: undefined });
    }
    return effects;
  }

  assertInvariants(): void {
    if (this.#open.size > 0 && this.deadline === Infinity) throw new Error('a request is open for ever');
  }
}

/** A client, which starts with its first request. Throws `OPTIONS_INVALID`. A lost request rejects with `PEER_LOST`, as do open ones at a close. */
export function tinyClient(options: TinyOptions = {}): TinyClient {
  const { endpoint, patienceMs, transport } = parseOptions('tinyClient', tinyOptions, options);
  const program: SessionProgram<Event, Effect> = {
    // A broker takes half as long to notice that a worker is lost, so a broker that is silent by then is itself lost.
    engine: new TinyClientEngine(2 * patienceMs),
    onMessage: (_socket, frames) => ({ kind: 'message', command: decodeTiny(frames) }),
    onLost: () => ({ kind: 'gone' }),
    perform: (effect) => {
      if (effect.kind === 'send') host.send(0, encodeTiny(effect.command));
      else effect.settle(effect.reply);
    },
  };
  const host = new SessionHost(program, () => loadTransport(transport, undefined));
  const life = host.life({ sockets: [{ endpoints: [endpoint] }], close: { kind: 'gone' } });
  let requests = 0;
  const request = async (body: Body): Promise<Body> => {
    await life.start();
    const id = String(++requests);
    const reply = await new Promise<Body | undefined>((settle) => {
      host.dispatch({ kind: 'request', command: { kind: 'request', id, body }, settle });
    });
    if (reply !== undefined) return reply;
    throw new ProjError('PEER_LOST', `request ${id}: no reply will come; the work may or may not have been done`);
  };
  return { ...life, request };
}
