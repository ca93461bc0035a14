import { framesOf, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { decodeMmiCount, decodeMmiReply, encodeMmiListing, encodeMmiReply, MMI } from './index.js';
import type { MmiServiceEntry, MmiWorkerEntry } from './index.js';

const SERVICE: MmiServiceEntry = { name: 'echo "1"', version: '0.2', workers: 3, busy: 1, waiting: 0, requests: 9 };
const WORKER: MmiWorkerEntry = { id: '0001020304', service: 'echo', version: '0.1', busy: false, lastSeenMs: 12.5 };
const json = (value: unknown) => framesOf('200', JSON.stringify(value));

describe('encodeMmiReply', () => {
  test('is only the code, in ASCII', () => {
    expect(toHex(encodeMmiReply('404'))).toEqual(['343034']);
  });

  test('is the code and a JSON array for a listing, even an empty one', () => {
    expect(toHex(encodeMmiReply('200', [SERVICE]))).toEqual(toHex(json([SERVICE])));
    expect(toHex(encodeMmiReply('200', []))).toEqual(toHex(json([])));
  });
});

describe('encodeMmiListing', () => {
  test('is the argument, and how many entries to skip', () => {
    expect(toHex(encodeMmiListing('echo'))).toEqual(toHex(framesOf('echo')));
    expect(toHex(encodeMmiListing('', 5000))).toEqual(toHex(framesOf('', '5000')));
    expect(decodeMmiCount(encodeMmiListing('', 5000)[1])).toBe(5000);
  });

  test.each(['', '-1', '1e3', '123456789', 'x'])('is read as 0 to skip from %j', (text) => {
    expect(decodeMmiCount(framesOf(text)[0])).toBe(0);
  });
});

describe('decodeMmiReply', () => {
  test.each(['200', '404', '501'])('reads %s of mmi.service', (code) => {
    expect(decodeMmiReply(MMI.service, framesOf(code))).toStrictEqual({ code, entries: [] });
  });

  test.each(['404', '501'] as const)('reads %s of a listing, which then lists nothing', (code) => {
    expect(decodeMmiReply(MMI.services, encodeMmiReply(code))).toStrictEqual({ code, entries: [] });
    expect(decodeMmiReply(MMI.workers, encodeMmiReply(code))).toStrictEqual({ code, entries: [] });
  });

  test('reads services of a broker that does not count requests', () => {
    const { requests: _, ...plain } = SERVICE;
    expect(decodeMmiReply(MMI.services, json([plain]))?.entries).toEqual([plain]);
  });

  test('returns the listings that encodeMmiReply wrote', () => {
    expect(decodeMmiReply(MMI.services, encodeMmiReply('200', [SERVICE]))?.entries).toEqual([SERVICE]);
    expect(decodeMmiReply(MMI.workers, encodeMmiReply('200', [WORKER, WORKER]))?.entries).toEqual([WORKER, WORKER]);
  });

  test('says how many entries are behind those of the answer', () => {
    expect(decodeMmiReply(MMI.services, encodeMmiReply('200', [SERVICE], 7))).toEqual({
      code: '200',
      entries: [SERVICE],
      more: 7,
    });
    expect(decodeMmiReply(MMI.services, [...json([SERVICE]), ...framesOf('many')])?.more).toBeUndefined();
  });

  test.each([
    ['no frame', []],
    ['another code', framesOf('300')],
    ['a longer code', framesOf('2000')],
    ['the argument in front, as the Guide sends it', framesOf('echo', '404')],
  ])('is undefined for %s', (_, body) => {
    for (const name of [MMI.service, MMI.services, MMI.workers] as const) {
      expect(decodeMmiReply(name, body)).toBeUndefined();
    }
  });

  test.each([
    ['no listing', framesOf('200')],
    ['no JSON', framesOf('200', '[')],
    ['no array', json({})],
    ['no objects', json([null])],
    ['entries of the other listing', json([WORKER])],
    ['an unknown version', json([{ ...SERVICE, version: '0.3' }])],
    ['a name that is no text', json([{ ...SERVICE, name: 1 }])],
    ['no number of workers', json([{ ...SERVICE, workers: '3' }])],
    ['a negative number busy', json([{ ...SERVICE, busy: -1 }])],
    ['no number waiting', json([{ ...SERVICE, waiting: null }])],
    ['no number of requests', json([{ ...SERVICE, requests: '9' }])],
    ['one bad entry among good ones', json([SERVICE, {}])],
  ])('mmi.services is undefined for %s', (_, body) => {
    expect(decodeMmiReply(MMI.services, body)).toBeUndefined();
  });

  test.each([
    ['entries of the other listing', json([SERVICE])],
    ['an id that is no text', json([{ ...WORKER, id: 1 }])],
    ['a service that is no text', json([{ ...WORKER, service: null }])],
    ['an unknown version', json([{ ...WORKER, version: 2 }])],
    ['no truth about busy', json([{ ...WORKER, busy: 1 }])],
    ['no age', json([{ ...WORKER, lastSeenMs: 'now' }])],
  ])('mmi.workers is undefined for %s', (_, body) => {
    expect(decodeMmiReply(MMI.workers, body)).toBeUndefined();
  });

  test('survives JSON nested deeper than a recursive reader could go', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(decodeMmiReply(MMI.services, framesOf('200', deep))).toBeUndefined();
  });
});
