/** A job in the store: a line of JSON, then the body. */
import { fromLatin1, latin1 } from '@proj/frames';
import { ProjError } from '@proj/transport';
import type { ScheduleRecord } from './engine/events.js';

/** Prefix of the keys; the job's identity follows. */
export const KEY_PREFIX = 'emqp/job/';

const FORMAT = 1;
const NEWLINE = 10;

interface Head {
  readonly format: number;
  readonly queue: string;
  readonly headers: string;
  readonly every: number | string;
  readonly runsLeft: number | null;
  readonly nextMicros: number;
}

export function encodeRecord({ queue, headers, body, every, runsLeft, nextMicros }: ScheduleRecord): Uint8Array {
  const head: Head = { format: FORMAT, queue, headers: latin1(headers), every, runsLeft: runsLeft ?? null, nextMicros };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

/** Decodes {@link encodeRecord}. Throws `CORRUPT` for other bytes and for later versions. */
export function decodeRecord(key: string, bytes: Uint8Array): ScheduleRecord {
  const end = bytes.indexOf(NEWLINE);
  const head = end < 0 ? undefined : readHead(Buffer.from(bytes.subarray(0, end)).toString());
  if (head === undefined)
    throw new ProjError(
      'CORRUPT',
      `record ${key} is not a schedule of this version: use the version that wrote it, or restore the store from a copy`,
    );
  const { queue, headers, every, runsLeft, nextMicros } = head;
  const body = bytes.subarray(end + 1);
  return { queue, headers: fromLatin1(headers), body, every, runsLeft: runsLeft ?? undefined, nextMicros };
}

function readHead(text: string): Head | undefined {
  try {
    const head = JSON.parse(text) as Partial<Head>;
    const { format, queue, headers, every, runsLeft, nextMicros } = head;
    const isWhole =
      format === FORMAT &&
      typeof queue === 'string' &&
      typeof headers === 'string' &&
      (typeof every === 'string' || isCount(every)) &&
      (runsLeft === null || isCount(runsLeft)) &&
      Number.isSafeInteger(nextMicros);
    return isWhole ? (head as Head) : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
