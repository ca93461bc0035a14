/** The cost of many workers, jobs and clients: counted, not timed. */
import { fromLatin1 } from '@proj/frames';
import { encodeNfp } from '@proj/frames/nfp';
import type { TimerEvent } from '@proj/transport';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { peerNamed } from '../../../test/keyed.js';
import { RemovableQueue } from '../../shared/removable-queue.js';
import { KnownClients } from './peers/clients.js';
import type { NfpBrokerEffect, NfpBrokerEvent } from './events.js';
import { NfpBrokerEngine } from './engine.js';
import { JobTable } from './jobs/job-table.js';
import { nfpBrokerOptions, type NfpBrokerOptions } from '../options.js';
import { Services } from './peers/services.js';
import { Workers } from './peers/workers.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A broker with workers spread over services, which counts the entries it iterates over. */
class Crowd {
  readonly #engine: NfpBrokerEngine;
  now = 0;
  /** Members of any collection that were iterated over. */
  visited = 0;

  constructor(workers: number, services: number, options: NfpBrokerOptions = {}) {
    this.#engine = new NfpBrokerEngine(nfpBrokerOptions.parse(options));
    for (const one of [RemovableQueue, Workers, Services, JobTable, KnownClients]) this.#count(one.prototype);
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

  post(service: string, target: string, uuid = 'u1', client = 'c1'): readonly NfpBrokerEffect[] {
    return this.call('post', service, target, uuid, client);
  }

  call(command: 'post' | 'get' | 'put', service: string, target: string, uuid: string, client = 'c1') {
    const call = { kind: 'client-call', form: 'ascii', command, service, target, uuid } as const;
    return this.message(client, { ...call, body: [fromLatin1('{}')] });
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
  it('a broadcast to all iterates over each worker once, and sends each one message', () => {
    const crowd = new Crowd(workers, 100);
    const effects = crowd.post('all', 'all');
    expect(effects).toHaveLength(1 + workers);
    expect(new Set(effects.slice(1).map((effect) => effect.kind === 'send' && effect.peer.key)).size).toBe(workers);
    expect(crowd.visited).toBe(workers);
  });

  it('each answer to it is one message, and iterates over no other worker', () => {
    const crowd = new Crowd(workers, 100);
    crowd.post('all', 'all');
    crowd.visited = 0;
    let sent = 0;
    for (let n = 0; n < workers; n++) sent += crowd.answer(`w${n}`).length;
    expect([sent, crowd.visited]).toEqual([workers, 0]);
  });

  it('a broadcast to one service iterates only over its workers', () => {
    const crowd = new Crowd(workers, 100);
    expect(crowd.post('s7', 'all')).toHaveLength(1 + workers / 100);
    expect(crowd.visited).toBe(workers / 100);
  });

  it.each(['any', 'w7', '["w7"]'])('a job for %s iterates over no list of workers', (target) => {
    const crowd = new Crowd(workers, 100);
    expect(crowd.post('s7', target)).toHaveLength(2);
    expect(crowd.visited).toBe(0);
  });

  it('an interval sends each worker one KEEPALIVE, in at most 33 steps, and iterates over no list', () => {
    const crowd = new Crowd(workers, 100);
    crowd.interval();
    const steps = crowd.interval();
    expect(steps.flat()).toHaveLength(workers);
    expect(steps.length).toBeLessThanOrEqual(33);
    expect(crowd.visited).toBe(0);
  });
});

it('workers that expire together cost one notice each', () => {
  const crowd = new Crowd(10_000, 100);
  let lost = 0;
  for (let n = 0; n < 7; n++)
    lost += crowd
      .interval()
      .flat()
      .filter(({ kind }) => kind === 'worker-lost').length;
  expect([lost, crowd.visited]).toEqual([10_000, 0]);
});

describe('a worker that has 10000 jobs', () => {
  const JOBS = 10_000;
  /** Work about two things may happen in one step, and it has its own answer. */
  const STEP_MAX = 300;

  /** The jobs are for `w0`, with its own service. */
  function crowdWithJobs(target: 'any' | 'all'): Crowd {
    const crowd = new Crowd(1, 1);
    for (let n = 0; n < JOBS; n++) crowd.post('s0', target, `u${n}`);
    return crowd;
  }

  const count = (steps: (readonly NfpBrokerEffect[])[], told: (effect: NfpBrokerEffect) => boolean): number =>
    steps.flat().filter(told).length;
  const isEvent = (effect: NfpBrokerEffect): boolean =>
    effect.kind === 'send' && effect.command.kind === 'client-answer' && effect.command.command === 'event';
  const isPost = (effect: NfpBrokerEffect): boolean =>
    effect.kind === 'send' && effect.command.kind === 'worker-call' && effect.command.command === 'post';
  const READY = { kind: 'worker-ready', form: 'ascii', service: 's0' } as const;
  const longest = (steps: (readonly NfpBrokerEffect[])[]): number => Math.max(...steps.map(({ length }) => length));

  it('is lost in slices, whatever their number, and each client is told about each job', () => {
    const crowd = crowdWithJobs('all');
    const steps = [crowd.step({ kind: 'peer-gone', peer: peerNamed('w0') }), ...crowd.interval()];
    expect(count(steps, isEvent)).toBe(JOBS);
    expect(longest(steps)).toBeLessThan(STEP_MAX);
  });

  it('gets them again in slices when it repeats READY, each once', () => {
    const crowd = crowdWithJobs('all');
    const steps = [crowd.message('w0', READY), ...crowd.interval()];
    expect(count(steps, isPost)).toBe(JOBS);
    expect(longest(steps)).toBeLessThan(STEP_MAX);
  });

  it('gets jobs that come meanwhile once', () => {
    const crowd = crowdWithJobs('all');
    const steps = [crowd.message('w0', READY), crowd.post('s0', 'all', 'late'), ...crowd.interval()];
    expect(count(steps, isPost)).toBe(JOBS + 1);
  });

  it.each(['get', 'put'] as const)('gets a job before a %s about it, and once', (command) => {
    const crowd = crowdWithJobs('all');
    const uuid = `u${JOBS - 1}`;
    const ask = (): readonly NfpBrokerEffect[] => crowd.call(command, 's0', 'all', uuid);
    const steps = [crowd.message('w0', READY), ask(), ask()];
    const calls = steps.flat().flatMap((effect) => {
      const isCall = effect.kind === 'send' && effect.command.kind === 'worker-call' && effect.command.uuid === uuid;
      return isCall ? [effect.command.command] : [];
    });
    expect(calls).toEqual(['post', command, command]);
    steps.push(...crowd.interval());
    expect(count(steps, isPost)).toBe(JOBS);
  });

  it('gets a job before a question about it when it has been away', () => {
    const crowd = crowdWithJobs('all');
    crowd.step({ kind: 'peer-gone', peer: peerNamed('w0') });
    crowd.interval();
    crowd.message('w0', READY);
    expect(count([crowd.call('get', 's0', 'all', `u${JOBS - 1}`)], isPost)).toBe(1);
    expect(count([crowd.call('get', 's0', 'all', `u${JOBS - 1}`)], isPost)).toBe(0);
  });

  it('gets a job before a question about it when it repeats READY too soon to be sent all of them', () => {
    const crowd = crowdWithJobs('all');
    crowd.message('w0', READY);
    crowd.interval();
    crowd.message('w0', READY);
    const steps = [crowd.message('w0', READY)];
    expect(count(steps, isPost)).toBe(0);
    steps.push(crowd.call('get', 's0', 'all', 'u5'));
    expect(count(steps, isPost)).toBe(1);
  });

  it('gets jobs that are posted again meanwhile once', () => {
    const crowd = crowdWithJobs('all');
    const steps = [crowd.message('w0', READY), crowd.post('s0', 'all', `u${JOBS - 1}`), ...crowd.interval()];
    expect(count(steps, isPost)).toBe(JOBS);
  });

  it('clients not told about the loss before it returns are not told afterwards', () => {
    const crowd = crowdWithJobs('all');
    const steps = [crowd.step({ kind: 'peer-gone', peer: peerNamed('w0') }), crowd.message('w0', READY)];
    steps.push(...crowd.interval());
    expect(count(steps, isEvent)).toBeLessThan(STEP_MAX);
    expect(count(steps, isPost)).toBe(JOBS);
  });

  it('leaves its jobs to others in slices, too', () => {
    const crowd = crowdWithJobs('any');
    crowd.message('w1', READY);
    const steps = [crowd.step({ kind: 'peer-gone', peer: peerNamed('w0') }), ...crowd.interval()];
    expect(count(steps, isPost)).toBe(JOBS);
    expect(longest(steps)).toBeLessThan(3 * STEP_MAX);
  });

  it('gives up jobs that no other worker may do in slices, too', () => {
    const crowd = crowdWithJobs('all');
    crowd.step({ kind: 'peer-gone', peer: peerNamed('w0') });
    const steps = Array.from({ length: 6 }, () => crowd.interval()).flat();
    const isLate = (effect: NfpBrokerEffect): boolean =>
      effect.kind === 'send' && effect.command.kind === 'client-answer' && effect.command.command === 'response';
    expect(count(steps, isLate)).toBe(JOBS);
    expect(longest(steps)).toBeLessThan(3 * STEP_MAX);
  });
});

it('7000 waiting jobs go to the first worker in slices, whatever their number, in order', () => {
  const crowd = new Crowd(0, 1, { queueForService: true });
  for (let n = 0; n < 7000; n++) crowd.post('s0', 'any', `u${n}`);
  const ready = crowd.message('w0', { kind: 'worker-ready', form: 'ascii', service: 's0' });
  const steps = [ready, ...crowd.interval()];
  const sent = steps.flat().flatMap((effect) => {
    const isPost = effect.kind === 'send' && effect.command.kind === 'worker-call' && effect.command.command === 'post';
    return isPost ? [effect.command.uuid] : [];
  });
  expect(sent).toEqual(Array.from({ length: 7000 }, (_, n) => `u${n}`));
  expect(Math.max(...steps.map(({ length }) => length))).toBeLessThan(600);
});

describe('rule 19: a client that floods', () => {
  it('loses its own jobs, not those of others', () => {
    const crowd = new Crowd(1, 1, { jobsMax: 1000 });
    crowd.post('s0', 'any', 'mine', 'c2');
    for (let n = 0; n < 10_000; n++) crowd.post('s0', 'any', `u${n}`);
    const effects = crowd.message('w0', {
      ...{ kind: 'worker-table-answer', form: 'ascii', command: 'response', status: 200, service: 's0' },
      ...{ uuid: 'mine', body: [fromLatin1('{}')] },
    });
    expect(effects).toMatchObject([{ kind: 'send', peer: { key: 'c2' } }]);
  });

  it('leaves room for waiting POSTs of others, and for their bodies', () => {
    const crowd = new Crowd(0, 1, { queueForService: true, requestQueueMax: 1000, requestQueueMaxBytes: 500_000 });
    for (let n = 0; n < 10_000; n++) crowd.post('s0', 'any', `u${n}`);
    crowd.post('s0', 'any', 'mine', 'c2');
    const sent = [crowd.message('w0', { kind: 'worker-ready', form: 'ascii', service: 's0' }), ...crowd.interval()];
    const isMine = (effect: NfpBrokerEffect): boolean =>
      effect.kind === 'send' && effect.command.kind === 'worker-call' && effect.command.uuid === 'mine';
    expect(sent.flat().filter(isMine)).toHaveLength(1);
  });

  it('leaves room for other clients’ calls that wait for one answer', () => {
    const crowd = new Crowd(1, 1, { requestQueueMaxBytes: 100_000 });
    const get = (client: string, uuid: string): readonly NfpBrokerEffect[] =>
      crowd.message(client, {
        ...{ kind: 'client-call', form: 'byte', command: 'get', service: 's0', target: 'all', uuid },
        body: [fromLatin1('{}')],
      });
    for (let n = 0; n < 1000; n++) get('c1', `u${n}`);
    expect(get('c1', 'more')).toMatchObject([{ kind: 'send', peer: { key: 'c1' } }]);
    expect(get('c2', 'mine')).toMatchObject([{ kind: 'send', peer: { key: 'w0' } }]);
  });
});
