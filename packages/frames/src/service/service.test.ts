import { framesOf, toHex } from '@proj/testkit';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { bytesCodec, decodeFault, defineService, encodeFault } from './index.js';
import type {
  Service,
  ServiceCodec,
  ServicePartial,
  ServicePartialInput,
  ServiceReply,
  ServiceReplyInput,
  ServiceRequest,
  ServiceRequestInput,
  ServiceResult,
  StandardSchema,
} from './index.js';

const order = defineService({
  name: 'order',
  request: z.object({ item: z.string(), count: z.number().int().default(1) }),
  reply: z.object({ total: z.number(), at: z.string().transform((text) => new Date(text)) }),
  partial: z.object({ percent: z.number().max(100) }),
});

/** A hand-made schema, to show that no library is needed and to misbehave at will. */
function schema<Output>(validate: StandardSchema<Output>['~standard']['validate']): StandardSchema<Output> {
  return { '~standard': { version: 1, vendor: 'test', validate } };
}
const anything = schema<unknown>((value) => ({ value }));
const raw: ServiceCodec = { encode: (value) => value as Uint8Array[], decode: (frames) => frames };

async function value<Value>(result: Promise<ServiceResult<Value>>): Promise<Value> {
  const settled = await result;
  if (!settled.ok) throw new Error(settled.refusal.message);
  return settled.value;
}

async function refusal(result: Promise<ServiceResult<unknown>>) {
  const settled = await result;
  if (settled.ok) throw new Error('expected a refusal');
  return settled.refusal;
}

describe('a request', () => {
  test('travels unchanged as JSON; defaults are filled in where it arrives', async () => {
    const body = await value(order.encodeRequest({ item: 'pen' }));
    expect(toHex(body)).toEqual(toHex(framesOf('{"item":"pen"}')));
    expect(await value(order.decodeRequest(body))).toEqual({ item: 'pen', count: 1 });
  });

  test('that is invalid is refused before it is sent', async () => {
    expect(await refusal(order.encodeRequest({ item: 'pen', count: 1.5 }))).toMatchObject({
      origin: 'local',
      code: 'REQUEST_INVALID',
      issues: [{ path: ['count'] }],
    });
  });

  test('that is invalid is refused on arrival, and the client learns why', async () => {
    const refused = await refusal(order.decodeRequest(framesOf('{"item":1,"count":"x"}')));
    expect(refused).toMatchObject({ origin: 'local', code: 'REQUEST_INVALID' });
    expect(refused.message).toMatch(/^request of service "order" is invalid: item: .* \(and 1 more\)$/);
    expect(refused.issues?.map((issue) => issue.path)).toEqual([['item'], ['count']]);

    const learned = await refusal(order.decodeReply(encodeFault(refused)));
    expect(learned).toStrictEqual({ ...refused, origin: 'remote' });
  });

  test.each([
    ['no JSON', framesOf('{')],
    ['two frames', framesOf('{}', '{}')],
    ['no frame', []],
    ['no UTF-8', [Uint8Array.of(0xff)]],
    ['the frames of an error reply', encodeFault({ code: 'C', message: 'm' })],
  ])('of %s is refused', async (_, body) => {
    expect(await refusal(order.decodeRequest(body))).toMatchObject({
      code: 'REQUEST_INVALID',
      message: 'request of service "order" cannot be decoded',
    });
  });
});

describe('a reply', () => {
  test('is transformed once, by the client', async () => {
    const body = await value(order.encodeReply({ total: 2, at: '2020-01-01T00:00:00Z' }));
    expect(await value(order.decodeReply(body))).toEqual({ total: 2, at: new Date('2020-01-01T00:00:00Z') });
  });

  test('that is invalid is refused on either side, as found here', async () => {
    const wrong = { total: 'much', at: '' } as unknown as ServiceReplyInput<typeof order>;
    expect(await refusal(order.encodeReply(wrong))).toMatchObject({ origin: 'local', code: 'REPLY_INVALID' });
    expect(await refusal(order.decodeReply(framesOf('{}')))).toMatchObject({ origin: 'local', code: 'REPLY_INVALID' });
    expect(await refusal(order.decodeReply([]))).toMatchObject({ origin: 'local', code: 'REPLY_INVALID' });
  });

  test('that reports a failure is a refusal by the peer, with the code it chose', async () => {
    const body = encodeFault({ code: 'OUT_OF_STOCK', message: 'no pens left' });
    expect(await refusal(order.decodeReply(body))).toStrictEqual({
      origin: 'remote',
      code: 'OUT_OF_STOCK',
      message: 'no pens left',
    });
  });
});

describe('a partial reply', () => {
  test('has a schema of its own', async () => {
    const body = await value(order.encodePartial({ percent: 50 }));
    expect(await value(order.decodePartial(body))).toEqual({ percent: 50 });
    expect(await refusal(order.encodePartial({ percent: 101 }))).toMatchObject({ code: 'PARTIAL_INVALID' });
    expect(await refusal(order.decodePartial(framesOf('{}')))).toMatchObject({ code: 'PARTIAL_INVALID' });
  });

  test('is refused by a service that defines none', async () => {
    const plain = defineService({ name: 'plain', request: anything, reply: anything });
    const message = 'partial reply of service "plain" is not part of the definition';
    expect(await refusal(plain.decodePartial(framesOf('{}')))).toMatchObject({ code: 'PARTIAL_INVALID', message });
    expect(await refusal(plain.encodePartial(undefined as never))).toMatchObject({ code: 'PARTIAL_INVALID', message });
  });
});

describe('a schema', () => {
  const with_ = (request: StandardSchema) => defineService({ name: 's', request, reply: anything });

  test('may be asynchronous', async () => {
    const later = z.string().refine(async (text) => Promise.resolve(text === 'ok'));
    expect(await value(with_(later).decodeRequest(framesOf('"ok"')))).toBe('ok');
    expect(await refusal(with_(later).decodeRequest(framesOf('"no"')))).toMatchObject({ code: 'REQUEST_INVALID' });
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('bug');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('bug'))],
  ])('that %s has refused the value; the cause stays here', async (_, validate) => {
    const refused = await refusal(with_(schema(validate)).decodeRequest(framesOf('1')));
    expect(refused).toMatchObject({ code: 'REQUEST_INVALID', message: 'request of service "s" cannot be validated' });
    expect(refused.cause).toEqual(new Error('bug'));
    expect(JSON.stringify(encodeFault(refused).map(String))).not.toContain('bug');
  });

  test('that gives no reason has refused the value, too', async () => {
    const silent = with_(schema(() => ({ issues: [] })));
    expect(await refusal(silent.decodeRequest(framesOf('1')))).toMatchObject({
      message: 'request of service "s" is invalid: no reason given',
      issues: [],
    });
  });

  test('with thousands of issues yields a few', async () => {
    const numbers = with_(z.array(z.number()));
    const body = framesOf(JSON.stringify(Array<string>(10_000).fill('x')));
    expect((await refusal(numbers.decodeRequest(body))).issues).toHaveLength(16);
  });

  test('that recurses without limit is survived', async () => {
    const tree: z.ZodType = z.lazy(() => z.array(tree));
    const deep = framesOf('['.repeat(100_000) + ']'.repeat(100_000));
    expect(await refusal(with_(tree).decodeRequest(deep))).toMatchObject({ code: 'REQUEST_INVALID' });
  });
});

describe('a codec', () => {
  const with_ = (codec: ServiceCodec) =>
    defineService({ name: 's', request: anything, reply: anything, partial: anything, codec });

  test('may use any number of frames', async () => {
    const service = with_(raw);
    const frames = framesOf('a', '', 'b');
    expect(await value(service.encodeReply(frames))).toBe(frames);
    expect(await value(service.decodeReply(frames))).toBe(frames);
  });

  test('may differ by direction, with JSON where none is named', async () => {
    const codec = { request: bytesCodec };
    const service = defineService({ name: 's', request: anything, reply: anything, partial: anything, codec });
    expect(toHex(await value(service.encodeRequest(Uint8Array.of(0xff))))).toEqual(['ff']);
    expect(toHex(await value(service.encodeReply({ a: 1 })))).toEqual(toHex(framesOf('{"a":1}')));
    expect(toHex(await value(service.encodePartial(1)))).toEqual(toHex(framesOf('1')));
  });

  test('cannot make a reply look like an error reply', async () => {
    const disguised = encodeFault({ code: 'C', message: 'm' });
    expect(await refusal(with_(raw).encodeReply(disguised))).toMatchObject({
      origin: 'local',
      code: 'REPLY_INVALID',
      message: 'reply of service "s" was encoded to the frames of an error reply',
    });
  });

  test('that yields no frame is refused: no protocol can carry it', async () => {
    expect(await refusal(with_(raw).encodeRequest([]))).toMatchObject({
      message: 'request of service "s" was encoded to no frame at all',
    });
  });

  test('that throws refuses the value', async () => {
    const failing: ServiceCodec = {
      encode: () => {
        throw new Error('bug');
      },
      decode: () => {
        throw new Error('bug');
      },
    };
    expect(await refusal(with_(failing).encodeReply(1))).toMatchObject({
      code: 'REPLY_INVALID',
      cause: new Error('bug'),
    });
    expect(await refusal(with_(failing).decodePartial([]))).toMatchObject({ code: 'PARTIAL_INVALID' });
  });
});

describe('defineService', () => {
  test.each(['', 'a\nb', 'é', 'n'.repeat(256)])('throws for the name %j', (name) => {
    expect(() => defineService({ name, request: anything, reply: anything })).toThrow(RangeError);
  });

  test.each([undefined, null, {}, { '~standard': { version: 2 } }])('throws for the schema %o', (bad) => {
    const broken = bad as unknown as StandardSchema;
    expect(() => defineService({ name: 's', request: broken, reply: anything })).toThrow(
      'service "s": the request schema does not implement Standard Schema version 1',
    );
    expect(() => defineService({ name: 's', request: anything, reply: broken })).toThrow('the reply schema');
  });

  test('throws for an invalid schema of partials', () => {
    const partial = {} as unknown as StandardSchema;
    expect(() => defineService({ name: 's', request: anything, reply: anything, partial })).toThrow(
      'the partial schema',
    );
  });

  test('types both sides', () => {
    type Order = typeof order;
    expectTypeOf<ServiceRequestInput<Order>>().toEqualTypeOf<{ item: string; count?: number | undefined }>();
    expectTypeOf<ServiceRequest<Order>>().toEqualTypeOf<{ item: string; count: number }>();
    expectTypeOf<ServiceReplyInput<Order>>().toEqualTypeOf<{ total: number; at: string }>();
    expectTypeOf<ServiceReply<Order>>().toEqualTypeOf<{ total: number; at: Date }>();
    expectTypeOf<ServicePartialInput<Order>>().toEqualTypeOf<{ percent: number }>();
    expectTypeOf<ServicePartial<Order>>().toEqualTypeOf<{ percent: number }>();
    expectTypeOf(order).toExtend<Service>();

    const plain = defineService({ name: 'plain', request: z.string(), reply: z.number() });
    expectTypeOf<ServicePartial<typeof plain>>().toBeNever();
    expectTypeOf(plain).toExtend<Service>();
    expect(decodeFault([])).toBeUndefined();
  });
});
