/**
 * Bytes of the Guide's programs: what each recorded message means, and that we write the same bytes for the same
 * meaning.
 */
import { framesOf, loadVectors, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { decodePppAtClient, decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker, encodePpp } from './index.js';
import type { PppCommand, PppMalformed } from './index.js';

/** A vector that is not listed fails. */
const EXPECTED: Record<string, PppCommand | PppMalformed> = {
  ppp_ready: { kind: 'ready' },
  ppp_heartbeat_worker: { kind: 'heartbeat' },
  ppp_heartbeat_queue: { kind: 'heartbeat' },
  ppp_request_req_client_wire: { kind: 'client-request', hops: [], content: framesOf('42') },
  ppp_request_two_extra_hops_at_worker: {
    kind: 'request',
    addresses: framesOf('DLR1', 'hop1', 'hop2'),
    content: framesOf('x'),
  },
  // The Guide's queue puts the client's address in front without an empty frame after it: by the text that is
  // content.
  ppp_request_no_null_frame_at_worker: { kind: 'request', addresses: undefined, content: framesOf('DLR1', 'noenv') },
  ppp_reply: { kind: 'reply', addresses: framesOf('\0CLI1'), content: framesOf('42') },
  ppp_reply_at_req_client: { kind: 'client-reply', hops: [], content: framesOf('42') },
  ppp_reply_two_extra_hops_at_client: { kind: 'client-reply', hops: framesOf('hop1', 'hop2'), content: framesOf('x') },
  ppp_bad_command: { kind: 'malformed', reason: 'control-unknown' },
};

const DECODERS: Record<string, (frames: readonly Uint8Array[]) => PppCommand | PppMalformed> = {
  'worker->queue': decodePppAtQueue,
  'queue->worker': decodePppAtWorker,
  'client->queue': decodePppAtFrontend,
  'queue->client': decodePppAtClient,
};

const vectors = loadVectors('ppp');

describe('golden vectors', () => {
  test('every vector has an expectation and every expectation a vector', () => {
    expect(Object.keys(EXPECTED).sort()).toEqual(vectors.map((vector) => vector.name).sort());
  });

  test.each(vectors)('$name at $direction', ({ name, direction, frames }) => {
    const decoded = DECODERS[direction]?.(frames);
    expect(decoded).toEqual(EXPECTED[name]);
    if (decoded !== undefined && decoded.kind !== 'malformed') {
      expect(toHex(encodePpp(decoded))).toEqual(toHex(frames));
    }
  });
});
