/** EventMQ scheduler: decodes a SCHEDULE. Rules 3, 5 and 6. */
import { decodeEmqpHeaders, emqpJobText, encodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpScheduling } from '@proj/frames/emqp';
import type { ScheduleRefusal } from './events.js';

/** A valid SCHEDULE. */
export interface Plan {
  readonly queue: string;
  /** Headers of each REQUEST: the client's, plus the request for a reply. */
  readonly headers: Uint8Array;
  readonly body: Uint8Array;
  /** An interval in seconds, or a cron expression. */
  readonly every: number | string;
  /** Whether the first run waits for one interval, or for the first time of the expression. */
  readonly nohaste: boolean;
  readonly runs: number | undefined;
  /** Header items that were ignored. */
  readonly invalid: number;
}

const SECONDS_MAX = 2_147_483_647;
const CRON_MAX_CHARACTERS = 255;
const NO_INTERVAL = '-1';

/** Decodes a SCHEDULE. Does not validate the cron expression. */
export function readPlan({ queue, headers, interval, body, cron }: EmqpScheduling): Plan | ScheduleRefusal {
  const every = interval.trim() === NO_INTERVAL ? readCron(cron) : readSeconds(interval.trim());
  if (every === undefined) return interval.trim() === NO_INTERVAL ? 'cron' : 'interval';
  const { guarantee, retryCount, timeoutSeconds, nohaste, runCount, invalid } = decodeEmqpHeaders(headers);
  const ours = encodeEmqpHeaders({ replyRequested: true, guarantee, retryCount, timeoutSeconds });
  return { queue, headers: ours, body, every, nohaste, runs: runCount, invalid };
}

/** The job's name in all schedulers: the SHA-1 of its canonical text; `undefined` if the body names no job. */
export function identityOf(body: Uint8Array, sha1: (text: string) => string): string | undefined {
  const text = emqpJobText(body);
  return text === undefined ? undefined : sha1(text);
}

function readSeconds(text: string): number | undefined {
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds >= 1 && seconds <= SECONDS_MAX ? seconds : undefined;
}

/** Five fields in printable ASCII, separated by single spaces. */
function readCron(text: string): string | undefined {
  if (text.length > CRON_MAX_CHARACTERS) return undefined;
  const fields = text.trim().split(/[ \t]+/);
  return fields.length === 5 && fields.every((field) => /^[!-~]+$/.test(field)) ? fields.join(' ') : undefined;
}
