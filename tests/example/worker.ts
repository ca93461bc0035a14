/** TINY/1 worker: sends `free` while it is idle, three times within the broker's patience, and does one request at a time. */
import { parseOptions, SessionHost, StepOutput } from '@proj/transport';
import type { Engine, Legality, SessionEvents, SessionProgram, Startable, TimerEvent } from '@proj/transport';
import { loadTransport } from '@proj/zmtp';
import { decodeTiny, encodeTiny, tinyWorkerOptions } from './protocol.js';
import type { TinyCommand, TinyWorkerOptions } from './protocol.js';

/** What the broker may say. A worker that is leaving accepts no request. */
export const LEGALITY: Legality<'idle' | 'busy' | 'leaving', TinyCommand['kind'], 'accept' | 'refuse' | 'drop'> = {
  idle: { request: ['accept', 'busy'], free: ['drop'], reply: ['drop'], lost: ['drop'], malformed: ['drop'] },
  busy: { request: ['refuse'], free: ['drop'], reply: ['drop'], lost: ['drop'], malformed: ['drop'] },
  leaving: { request: ['refuse'], free: ['drop'], reply: ['drop'], lost: ['drop'], malformed: ['drop'] },
};

type Event = { kind: 'message' | 'done'; command: TinyCommand } | { kind: 'started' | 'end' };
type Effect = { kind: 'send' | 'run'; command: TinyCommand } | { kind: 'ended' };

class TinyWorkerEngine implements Engine<Event, Effect> {
  deadline = Infinity;
  readonly #out = new StepOutput<Effect>();
  readonly #intervalMs: number;
  #state: keyof typeof LEGALITY = 'idle';

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  step(event: Event | TimerEvent, now: number): readonly Effect[] {
    const effects = this.#out.begin(now);
    if (event.kind === 'message') {
      const [verdict, next = this.#state] = LEGALITY[this.#state][event.command.kind];
      if (verdict === 'accept') effects.push({ kind: 'run', command: event.command });
      if (verdict === 'refuse') effects.push({ kind: 'send', command: { ...event.command, kind: 'lost' } });
      this.#state = next;
    } else if (event.kind === 'done') {
      effects.push({ kind: 'send', command: event.command });
      if (this.#state === 'leaving') effects.push({ kind: 'ended' });
      else this.#state = 'idle';
    } else if (event.kind === 'end') {
      if (this.#state === 'idle') effects.push({ kind: 'ended' });
      this.#state = 'leaving';
    }
    if (this.#state !== 'idle') this.deadline = Infinity;
    else if (event.kind !== 'message') {
      effects.push({ kind: 'send', command: { kind: 'free', id: '-', body: [] } });
      this.deadline = now + this.#intervalMs;
    }
    return effects;
  }

  assertInvariants(): void {
    if (this.#state !== 'idle' && this.deadline < Infinity) throw new Error('only idle workers say that they are free');
  }
}

/** A worker, not yet started. Throws `OPTIONS_INVALID`. */
export function tinyWorker(options: TinyWorkerOptions): Startable<SessionEvents> {
  const { endpoint, patienceMs, transport, handler } = parseOptions('tinyWorker', tinyWorkerOptions, options);
  const work = async ({ id, body }: TinyCommand): Promise<void> => {
    const reply = await Promise.resolve(body)
      .then(handler)
      .catch(() => undefined);
    const command: TinyCommand = reply === undefined ? { kind: 'lost', id, body } : { kind: 'reply', id, body: reply };
    host.dispatch({ kind: 'done', command });
  };
  const program: SessionProgram<Event, Effect> = {
    engine: new TinyWorkerEngine(patienceMs / 3),
    onMessage: (_socket, frames) => ({ kind: 'message', command: decodeTiny(frames) }),
    perform: (effect) => {
      if (effect.kind === 'ended') host.ended();
      else if (effect.kind === 'send') host.send(0, encodeTiny(effect.command));
      else void work(effect.command);
    },
  };
  const host = new SessionHost(program, () => loadTransport(transport, undefined));
  return host.life({ sockets: [{ endpoints: [endpoint] }], started: { kind: 'started' }, drain: { kind: 'end' } });
}
