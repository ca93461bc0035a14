/** What must hold for typed services whatever a peer sends and whatever an application returns. */
import assert from 'node:assert/strict';
import { arbitraries } from '@proj/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { decodeFault, defineService, encodeFault } from './index.js';
import type { ServiceCodec, StandardSchema } from './index.js';

const MARKER = encodeFault({ code: '', message: '' })[0]!;
const anything: StandardSchema = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
const raw: ServiceCodec = { encode: (value) => value as Uint8Array[], decode: (frames) => frames };

const json = defineService({ name: 'json', request: anything, reply: anything, partial: anything });
const strict = defineService({
  name: 'strict',
  request: z.strictObject({ a: z.number(), b: z.array(z.string()).optional() }),
  reply: z.union([z.string(), z.record(z.string(), z.number())]),
  partial: z.tuple([z.boolean()]),
});

/** Frames of any bytes, JSON of any shape, and both behind the marker of an error reply. */
const hostileFrame = fc.oneof(
  arbitraries.frame(),
  fc.json().map((text) => Uint8Array.from(Buffer.from(text))),
  fc
    .constantFrom('{"code":1}', '{"code":"C","message":"m","issues":[{"path":[[]],"message":"m"}]}', '"\\ud800"')
    .map((text) => Uint8Array.from(Buffer.from(text))),
  fc.constant(MARKER),
);
const hostileBody = fc.oneof(
  fc.array(hostileFrame, { maxLength: 3 }),
  hostileFrame.map((frame) => [MARKER, frame]),
);

test('hostile bodies are values to worker and client', async () => {
  await fc.assert(
    fc.asyncProperty(hostileBody, async (body) => {
      for (const service of [json, strict]) {
        const request = await service.decodeRequest(body);
        const reply = await service.decodeReply(body);
        const partial = await service.decodePartial(body);
        for (const result of [request, reply, partial]) {
          if (result.ok) continue;
          assert.ok(result.refusal.message.length > 0 || result.refusal.origin === 'remote');
          assert.ok((result.refusal.issues ?? []).length <= 16);
        }
        assert.ok(request.ok || request.refusal.origin === 'local');
        assert.equal(!reply.ok && reply.refusal.origin === 'remote', decodeFault(body)?.origin === 'remote');
      }
    }),
    { numRuns: 10_000 },
  );
});

test('any JSON value arrives as it was sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary' }), async (value) => {
      const body = await json.encodeReply(value);
      assert.ok(body.ok);
      const arrived = await json.decodeReply(body.value);
      assert.ok(arrived.ok);
      assert.deepEqual(arrived.value, JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 500 },
  );
});

test('a reply that any codec was allowed to send is never read as an error reply', async () => {
  const service = defineService({ name: 'raw', request: anything, reply: anything, codec: raw });
  await fc.assert(
    fc.asyncProperty(hostileBody, async (frames) => {
      const sent = await service.encodeReply(frames);
      if (sent.ok) assert.deepEqual(await service.decodeReply(sent.value), { ok: true, value: frames });
      else assert.ok(frames.length === 0 || decodeFault(frames) !== undefined);
    }),
    { numRuns: 5_000 },
  );
});

test('any failure arrives, cut to its bounds and as a failure of the peer', () => {
  const text = fc.string({ unit: 'binary', maxLength: 2000, size: 'max' });
  const issue = fc.record({ path: fc.array(fc.oneof(text, fc.integer()), { maxLength: 20 }), message: text });
  const fault = fc.record({
    code: text,
    message: text,
    issues: fc.option(fc.array(issue, { maxLength: 30 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fault, (sent) => {
      const frames = encodeFault(sent);
      assert.ok(frames.length === 2 && frames[1]!.length <= 128 * 1024);
      const arrived = decodeFault(frames);
      assert.equal(arrived?.origin, 'remote');
      assert.equal(arrived.code, sent.code.slice(0, 64));
      assert.equal(arrived.message, sent.message.slice(0, 1024));
      assert.equal(arrived.issues?.length, sent.issues && Math.min(sent.issues.length, 16));
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['[', ']'],
  ['{"a":', '}'],
  ['[{"b":[', ']}]'],
])('nesting by %j, closed or not, is a value', async (open, close) => {
  const depth = 50_000;
  for (const text of [open.repeat(depth), `${open.repeat(depth)}1${close.repeat(depth)}`]) {
    const frame = Uint8Array.from(Buffer.from(text));
    for (const service of [json, strict]) {
      expect(typeof (await service.decodeRequest([frame])).ok).toBe('boolean');
      expect((await service.decodeReply([MARKER, frame])).ok).toBe(false);
    }
  }
});
