/**
 * Traces of MDP, PPP and NFP: from client to worker through a broker that knows nothing about them. docs/TRACING.md.
 */
import * as api from '@opentelemetry/api';
import { MdpBroker, NfpBroker, PppQueue } from '@proj/broker';
import { LazyPirateClient, MdpClient, NfpClient } from '@proj/client';
import { defineService } from '@proj/frames/service';
import { MdpWorker, NfpWorker, PppWorker } from '@proj/worker';
import type { MdpHandler, MdpWorkerOptions, NfpTaskHandler } from '@proj/worker';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  carrying,
  ended,
  eventsOf,
  isParent,
  kept,
  on,
  spanOf,
  spans,
  tracing,
  useTelemetry,
  work,
} from './telemetry.js';

useTelemetry();

const FIRST = 'tcp://sim:1';
const SECOND = 'tcp://sim:2';

/** Something that happens once. */
function once(): { readonly come: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const come = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { come, give };
}

describe('Majordomo', () => {
  async function mdp(handler: MdpHandler, options: Partial<MdpWorkerOptions> = { tracing }): Promise<MdpClient> {
    await kept(new MdpBroker({ ...on(), endpoint: FIRST })).start();
    const worker = kept(new MdpWorker({ ...on(), endpoints: [FIRST], service: 'echo', handler, ...options }));
    worker.on('error', () => undefined);
    await worker.start();
    return kept(new MdpClient({ ...on(), endpoints: [FIRST], tracing: carrying }));
  }

  it('a request is a client span, whose child is the server span, whose child is what the handler does', async () => {
    const client = await mdp(async ({ body }) => {
      await Promise.resolve();
      work('inside');
      return body;
    });
    expect(String(await client.request('echo', 'hello'))).toBe('hello');
    const [asked, served, inside] = [spanOf('CLIENT'), spanOf('SERVER'), spanOf('INTERNAL')];
    expect([isParent(asked, served), isParent(served, inside)]).toEqual([true, true]);
    expect(asked).toMatchObject({
      name: 'echo',
      attributes: { 'rpc.system.name': 'mdp', 'rpc.method': 'echo', 'server.address': 'sim', 'server.port': 1 },
      status: { code: api.SpanStatusCode.UNSET },
    });
    expect(served).toMatchObject({ name: 'echo', attributes: { 'rpc.system.name': 'mdp', 'rpc.method': 'echo' } });
  });

  it('the client span is a child of the span in whose context the call was made', async () => {
    const client = await mdp(({ body }) => body);
    await api.trace.getTracer('app').startActiveSpan('outer', async (outer) => {
      await client.request('echo', 'hello');
      outer.end();
    });
    expect(isParent(spanOf('INTERNAL'), spanOf('CLIENT'))).toBe(true);
  });

  it('partial replies are events at both ends', async () => {
    const client = await mdp(async function* () {
      yield 'a';
      yield 'b';
      return 'c';
    });
    const seen: string[] = [];
    for await (const part of client.stream('echo', 'x')) seen.push(String(part));
    expect(seen).toEqual(['a', 'b']);
    const parts = ['partial reply', 'partial reply'];
    expect([eventsOf(spanOf('CLIENT')), eventsOf(spanOf('SERVER'))]).toEqual([parts, parts]);
  });

  it('a reader that leaves a stream ends its span, without an error', async () => {
    const client = await mdp(async function* () {
      yield 'a';
      yield 'b';
      return 'c';
    });
    for await (const _ of client.stream('echo', 'x')) break;
    expect(eventsOf(spanOf('CLIENT')).at(-1)).toBe('reader left');
    expect(spanOf('CLIENT').status.code).toBe(api.SpanStatusCode.UNSET);
  });

  it('a resend is an event, and a failed call has its error, its code and an exception', async () => {
    const silent = kept(new MdpClient({ ...on(), endpoints: [SECOND], timeoutMs: 100, tries: 3, tracing }));
    await expect(silent.request('echo', 'x')).rejects.toMatchObject({ code: 'TIMEOUT' });
    const span = spanOf('CLIENT');
    expect(eventsOf(span)).toEqual(['resend', 'resend', 'exception']);
    expect(span.events[1]?.attributes).toEqual({ send: 3 });
    expect(span.attributes['error.type']).toBe('TIMEOUT');
    expect(span.status).toMatchObject({ code: api.SpanStatusCode.ERROR });
  });

  it('an aborted call ends with the name of what aborted it', async () => {
    const started = once();
    const client = await mdp((_, { signal }) => {
      started.give();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    });
    const controller = new AbortController();
    const call = client.request('echo', 'x', { signal: controller.signal });
    await started.come;
    controller.abort();
    await expect(call).rejects.toThrow('aborted');
    expect(spanOf('CLIENT').attributes['error.type']).toBe('AbortError');
  });

  it('a worker that closes ends the span of the handler that it abandons', async () => {
    const started = once();
    await kept(new MdpBroker({ ...on(), endpoint: FIRST })).start();
    const worker = new MdpWorker({
      ...on(),
      endpoints: [FIRST],
      service: 'echo',
      tracing,
      handler: (_, { signal }) => {
        started.give();
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            resolve('late');
          });
        });
      },
    });
    await worker.start();
    const client = kept(new MdpClient({ ...on(), endpoints: [FIRST] }));
    const call = client.request('echo', 'x').catch((error: unknown) => error);
    await started.come;
    await worker.close();
    expect(spanOf('SERVER').attributes['error.type']).toBe('CLOSED');
    await client.close();
    await call;
  });

  it('what a handler throws is the error of the server span', async () => {
    const client = await mdp(
      () => {
        throw new RangeError('too far');
      },
      { tracing, onError: () => 'sorry' },
    );
    expect(String(await client.request('echo', 'x'))).toBe('sorry');
    expect(spanOf('SERVER')).toMatchObject({
      attributes: { 'error.type': 'RangeError' },
      status: { code: api.SpanStatusCode.ERROR, message: 'too far' },
    });
  });

  it('a typed service is traced under its name, and its refusal is the error of the client span', async () => {
    const square = defineService({ name: 'square', request: z.number().max(9), reply: z.number() });
    await kept(new MdpBroker({ ...on(), endpoint: FIRST })).start();
    const handler = ({ input }: { input: number }) => input * input;
    await kept(new MdpWorker({ ...on(), endpoints: [FIRST], service: square, handler, tracing })).start();
    const client = kept(new MdpClient({ ...on(), endpoints: [FIRST], tracing: carrying }));
    expect(await client.request(square, 3)).toBe(9);
    expect([spanOf('CLIENT').name, isParent(spanOf('CLIENT'), spanOf('SERVER'))]).toEqual(['square', true]);
    await expect(client.request(square, 10)).rejects.toMatchObject({ code: 'REJECTED' });
    expect(spans().at(-1)?.attributes['error.type']).toBe('REJECTED');
  });

  it.each([
    ['a worker without tracing', {}],
    ['a worker with tracing', { tracing }],
  ])('%s passes on only the body, one frame or several', async (_, options) => {
    const client = await mdp(({ body }) => [String(body.length), ...body], options);
    expect((await client.request('echo', 'x')).map(String)).toEqual(['1', 'x']);
    expect((await client.request('echo', ['x', ''])).map(String)).toEqual(['2', 'x', '']);
  });

  it('a service inside the broker gets only the body', async () => {
    const broker = kept(new MdpBroker({ ...on(), endpoint: FIRST }));
    broker.serve('inside', ({ body }) => body);
    await broker.start();
    const client = kept(new MdpClient({ ...on(), endpoints: [FIRST], tracing: carrying }));
    expect((await client.request('inside', 'x')).map(String)).toEqual(['x']);
  });

  it('a request to the broker itself carries no context', async () => {
    const client = await mdp(({ body }) => body);
    const [code] = await client.request('mmi.service', 'echo');
    expect(String(code)).toBe('200');
  });

  it('without carry the wire format is unchanged: the worker starts its own trace', async () => {
    await mdp(({ body }) => body);
    const plain = kept(new MdpClient({ ...on(), endpoints: [FIRST], tracing }));
    await plain.request('echo', 'x');
    expect(spanOf('CLIENT').spanContext().traceId).not.toBe(spanOf('SERVER').spanContext().traceId);
  });

  it('a worker with carry: false starts its own trace, whatever clients send', async () => {
    const client = await mdp(({ body }) => body, { tracing: { api, carry: false } });
    expect(String(await client.request('echo', 'x'))).toBe('x');
    expect(isParent(spanOf('CLIENT'), spanOf('SERVER'))).toBe(false);
  });
});

describe('Paranoid Pirate', () => {
  it('a request is a client span, whose child is the server span', async () => {
    await kept(new PppQueue({ ...on(), frontend: FIRST, backend: SECOND })).start();
    const handler = ({ body }: { body: Buffer[] }) => [String(body.length), ...body];
    await kept(new PppWorker({ ...on(), endpoints: [SECOND], handler, tracing })).start();
    const client = kept(new LazyPirateClient({ ...on(), endpoints: [FIRST], tracing: carrying }));
    expect((await client.request('hello')).map(String)).toEqual(['1', 'hello']);
    expect(isParent(spanOf('CLIENT'), spanOf('SERVER'))).toBe(true);
    expect(spanOf('CLIENT')).toMatchObject({ name: 'request', attributes: { 'rpc.system.name': 'ppp' } });
  });

  it('a call without an answer fails with its code', async () => {
    const client = kept(new LazyPirateClient({ ...on(), endpoints: [FIRST], timeoutMs: 100, tries: 2, tracing }));
    await expect(client.request('x')).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(eventsOf(spanOf('CLIENT'))).toEqual(['resend', 'exception']);
    expect(spanOf('CLIENT').attributes['error.type']).toBe('TIMEOUT');
  });
});

describe('NORFAB', () => {
  async function nfp(task: NfpTaskHandler): Promise<NfpClient> {
    const broker = kept(new NfpBroker({ ...on(), endpoint: FIRST }));
    const registered = new Promise((resolve) => broker.on('worker-ready', resolve));
    await broker.start();
    const options = { service: 'math', name: 'math-1', tasks: { task }, tracing };
    const worker = kept(new NfpWorker({ ...on(), endpoints: [FIRST], ...options }));
    worker.on('error', () => undefined);
    await worker.start();
    await registered;
    return kept(new NfpClient({ ...on(), endpoints: [FIRST], tracing }));
  }

  it("a job is a client span, whose child is the server span of its task, with the workers' events", async () => {
    const client = await nfp(({ args }, { progress }) => {
      progress('half');
      work('inside');
      return args.length;
    });
    const { 'math-1': said } = await client.run('math', 'task', { args: [1, 2] });
    expect(said).toMatchObject({ failed: false, result: 2 });
    const [asked, served] = [spanOf('CLIENT'), spanOf('SERVER')];
    expect([isParent(asked, served), isParent(served, spanOf('INTERNAL'))]).toEqual([true, true]);
    expect(asked).toMatchObject({
      name: 'math/task',
      attributes: { 'rpc.system.name': 'nfp', 'rpc.method': 'math/task' },
    });
    expect(asked.attributes['proj.job.id']).toBe(served.attributes['proj.job.id']);
    expect(eventsOf(asked)).toEqual(expect.arrayContaining(['dispatched', 'job event', 'result']));
    expect(eventsOf(served)).toEqual(['job event']);
  });

  it('a task that throws is the error of its span', async () => {
    const client = await nfp(() => {
      throw new TypeError('no numbers');
    });
    await client.run('math', 'task');
    expect(spanOf('SERVER').attributes['error.type']).toBe('TypeError');
  });

  it('an aborted job ends both spans', async () => {
    const started = once();
    const client = await nfp((_, { signal }) => {
      started.give();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    });
    const controller = new AbortController();
    const run = client.run('math', 'task', { signal: controller.signal });
    await started.come;
    controller.abort();
    await expect(run).rejects.toThrow('aborted');
    expect(spanOf('CLIENT').attributes['error.type']).toBe('AbortError');
    const served = await ended(({ kind }) => kind === api.SpanKind.SERVER);
    expect(served.attributes['error.type']).toBe('REJECTED');
  });

  it('a job that cannot be posted fails its span', async () => {
    const client = await nfp(() => 1);
    await expect(client.post('mmi.service.broker', 'task')).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    expect(spanOf('CLIENT').attributes['error.type']).toBe('OPTIONS_INVALID');
  });
});
