/** Traces of EventMQ and PZQ: from the sender to the worker. docs/TRACING.md. */
import * as api from '@opentelemetry/api';
import { EmqpBroker } from '@proj/broker';
import { EmqpClient, PzqConsumer, PzqProducer } from '@proj/client';
import { MemoryStore, PzqServer } from '@proj/pzq';
import { EmqpJobManager } from '@proj/worker';
import type { EmqpJobManagerOptions } from '@proj/worker';
import { describe, expect, it } from 'vitest';
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

const FRONT = 'tcp://sim:1';
const BACK = 'tcp://sim:2';
const THIRD = 'tcp://sim:3';

type Pool = Exclude<EmqpJobManagerOptions['pool'], string | undefined>;
type ToHost = Parameters<ReturnType<Pool>['post']>[0];
type Run = Extract<ToHost, { run: unknown }>['run'];

/** A process substitute that runs jobs: `answer` says how a run ends, or `undefined` if it does not. */
const pool =
  (answer: (run: Run) => { outcome: 'done' | 'failed' | 'refused'; json: string } | undefined): Pool =>
  (listener) => {
    const exit = (): void => {
      setImmediate(() => {
        listener.onExit('killed');
      });
    };
    return {
      id: 1,
      post: (message) => {
        if ('start' in message) setImmediate(() => listener.onMessage({ ready: true }));
        else if ('stop' in message) exit();
        else {
          const ran = answer(message.run);
          if (ran !== undefined) setImmediate(() => listener.onMessage({ number: message.run.number, ...ran }));
        }
      },
      kill: exit,
    };
  };

const done = { outcome: 'done', json: '{"value":1}' } as const;
const job = { path: 'jobs', callable: 'add', args: [1] };
const wanted = { replyRequested: true } as const;

describe('EventMQ', () => {
  async function emqp(answer: Parameters<typeof pool>[0], options = {}): Promise<EmqpClient> {
    const broker = kept(new EmqpBroker({ ...on(), frontend: FRONT, backend: BACK, admin: THIRD }));
    const registered = new Promise((resolve) => broker.on('peer-joined', resolve));
    await broker.start();
    const settings = { handlers: 'none.mjs', concurrency: 1, tracing, pool: pool(answer), ...options };
    await kept(new EmqpJobManager({ ...on(), endpoints: [BACK], ...settings })).start();
    await registered;
    return kept(new EmqpClient({ ...on(), endpoints: [FRONT], tracing }));
  }

  it('a job is a producer span, whose child is the consumer span of its run, and the process gets the context', async () => {
    const runs: Run[] = [];
    const client = await emqp((run) => {
      runs.push(run);
      return done;
    });
    const { id, result } = await client.defer('default', job, wanted);
    expect(await result).toBe(1);
    const [sent, processed] = [spanOf('PRODUCER'), spanOf('CONSUMER')];
    expect(isParent(sent, processed)).toBe(true);
    expect(sent).toMatchObject({
      name: 'send default',
      attributes: {
        'messaging.system': 'eventmq',
        'messaging.operation.name': 'send',
        'messaging.operation.type': 'send',
        'messaging.destination.name': 'default',
        'messaging.message.id': id,
      },
    });
    expect(eventsOf(sent)).toEqual(['accepted']);
    expect(processed).toMatchObject({ name: 'process default', attributes: { 'messaging.message.id': id } });
    const { traceId, spanId } = processed.spanContext();
    expect(runs[0]?.trace).toEqual({ traceparent: `00-${traceId}-${spanId}-01` });
  });

  it('a job without a result ends its span when the broker accepts it', async () => {
    const client = await emqp(() => done);
    await client.defer('default', job);
    expect(spanOf('PRODUCER').status.code).toBe(api.SpanStatusCode.UNSET);
    expect(isParent(spanOf('PRODUCER'), await ended(({ kind }) => kind === api.SpanKind.CONSUMER))).toBe(true);
  });

  it('each run of a failing job has its own span, with its error', async () => {
    const client = await emqp(({ run }) => (run === 1 ? { outcome: 'failed', json: '{"value":"no luck"}' } : done));
    const { result } = await client.defer('default', job, { ...wanted, retryCount: 1 });
    await result;
    const runs = spans().filter(({ kind }) => kind === api.SpanKind.CONSUMER);
    expect(runs.map(({ attributes }) => attributes['proj.job.run'])).toEqual([1, 2]);
    expect(runs.map(({ attributes }) => attributes['error.type'])).toEqual(['REJECTED', undefined]);
    expect(runs[0]?.status.message).toContain('no luck');
    expect(runs.map((run) => isParent(spanOf('PRODUCER'), run))).toEqual([true, true]);
  });

  it('a run that is killed ends with TIMEOUT', async () => {
    const client = await emqp(() => undefined, { globalTimeoutMs: 50 });
    const { result } = await client.defer('default', job, wanted);
    await result;
    expect(spanOf('CONSUMER').attributes['error.type']).toBe('TIMEOUT');
  });

  it('an aborted call and an invalid call fail their spans', async () => {
    const client = await emqp(() => undefined);
    const controller = new AbortController();
    const { result } = await client.defer('default', job, { ...wanted, signal: controller.signal });
    controller.abort();
    await expect(result).rejects.toThrow('aborted');
    await expect(client.defer('', job)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    const types = spans().map(({ attributes }) => attributes['error.type']);
    expect(types).toEqual(['AbortError', 'OPTIONS_INVALID']);
  });

  it('resending a guaranteed job keeps its span and adds an event', async () => {
    const first = new EmqpBroker({ ...on(), frontend: FRONT, backend: BACK, admin: THIRD });
    await first.start();
    const client = kept(new EmqpClient({ ...on(), endpoints: [FRONT], tracing }));
    const { result } = await client.defer('default', job, { ...wanted, guarantee: true });
    await first.close();
    const runs: Run[] = [];
    await emqp((run) => {
      runs.push(run);
      return done;
    });
    expect(await result).toBe(1);
    expect(eventsOf(spanOf('PRODUCER'))).toContain('resend');
    expect(isParent(spanOf('PRODUCER'), spanOf('CONSUMER'))).toBe(true);
  });

  it('schedules have spans', async () => {
    const client = await emqp(() => done);
    await client.schedule('default', job, { intervalSeconds: 60 });
    await client.unschedule('default', job);
    expect(spans().map(({ name }) => name)).toEqual(['schedule default', 'unschedule default']);
  });
});

describe('PZQ', () => {
  async function pzq(options = {}): Promise<{ producer: PzqProducer; consumer: PzqConsumer }> {
    const ports = { receive: FRONT, send: BACK, monitor: THIRD };
    await kept(new PzqServer({ ...on(), ...ports, store: new MemoryStore() })).start();
    const producer = kept(new PzqProducer({ ...on(), endpoints: [FRONT], tracing: carrying }));
    const consumer = kept(new PzqConsumer({ ...on(), endpoints: [BACK], tracing, ...options }));
    return { producer, consumer };
  }

  it('a message is a producer span, whose child is the consumer span, until the verdict', async () => {
    const { producer, consumer } = await pzq();
    await producer.send('hello', { id: 'm1' });
    const message = await consumer.receive();
    expect(message?.body.map(String)).toEqual(['hello']);
    expect(spans().map(({ kind }) => kind)).toEqual([api.SpanKind.PRODUCER]);
    api.context.with(message?.traceContext ?? api.ROOT_CONTEXT, () => {
      work('inside');
    });
    message?.ack();
    const [sent, processed] = [spanOf('PRODUCER'), spanOf('CONSUMER')];
    expect([isParent(sent, processed), isParent(processed, spanOf('INTERNAL'))]).toEqual([true, true]);
    expect(sent).toMatchObject({
      name: 'send sim:1',
      attributes: { 'messaging.system': 'pzq', 'messaging.operation.type': 'send', 'messaging.message.id': 'm1' },
    });
    expect(processed).toMatchObject({ name: 'process sim:2', attributes: { 'messaging.operation.type': 'process' } });
    expect(eventsOf(processed)).toEqual(['ack']);
  });

  it('a handler runs in the context of its message', async () => {
    const { producer, consumer } = await pzq();
    await producer.send('hello');
    const running = consumer.run(async () => {
      await Promise.resolve();
      work('inside');
    });
    const processed = await ended(({ kind }) => kind === api.SpanKind.CONSUMER);
    expect(isParent(processed, spanOf('INTERNAL'))).toBe(true);
    await consumer.close();
    await running;
  });

  it('what a handler throws is the error of its span', async () => {
    const { producer, consumer } = await pzq();
    await producer.send('hello');
    consumer.on('error', () => undefined);
    const fail = (): never => {
      throw new RangeError('too far');
    };
    const running = consumer.run(fail, { onError: 'leave' });
    const processed = await ended(({ kind }) => kind === api.SpanKind.CONSUMER);
    expect(processed.attributes['error.type']).toBe('RangeError');
    await consumer.close();
    await running;
  });

  it('a resend is an event, and a message without an answer fails with its code', async () => {
    const options = { ackTimeoutMs: 100, timeoutMs: 350, tracing };
    const producer = kept(new PzqProducer({ ...on(), endpoints: [FRONT], ...options }));
    await expect(producer.send('x')).rejects.toMatchObject({ code: 'TIMEOUT' });
    const span = spanOf('PRODUCER');
    expect(eventsOf(span).filter((name) => name === 'resend').length).toBeGreaterThan(0);
    expect(span.attributes['error.type']).toBe('TIMEOUT');
  });

  it('a consumer without tracing delivers only the body', async () => {
    const { producer, consumer } = await pzq({ tracing: undefined });
    await producer.send(['a', 'b']);
    const message = await consumer.receive();
    expect(message?.body.map(String)).toEqual(['a', 'b']);
    expect(message?.traceContext).toBeUndefined();
    message?.ack();
  });
});
