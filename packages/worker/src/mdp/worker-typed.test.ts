import { decodeFault, defineService } from '@proj/frames/service';
import type { Service } from '@proj/frames/service';
import { ProjError } from '@proj/transport';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { Stage } from '../../test/mdp/stage.js';
import { VirtualWorld } from '../../test/world.js';
import type { MdpRequest, MdpWorkerOptions } from './options.js';
import { MdpWorker } from './worker.js';

const sum = defineService({
  name: 'sum',
  request: z.object({ numbers: z.array(z.number()), scale: z.number().default(1) }),
  reply: z.object({ total: z.number() }),
});
const count = defineService({
  name: 'count',
  request: z.number(),
  reply: z.string(),
  partial: z.number(),
});

describe('MdpWorker with a typed service', () => {
  let stage: Stage<VirtualWorld>;
  beforeEach(() => {
    stage = new Stage(new VirtualWorld());
  });
  afterEach(() => stage.end());

  /** Runs a worker, sends it one body, returns the bodies of its replies and the errors it reported. */
  async function ask<S extends Service>(options: Omit<MdpWorkerOptions<S>, 'endpoints'>, body: unknown) {
    const broker = await stage.broker();
    const { peer, worker } = await stage.join<S>(broker, options);
    const errors: unknown[] = [];
    worker.on('error', ({ error }) => errors.push(error));
    broker.request(peer, typeof body === 'string' ? body : JSON.stringify(body));
    const { command } = await stage.settle(broker.next('worker-final'));
    const partials = broker.said.flatMap((said) => (said.command.kind === 'worker-partial' ? said.command.body : []));
    return { final: command.body, partials, errors, worker };
  }
  const json = (frames: readonly Uint8Array[]): unknown =>
    frames.map((frame) => JSON.parse(Buffer.from(frame).toString()) as unknown);

  it('registers under the name of the service', async () => {
    const broker = await stage.broker();
    const { command } = await stage.join(broker, { service: sum, handler: () => ({ total: 0 }) });
    expect(command.service).toBe('sum');
  });

  it('gives the handler the validated input, defaults filled in, and sends its value', async () => {
    const seen: unknown[] = [];
    const { final } = await ask(
      {
        service: sum,
        handler: ({ input, service, body }) => {
          seen.push(input, service, body.map(String));
          return { total: input.numbers.reduce((a, b) => a + b, 0) * input.scale };
        },
      },
      { numbers: [1, 2, 3] },
    );
    expect(json(final)).toEqual([{ total: 6 }]);
    expect(seen).toEqual([{ numbers: [1, 2, 3], scale: 1 }, 'sum', ['{"numbers":[1,2,3]}']]);
  });

  it.each<[string, unknown]>([
    ['with another shape', { numbers: 'x' }],
    ['that is not JSON', '{{{'],
  ])('refuses an input %s with an error reply, without calling the handler', async (_what, body) => {
    const { final, errors, worker } = await ask(
      {
        service: sum,
        handler: () => {
          throw new Error('called');
        },
      },
      body,
    );
    expect(decodeFault(final)).toMatchObject({ origin: 'remote', code: 'REQUEST_INVALID' });
    expect(errors).toEqual([]);
    expect(worker.stats()).toMatchObject({ failures: 0, replies: 1 });
  });

  it('a handler refuses by throwing REJECTED; issues among the details travel', async () => {
    const details = [{ path: ['numbers', 0], message: 'too big', extra: 1 }, { message: 'no path' }, 'no issue', null];
    const { final, errors } = await ask(
      {
        service: sum,
        handler: () => {
          throw new ProjError('REJECTED', 'not today', { details });
        },
      },
      { numbers: [] },
    );
    expect(decodeFault(final)).toEqual({
      origin: 'remote',
      code: 'REJECTED',
      message: 'not today',
      issues: [
        { path: ['numbers', 0], message: 'too big' },
        { path: [], message: 'no path' },
      ],
    });
    expect(errors).toEqual([]);
  });

  it('other errors follow the rules of onError', async () => {
    const thrown = new Error('broken');
    const { final, errors } = await ask(
      {
        service: sum,
        handler: () => Promise.reject(thrown),
        onError: (error, { service }) => `${service}: ${String(error)}`,
      },
      { numbers: [] },
    );
    expect(Buffer.from(final[0]!).toString()).toBe('sum: Error: broken');
    expect(errors).toEqual([thrown]);
  });

  it('a reply that violates the definition of the service is an error reply and an error event', async () => {
    const { final, errors } = await ask({ service: sum, handler: () => ({ total: 'x' }) as never }, { numbers: [] });
    expect(decodeFault(final)).toMatchObject({ code: 'REPLY_INVALID' });
    expect(errors).toEqual([expect.objectContaining({ code: 'PROTOCOL_LOCAL' })]);
  });

  it('sends partial values from a generator and from partial()', async () => {
    const { final, partials } = await ask(
      {
        service: count,
        handler: async function* ({ input }, { partial }) {
          await partial(0);
          for (let i = 1; i <= input; i++) yield i;
          return 'done';
        },
      },
      2,
    );
    expect(json(partials)).toEqual([0, 1, 2]);
    expect(json(final)).toEqual(['done']);
  });

  it('a partial reply that violates the definition is an error reply and an error event', async () => {
    const { final, errors, partials } = await ask(
      {
        service: count,
        handler: async function* () {
          yield 1;
          yield 'x' as never;
          return 'done';
        },
      },
      2,
    );
    expect(decodeFault(final)).toMatchObject({ code: 'PARTIAL_INVALID' });
    expect(json(partials)).toEqual([1]);
    expect(errors).toEqual([expect.objectContaining({ code: 'PROTOCOL_LOCAL' })]);
  });

  it('passes the signal on', async () => {
    const broker = await stage.broker();
    let signal: AbortSignal | undefined;
    const { peer, worker } = await stage.join(broker, {
      service: sum,
      handler: (_request, context) =>
        new Promise<{ total: number }>((resolve) => {
          ({ signal } = context);
          signal.addEventListener('abort', () => {
            resolve({ total: 0 });
          });
        }),
    });
    broker.request(peer, '{"numbers":[]}');
    await stage.world.advance(10);
    await stage.settle(worker.close());
    expect(signal?.aborted).toBe(true);
  });
});

it('types: the service decides what the handler gets and returns', () => {
  const typed = () =>
    new MdpWorker({
      service: sum,
      handler: ({ input, body }, { partial }) => {
        expectTypeOf(input).toEqualTypeOf<{ numbers: number[]; scale: number }>();
        expectTypeOf(body).toEqualTypeOf<Buffer[]>();
        expectTypeOf(partial).parameter(0).toBeNever();
        return { total: input.scale };
      },
    });
  const raw = () =>
    new MdpWorker({
      service: 'raw',
      handler: (request, { signal, partial }) => {
        expectTypeOf(request).toEqualTypeOf<MdpRequest>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(partial).returns.resolves.toBeVoid();
        return request.body;
      },
    });
  const wrong = () => {
    // @ts-expect-error -- total is a number
    new MdpWorker({ service: sum, handler: () => ({ total: 'x' }) });
    // @ts-expect-error -- the service has no partial replies
    new MdpWorker({ service: sum, handler: (_request, { partial }) => partial(1).then(() => ({ total: 1 })) });
    // @ts-expect-error -- raw handlers deal in frames
    new MdpWorker({ service: 'raw', handler: () => 7 });
    // @ts-expect-error -- no such option
    new MdpWorker({ service: 'raw', handler: () => 'x', endpoint: 'tcp://127.0.0.1:1' });
    // @ts-expect-error -- required
    new MdpWorker({ service: 'raw' });
  };
  expectTypeOf(typed).returns.toExtend<MdpWorker>();
  expectTypeOf(raw).returns.toExtend<AsyncDisposable>();
  expect(typed).not.toThrow();
  expect(wrong).toThrow();
});
