/** The bodies that an NFP worker sends: JSON in one frame, with NORFAB's keys and spellings. Section 2 of docs/protocols/nfp.md. */
import { cTime, encodeNfpJson, eventTime } from '@proj/frames/nfp';

/** The worker that sends a body. */
export interface NfpSpeaker {
  readonly name: string;
  readonly service: string;
}

/** A question to a client, as part of an event. */
export interface NfpInputRequest {
  readonly id: string;
  readonly question: string;
  readonly default: unknown;
  /** Seconds. */
  readonly timeout: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The content of an event besides its sender. */
export interface NfpEventText {
  readonly uuid: string;
  readonly task: string;
  readonly message: string;
  readonly type?: string | undefined;
  readonly status: string;
  readonly severity: 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';
  readonly resource?: readonly string[] | undefined;
  readonly extras?: Readonly<Record<string, unknown>> | undefined;
  /** Seconds. */
  readonly timeout?: number | undefined;
}

/** How results and events spell the end of a job. */
export const FINAL_STATUS = { COMPLETED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled' } as const;

/** How a job ended. */
export interface NfpOutcome {
  readonly uuid: string;
  readonly task: string;
  readonly status: (typeof FINAL_STATUS)[keyof typeof FINAL_STATUS];
  /** The result as JSON text. */
  readonly result: string;
  readonly errors: readonly string[];
  /** Wall clock, in milliseconds since 1970; 0 if it never started. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The state of a job, with further keys: for answers 200 to DELETE, 201, 300, 102, 400, 404 and 500. */
export function statusBody(speaker: NfpSpeaker, uuid: string, status: string, more: object = {}): Uint8Array[] {
  return encodeNfpJson({ worker: speaker.name, uuid, status, service: speaker.service, ...more });
}

/** An event. Throws a `TypeError` for extras that are not JSON. `wallMs`: wall clock, in milliseconds since 1970. */
export function eventBody(speaker: NfpSpeaker, text: NfpEventText, wallMs: number): Uint8Array[] {
  const { uuid, task, message, type, status, severity, resource = [], extras, timeout } = text;
  return encodeNfpJson({
    worker: speaker.name,
    service: speaker.service,
    uuid,
    event_type: type,
    message,
    task,
    status,
    resource,
    severity,
    timestamp: eventTime(wallMs),
    extras,
    timeout,
  });
}

/** The result of a job, in UTF-8. */
export function resultBody({ name, service }: NfpSpeaker, outcome: NfpOutcome): Uint8Array {
  const { uuid, task, status, result, errors, startedAt, endedAt } = outcome;
  const rest = JSON.stringify({
    failed: status !== 'completed',
    errors,
    task: `${name}:${task}`,
    messages: [],
    juuid: uuid,
    resources: [],
    status,
    task_started: startedAt === 0 ? null : cTime(startedAt),
    task_completed: cTime(endedAt),
    service,
    diff: null,
    dry_run: false,
  });
  return new TextEncoder().encode(`{${JSON.stringify(name)}:{"result":${result},${rest.slice(1)}}`);
}

/** Joins JSON texts into one JSON array. */
export function joinJson(texts: readonly Uint8Array[]): Uint8Array {
  const size = texts.reduce((sum, { length }) => sum + length + 1, 1);
  const joined = new Uint8Array(Math.max(2, size));
  joined[0] = 0x5b;
  let at = 1;
  for (const text of texts) {
    if (at > 1) joined[at++] = 0x2c;
    joined.set(text, at);
    at += text.length;
  }
  joined[at] = 0x5d;
  return joined;
}
