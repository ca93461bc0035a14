import { framesOf } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { decodeNfpDispatch, decodeNfpJson, decodeNfpOpenInfo, decodeNfpTask, encodeNfpJson } from './index.js';

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

  test('refuses what it has no word for', () => {
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
