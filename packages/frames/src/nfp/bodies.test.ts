import { framesOf } from '@proj/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeNfpDispatch,
  decodeNfpJson,
  decodeNfpOpenInfo,
  decodeNfpTask,
  encodeNfpDispatch,
  encodeNfpJson,
} from './index.js';

const json = (value: unknown) => framesOf(JSON.stringify(value));

describe('JSON', () => {
  test('is one frame of UTF-8', () => {
    expect(encodeNfpJson({ name: 'é' })).toEqual(framesOf('{"name":"é"}'));
    expect(decodeNfpJson(framesOf('{"name":"é"}'))).toEqual({ name: 'é' });
  });

  test.each([
    ['no frame', []],
    ['two frames', framesOf('1', '1')],
    ['an empty frame', framesOf('')],
    ['no JSON', framesOf('{')],
    ['no UTF-8', [Uint8Array.of(0x22, 0xff, 0x22)]],
    ['more than 64 KiB', framesOf(`"${'x'.repeat(65_535)}"`)],
    ['endless nesting that never closes', framesOf('['.repeat(65_000))],
  ])('%s is none', (_, body) => {
    expect(decodeNfpJson(body)).toBeUndefined();
  });

  test.each([
    ['[1,2,3]', 3],
    ['{"a":{"b":[]}}', 5],
    ['["a,b:[{","c"]', 2],
    [String.raw`["\",[","\\",1]`, 3],
    [String.raw`["\\\"]", "\n"]`, 2],
    ['123456', 0],
  ])('%s has %i values, and is invalid where fewer are allowed', (text, values) => {
    expect(decodeNfpJson(framesOf(text), undefined, values)).toEqual(JSON.parse(text));
    if (values > 0) expect(decodeNfpJson(framesOf(text), undefined, values - 1)).toBeUndefined();
  });

  test('of an answer of the broker reads like any other value, whatever its texts', () => {
    const text = fc.oneof(fc.constantFrom('any', 'w1', '["a","b"]', 'é', '\n', '\\', '\x7f', '\ud800'), fc.string());
    const said = fc.record({
      workers: fc.option(fc.array(text, { maxLength: 2 })),
      uuid: text,
      target: text,
      status: fc.constantFrom('DISPATCHED' as const, 'PENDING' as const, 'FAILED' as const),
      service: text,
      errors: fc.option(fc.array(text), { nil: undefined }),
    });
    fc.assert(
      fc.property(said, ({ workers, uuid, target, status, service, errors }) => {
        const dispatch = { workers, uuid, target, status, service, errors };
        expect(encodeNfpDispatch(dispatch)).toEqual(encodeNfpJson(dispatch));
      }),
    );
  });

  test('of any value is counted as by a simple reader', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const count = text.replace(/"(?:\\.|[^"\\])*"/g, '').match(/[,:[{]/g)?.length ?? 0;
        expect(decodeNfpJson(framesOf(text), undefined, count)).toEqual(JSON.parse(text));
        if (count > 0) expect(decodeNfpJson(framesOf(text), undefined, count - 1)).toBeUndefined();
      }),
    );
  });

  test('that does not end is invalid', () => {
    expect(decodeNfpJson(framesOf('["abc'), undefined, 1)).toBeUndefined();
    expect(decodeNfpJson(framesOf(String.raw`["abc\"`), undefined, 1)).toBeUndefined();
  });

  test('refuses values that it cannot express', () => {
    expect(() => encodeNfpJson(undefined)).toThrow(TypeError);
  });
});

test.each([
  [{ task: 'ping' }, { task: 'ping', kwargs: {}, args: [] }],
  [
    { task: 'ping', kwargs: { n: 1 }, args: [2], timeout: 3 },
    { task: 'ping', kwargs: { n: 1 }, args: [2] },
  ],
  [{ kwargs: {} }, undefined],
  [{ task: 1 }, undefined],
  [{ task: 'ping', kwargs: [] }, undefined],
  [{ task: 'ping', args: {} }, undefined],
  [['ping'], undefined],
  [null, undefined],
])('task %j', (value, task) => {
  expect(decodeNfpTask(json(value))).toEqual(task);
});

const OPEN = { name: 'w1', version: '1', keepalive: { interval: 100, multiplier: 3 } };

test.each([
  [{ ...OPEN, extra: true }, OPEN],
  [{}, undefined],
  [{ ...OPEN, name: 1 }, undefined],
  [{ ...OPEN, keepalive: { interval: '100', multiplier: 3 } }, undefined],
  [{ ...OPEN, keepalive: { interval: 100 } }, undefined],
  [{ ...OPEN, keepalive: [] }, undefined],
])('OPEN %j', (value, info) => {
  expect(decodeNfpOpenInfo(json(value))).toEqual(info);
});

const DISPATCH = { workers: ['w1'], uuid: 'u1', target: 'all', status: 'DISPATCHED', service: 'sample' };

test.each([
  [DISPATCH, DISPATCH],
  [
    { ...DISPATCH, workers: null, status: 'FAILED', errors: ['no'] },
    { ...DISPATCH, workers: null, status: 'FAILED', errors: ['no'] },
  ],
  [{ worker: 'w1', uuid: 'u1', status: 'ACCEPTED', service: 'sample' }, undefined],
  [{ ...DISPATCH, workers: 'w1' }, undefined],
  [{ ...DISPATCH, errors: [1] }, undefined],
  [{ ...DISPATCH, target: 1 }, undefined],
])('dispatch %j', (value, dispatch) => {
  expect(decodeNfpDispatch(json(value))).toEqual(dispatch);
});
