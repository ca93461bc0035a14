import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  carrierInBody,
  carrierInItems,
  carrierInJson,
  encodeTraceItems,
  toTracedFrames,
  withoutTraceFrame,
} from './index.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const LIMITS = { frames: 10, bytes: 10_000 };
const bytes = (...texts: string[]): Uint8Array[] => texts.map((text) => Buffer.from(text, 'latin1'));

describe('a trace frame', () => {
  it('has the context as lines of ASCII, and precedes the body', () => {
    const frames = toTracedFrames('request', ['a', ''], LIMITS, { traceparent: TRACEPARENT, tracestate: 'a=1,b=2' });
    const text = `\xf5proj-trace/1\ntraceparent:${TRACEPARENT}\ntracestate:a=1,b=2`;
    expect(frames.map((frame) => Buffer.from(frame).toString('latin1'))).toEqual([text, 'a', '']);
    expect(carrierInBody(frames)).toEqual({ traceparent: TRACEPARENT, tracestate: 'a=1,b=2' });
    expect(withoutTraceFrame(frames).map(String)).toEqual(['a', '']);
  });

  it.each([
    ['no context', undefined],
    ['an empty one', {}],
    ['one that is not ASCII', { name: 'é' }],
    ['one with a line feed', { name: 'a\nb' }],
    ['one that is too long', { name: 'x'.repeat(8192) }],
  ])('does not precede the body of a request with %s', (_, carrier) => {
    expect(toTracedFrames('request', 'a', LIMITS, carrier).map(String)).toEqual(['a']);
  });

  it('counts against the limits of a message', () => {
    const carrier = { traceparent: TRACEPARENT };
    expect(() => toTracedFrames('request', ['a', 'b'], { frames: 2, bytes: 1000 }, carrier)).toThrow(
      'the body has 2 frames; the limit is 1',
    );
    expect(() => toTracedFrames('request', 'abcde', { frames: 2, bytes: 84 }, carrier)).toThrow(
      'the body has 5 bytes; the limit is 3',
    );
    expect(toTracedFrames('request', 'abcd', { frames: 2, bytes: 85 }, carrier).length).toBe(2);
  });

  it.each([
    ['no frame', []],
    ['text', bytes('proj-trace/1\nx')],
    ['another frame with the same beginning', bytes('\xf5proj-trace/2\na:b', 'x')],
    ['its beginning', bytes('\xf5proj', 'x')],
    ['nothing after it', bytes('\xf5proj-trace/1\na:b')],
    ['more than 8192 bytes', bytes(`\xf5proj-trace/1\na:${'b'.repeat(8192)}`, 'x')],
  ])('is not recognized in a body with %s', (_, body) => {
    expect(withoutTraceFrame(body)).toBe(body);
    expect(carrierInBody(body)).toBeUndefined();
  });

  it('of any bytes is read, and no name does harm', () => {
    const body = bytes('\xf5proj-trace/1\n__proto__:x\n:y\nz\nTraceParent: 1 \n\xff', 'x');
    expect(Object.entries(carrierInBody(body) ?? {})).toEqual([
      ['__proto__', 'x'],
      ['traceparent', '1'],
    ]);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (rest) => {
        const frame = Buffer.concat([...bytes('\xf5proj-trace/1\n'), rest]);
        expect(withoutTraceFrame([frame, rest])).toEqual([rest]);
        expect(typeof carrierInBody([frame, rest])).toBe('object');
      }),
    );
  });

  it('returns any context of printable ASCII', () => {
    const name = fc.stringMatching(/^[a-z0-9_-]{1,20}$/);
    const value = fc.stringMatching(/^[!-~]{0,40}$/);
    fc.assert(
      fc.property(fc.dictionary(name, value, { minKeys: 1, maxKeys: 5 }), (carrier) => {
        expect(carrierInBody(toTracedFrames('request', 'x', LIMITS, carrier))).toEqual({ ...carrier });
      }),
    );
  });
});

describe('items of a header', () => {
  it('are traceparent and b3, where EventMQ cannot take them for anything else', () => {
    const carrier = { traceparent: TRACEPARENT, tracestate: 'a=1', baggage: 'timeout:9', b3: 'a-b-1' };
    expect(encodeTraceItems(carrier)).toBe(`traceparent:${TRACEPARENT},b3:a-b-1`);
    expect(encodeTraceItems({ traceparent: 'a,b', b3: 'timeout:9' })).toBe('');
  });

  it('are found among others', () => {
    const header = Buffer.from(`guarantee, TraceParent:${TRACEPARENT},timeout:9`);
    expect(carrierInItems(header)).toEqual({ traceparent: TRACEPARENT, timeout: '9' });
    expect(carrierInItems(Buffer.alloc(0))).toBeUndefined();
    expect(carrierInItems(Buffer.alloc(9000))).toBeUndefined();
  });
});

it.each([
  [{ traceparent: TRACEPARENT, other: 1, nested: {} }, { traceparent: TRACEPARENT }],
  ['text', undefined],
  [null, undefined],
  [7, undefined],
])('of a JSON value %j the texts are read', (value, carrier) => {
  expect(carrierInJson(value)).toEqual(carrier);
});
