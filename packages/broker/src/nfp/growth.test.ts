/** Many workers cost what they do, each: counted, not timed. */
import { fromLatin1 } from '@proj/frames';
import { encodeNfp } from '@proj/frames/nfp';
import type { TimerEvent } from '@proj/transport';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { peerNamed } from '../../test/keyed.js';
import { Line } from '../parts/line.js';
import { Clients } from './clients.js';
import type { NfpBrokerEffect, NfpBrokerEvent } from './effects.js';
import { NfpBrokerEngine } from './engine.js';
import { Jobs } from './jobs.js';
import { nfpBrokerOptions } from './options.js';
import { Services } from './services.js';
import { Workers } from './workers.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A broker with workers spread over services, which counts what it looks at one by one. */
class Crowd {
  readonly #engine = new NfpBrokerEngine(nfpBrokerOptions.parse({}));
  now = 0;
  /** Members of any collection that were iterated over. */
  visited = 0;

  constructor(workers: number, services: number) {
    for (const one of [Line, Workers, Services, Jobs, Clients]) this.#count(one.prototype);
    for (let n = 0; n < workers; n++)
      this.message(`w${n}`, { kind: 'worker-ready', form: 'ascii', service: `s${n % services}` });
    this.visited = 0;
  }

  step(event: NfpBrokerEvent | TimerEvent): readonly NfpBrokerEffect[] {
    const effects = this.#engine.step(event, this.now);
    for (const effect of effects) if (effect.kind === 'send') encodeNfp(effect.command);
    return effects;
  }

  message(name: string, command: (NfpBrokerEvent & { kind: 'message' })['command']): readonly NfpBrokerEffect[] {
    return this.step({ kind: 'message', peer: peerNamed(name), command });
  }

  post(service: string, target: string): readonly NfpBrokerEffect[] {
    const call = { kind: 'client-call', form: 'ascii', command: 'post', service, target, uuid: 'u1' } as const;
    return this.message('c1', { ...call, body: [fromLatin1('{}')] });
  }

  answer(worker: string): readonly NfpBrokerEffect[] {
    const answer = { kind: 'worker-answer', form: 'ascii', command: 'response', status: 201 } as const;
    return this.message(worker, { ...answer, client: fromLatin1('c1'), uuid: 'u1', body: [fromLatin1('{}')] });
  }

  /** Lets an interval pass; one effect list per step. */
  interval(): (readonly NfpBrokerEffect[])[] {
    const steps = [];
    const until = this.now + 2500;
    for (let due = this.#engine.deadline; due <= until; due = this.#engine.deadline) {
      this.now = due;
      steps.push(this.step({ kind: 'timer', lateMs: 0 }));
    }
    this.now = until;
    return steps;
  }

  #count(prototype: { values(): IterableIterator<unknown> }): void {
    const values = Object.getOwnPropertyDescriptor(prototype, 'values')?.value as () => IterableIterator<unknown>;
    const visit = () => {
      this.visited++;
    };
    vi.spyOn(prototype, 'values').mockImplementation(function* (this: unknown) {
      for (const one of Reflect.apply(values, this, []) as Iterable<unknown>) {
        visit();
        yield one;
      }
    });
  }
}

const SIZES = [100, 10_000];

describe.each(SIZES)('with %i workers of 100 services', (workers) => {
  it('a broadcast to all looks at each worker once, and sends each one message', () => {
    const crowd = new Crowd(workers, 100);
    const effects = crowd.post('all', 'all');
    expect(effects).toHaveLength(1 + workers);
    expect(new Set(effects.slice(1).map((effect) => effect.kind === 'send' && effect.peer.key)).size).toBe(workers);
    expect(crowd.visited).toBe(workers);
  });

  it('each answer to it is one message, and looks at nobody else', () => {
    const crowd = new Crowd(workers, 100);
    crowd.post('all', 'all');
    crowd.visited = 0;
    let sent = 0;
    for (let n = 0; n < workers; n++) sent += crowd.answer(`w${n}`).length;
    expect([sent, crowd.visited]).toEqual([workers, 0]);
  });

  it('a broadcast to one service looks at its workers alone', () => {
    const crowd = new Crowd(workers, 100);
    expect(crowd.post('s7', 'all')).toHaveLength(1 + workers / 100);
    expect(crowd.visited).toBe(workers / 100);
  });

  it.each(['any', 'w7', '["w7"]'])('a job for %s looks at no list of workers', (target) => {
    const crowd = new Crowd(workers, 100);
    expect(crowd.post('s7', target)).toHaveLength(2);
    expect(crowd.visited).toBe(0);
  });

  it('an interval sends each worker one KEEPALIVE, in at most 33 steps, and looks at no list', () => {
    const crowd = new Crowd(workers, 100);
    crowd.interval();
    const steps = crowd.interval();
    expect(steps.flat()).toHaveLength(workers);
    expect(steps.length).toBeLessThanOrEqual(33);
    expect(crowd.visited).toBe(0);
  });
});

it('a crowd that dies at once costs each of its members one notice', () => {
  const crowd = new Crowd(10_000, 100);
  let lost = 0;
  for (let n = 0; n < 7; n++)
    lost += crowd
      .interval()
      .flat()
      .filter(({ kind }) => kind === 'worker-lost').length;
  expect([lost, crowd.visited]).toEqual([10_000, 0]);
});
