import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromLatin1, latin1 } from '../bytes.js';
import { decodeNfpPublishedEvent, encodeNfpPublishedEvent } from './published.js';

const EVENT = {
  service: 'sample',
  worker: fromLatin1('w\xff'),
  uuid: 'u1',
  status: 200,
  statusText: undefined,
  body: [fromLatin1('{}'), fromLatin1('')],
};

describe('a published event', () => {
  it('begins with service, slash and uuid, and names worker and job', () => {
    const frames = encodeNfpPublishedEvent(EVENT).map(latin1);

    expect(frames).toEqual(['sample/u1', 'NFPB01', '0x08', 'sample', 'w\xff', 'u1', '200', '{}', '']);
  });

  it('reads back as written', () => {
    expect(decodeNfpPublishedEvent(encodeNfpPublishedEvent(EVENT))).toEqual(EVENT);
  });

  it('is undefined if a frame is missing, or the header or command is another', () => {
    const frames = encodeNfpPublishedEvent(EVENT);
    for (let count = 0; count < 8; count++) expect(decodeNfpPublishedEvent(frames.slice(0, count))).toBeUndefined();
    for (const [place, frame] of [
      [1, 'NFPC01'],
      [2, '0x05'],
      [3, ''],
      [5, '\xff'],
      [6, '2x0'],
    ] as const)
      expect(decodeNfpPublishedEvent(frames.with(place, fromLatin1(frame)))).toBeUndefined();
  });

  it('can be searched in any frames', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 8 }), { maxLength: 10 }), (frames) => {
        decodeNfpPublishedEvent(frames);
      }),
    );
  });
});
