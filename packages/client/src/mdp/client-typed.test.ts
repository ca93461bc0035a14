import { encodeFault } from '@proj/frames/service';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { defineService } from '../index.js';
import { echo, Stage } from '../../test/mdp/stage.js';

const sum = defineService({
  name: 'sum',
  request: z.object({ terms: z.array(z.number()) }),
  reply: z.object({ sum: z.number(), unit: z.string().default('none') }),
  partial: z.object({ soFar: z.number() }),
});

describe('typed request', () => {
  it('sends the value as JSON and resolves to the value of the reply', async () => {
    const stage = new Stage();
    const broker = await stage.broker((asked) => asked.final('{"sum":3}'));
    const call = stage.client().request(sum, { terms: [1, 2] });
    expectTypeOf(call).resolves.toEqualTypeOf<{ sum: number; unit: string }>();
    expect(await stage.settle(call)).toEqual({ sum: 3, unit: 'none' });
    expect(broker.asked.map(({ service, text }) => [service, text])).toEqual([['sum', '{"terms":[1,2]}']]);
  });

  it('refuses a value that the schema refuses, before anything is sent: REJECTED', async () => {
    const stage = new Stage();
    const client = stage.client();
    const call = client.request(sum, { terms: ['x'] } as never);
    await expect(stage.settle(call)).rejects.toMatchObject({
      code: 'REJECTED',
      message: expect.stringContaining('request of service "sum" is invalid') as string,
      details: [{ path: ['terms', 0] }],
      cause: { origin: 'local', code: 'REQUEST_INVALID' },
    });
    expect(client.stats().calls).toBe(0);
  });

  it('turns the refusal of the worker into REJECTED with its issues', async () => {
    const stage = new Stage();
    const issues = [{ path: ['terms'], message: 'too many' }];
    await stage.broker((asked) =>
      asked.final(...encodeFault({ code: 'REQUEST_INVALID', message: 'request is invalid: too many', issues })),
    );
    await expect(stage.settle(stage.client().request(sum, { terms: [1] }))).rejects.toMatchObject({
      code: 'REJECTED',
      message: 'request is invalid: too many',
      details: issues,
      cause: { origin: 'remote', code: 'REQUEST_INVALID' },
    });
  });

  it('turns any other error reply into REJECTED, identified by the code in its cause', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.final(...encodeFault({ code: 'HANDLER_FAILED', message: 'no luck' })));
    await expect(stage.settle(stage.client().request(sum, { terms: [] }))).rejects.toMatchObject({
      code: 'REJECTED',
      message: 'no luck',
      details: [],
      cause: { code: 'HANDLER_FAILED' },
    });
  });

  it.each([
    ['the schema refuses', '{"sum":"three"}'],
    ['is not JSON', '{'],
  ])('treats a reply that %s as a fault of the worker: PROTOCOL_REMOTE', async (_, reply) => {
    const stage = new Stage();
    await stage.broker((asked) => asked.final(reply));
    const call = stage.client().request(sum, { terms: [] });
    await expect(stage.settle(call)).rejects.toMatchObject({
      code: 'PROTOCOL_REMOTE',
      message: expect.stringContaining('reply of service "sum"') as string,
      cause: { code: 'REPLY_INVALID' },
    });
  });

  it('leaves error replies to raw callers unchanged', async () => {
    const stage = new Stage();
    const fault = encodeFault({ code: 'HANDLER_FAILED', message: 'no luck' });
    await stage.broker(echo);
    expect(await stage.settle(stage.client().request('sum', fault))).toEqual(fault.map((frame) => Buffer.from(frame)));
  });
});

describe('typed stream', () => {
  it('yields and returns values', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.partial('{"soFar":1}');
      asked.final('{"sum":3,"unit":"m"}');
    });
    const stream = stage.client().stream(sum, { terms: [1, 2] });
    expectTypeOf(stream).toEqualTypeOf<AsyncGenerator<{ soFar: number }, { sum: number; unit: string }, undefined>>();
    expect(await stage.settle(stream.next())).toEqual({ done: false, value: { soFar: 1 } });
    expect(await stage.settle(stream.next())).toEqual({ done: true, value: { sum: 3, unit: 'm' } });
  });

  it('ends with PROTOCOL_REMOTE, and with its socket, at an invalid partial reply', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.partial('{}'));
    const client = stage.client();
    await expect(stage.settle(client.stream(sum, { terms: [] }).next())).rejects.toMatchObject({
      code: 'PROTOCOL_REMOTE',
      cause: { code: 'PARTIAL_INVALID' },
    });
    expect(client.stats().lanes).toBe(0);
  });

  it('ends with REJECTED at an error reply', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.final(...encodeFault({ code: 'HANDLER_FAILED', message: 'no luck' })));
    await expect(stage.settle(stage.client().stream(sum, { terms: [] }).next())).rejects.toMatchObject({
      code: 'REJECTED',
    });
  });
});
