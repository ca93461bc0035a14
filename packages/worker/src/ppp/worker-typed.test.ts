import { decodeFault, defineService } from '@proj/frames/service';
import { ProjError } from '@proj/transport';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { Stage } from '../../test/ppp/stage.js';
import { VirtualWorld } from '../../test/world.js';
import type { PppWorkerOptions, PppWorkerRequest } from './options.js';
import { PppWorker } from './worker.js';

const sum = defineService({
  name: 'sum',
  request: z.object({ numbers: z.array(z.number()), scale: z.number().default(1) }),
  reply: z.object({ total: z.number() }),
});

describe('PppWorker with a typed service', () => {
  let stage: Stage<VirtualWorld>;
  beforeEach(() => {
    stage = new Stage(new VirtualWorld());
  });
  afterEach(() => stage.end());

  /** Runs a worker, sends it one body, returns the content of its reply and the errors it reported. */
  async function ask(options: Omit<PppWorkerOptions<typeof sum>, 'endpoints' | 'service'>, body: unknown) {
    const queue = await stage.queue();
    const { peer, worker } = await stage.join<typeof sum>(queue, { service: sum, ...options });
    const errors: unknown[] = [];
    worker.on('error', ({ error }) => errors.push(error));
    queue.request(peer, JSON.stringify(body));
    const { content } = await stage.settle(queue.replied());
    return { content, errors };
  }

  it('takes the validated input, defaults filled in, and sends the value', async () => {
    const { content } = await ask(
      { handler: ({ input }) => ({ total: input.numbers.reduce((a, b) => a + b, 0) * input.scale }) },
      { numbers: [1, 2, 3] },
    );
    expect(content.map((frame) => Buffer.from(frame).toString())).toEqual(['{"total":6}']);
  });

  it('answers an input that the schema refuses, and a REJECTED, with an error reply', async () => {
    const called = () => {
      throw new Error('called');
    };
    const refused = await ask({ handler: called }, { numbers: 'x' });
    expect(decodeFault(refused.content)).toMatchObject({ code: 'REQUEST_INVALID' });
    const rejected = await ask(
      {
        handler: () => {
          throw new ProjError('REJECTED', 'not today');
        },
      },
      { numbers: [] },
    );
    expect(decodeFault(rejected.content)).toMatchObject({ code: 'REJECTED', message: 'not today' });
    expect([...refused.errors, ...rejected.errors]).toEqual([]);
  });

  it('reports a reply that violates the definition of the service', async () => {
    const { content, errors } = await ask({ handler: () => ({ total: 'x' }) as never }, { numbers: [] });
    expect(decodeFault(content)).toMatchObject({ code: 'REPLY_INVALID' });
    expect(errors).toEqual([expect.objectContaining({ code: 'PROTOCOL_LOCAL' })]);
  });
});

it('types: a service, or none, decides what the handler gets and returns', () => {
  const typed = () =>
    new PppWorker({
      service: sum,
      handler: ({ input, body }, { partial }) => {
        expectTypeOf(input).toEqualTypeOf<{ numbers: number[]; scale: number }>();
        expectTypeOf(body).toEqualTypeOf<Buffer[]>();
        expectTypeOf(partial).parameter(0).toBeNever();
        return { total: input.scale };
      },
    });
  const raw = () =>
    new PppWorker({
      handler: (request, { signal }) => {
        expectTypeOf(request).toEqualTypeOf<PppWorkerRequest>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        return request.body;
      },
    });
  const wrong = () => {
    // @ts-expect-error -- total is a number
    new PppWorker({ service: sum, handler: () => ({ total: 'x' }) });
    // @ts-expect-error -- a name is no service here
    new PppWorker({ service: 'echo', handler: () => 'x' });
    // @ts-expect-error -- raw handlers deal in frames
    new PppWorker({ handler: () => 7 });
  };
  expectTypeOf(typed).returns.toExtend<AsyncDisposable>();
  expectTypeOf(raw).returns.toEqualTypeOf<PppWorker>();
  expect([typed(), raw()]).toHaveLength(2);
  expect(wrong).toThrow();
});
