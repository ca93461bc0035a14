/** The typed services of the sample worker, shared with their callers. Bytes in, JSON out. */
import { bytesCodec, defineService } from '@proj/frames/service';
import type { Service } from '@proj/frames/service';
import * as z from 'zod';

const count = z.int().min(0);
const anyBytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'expected bytes');

const digestReply = z.object({
  /** SHA-256 in lower-case hex. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  /** Process that computed it. */
  pid: count,
});

const textStatsReply = z.object({
  bytes: count,
  /** Lines, including a last one without line feed. */
  lines: count,
  /** Runs of bytes that are not ASCII white space. */
  words: count,
  /** Longest line without its line feed, in bytes. */
  longestLine: count,
  /** Process that counted. */
  pid: count,
});

/** The SHA-256 digest of the request's bytes. `name` is the service's name at the broker. */
export function digestService(name: string): Service<typeof anyBytes, typeof digestReply> {
  return defineService({ name, request: anyBytes, reply: digestReply, codec: { request: bytesCodec } });
}

/** Counts lines, words and more in the request's bytes. `name` is the service's name at the broker. */
export function textStatsService(name: string): Service<typeof anyBytes, typeof textStatsReply> {
  return defineService({ name, request: anyBytes, reply: textStatsReply, codec: { request: bytesCodec } });
}
