/** NFP client: encodes calls, decodes answers, and explains failures. Section "Bodies" of docs/protocols/nfp.md. */
import { encodeNfpJson } from '@proj/frames/nfp';
import { ProjError, toBuffers, toFrames } from '@proj/transport';
import type { Unanswered } from '../unanswered.js';
import type { NfpClientFailure } from './engine/events.js';
import type { NfpClientSettings } from './options.js';

/** Limit of the bytes of the frames besides the body: header, command, names of 255 bytes, a target. */
const BYTES_BESIDE_BODY = 66_600;

/** A call, as workers decode it. */
export interface TaskCall {
  readonly task: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly args: readonly unknown[];
}

/** The body with this value. Throws `PROTOCOL_LOCAL` if it cannot be expressed in JSON or is too large. */
export function encodeBody(subject: string, value: unknown, maxMessageBytes: number): Uint8Array[] {
  const limits = { frames: 1, bytes: Math.max(0, maxMessageBytes - BYTES_BESIDE_BODY) };
  let body: Uint8Array[];
  try {
    body = encodeNfpJson(value);
  } catch (cause) {
    throw new ProjError('PROTOCOL_LOCAL', `${subject}: the arguments cannot be expressed in JSON; send plain data`, {
      cause,
    });
  }
  return toFrames(subject, body, limits);
}

/** The body of GET: the task's name, because workers of some releases require one. */
export function questionOf(task: string): Uint8Array[] {
  return encodeNfpJson({ task, kwargs: {}, args: [] });
}

/** The JSON in an answer. Throws `UNEXPECTED_ANSWER` if there is none. */
export function parseAnswer(subject: string, body: readonly Uint8Array[]): unknown {
  const [frame] = toBuffers(body);
  try {
    return JSON.parse(frame?.toString() ?? '');
  } catch (cause) {
    throw new ProjError(
      'UNEXPECTED_ANSWER',
      `${subject}: 417: the answer is not JSON: ${frame?.toString('utf8', 0, 200) ?? ''}`,
      { cause, details: { status: 417 } },
    );
  }
}

/** A task's name in error messages. */
export function subjectOf(service: string, task: string): string {
  return `task ${JSON.stringify(task)} of service ${JSON.stringify(service)}`;
}

/** The question at the end of a `TIMEOUT` if the transport knows nothing about the brokers. */
export function isThere({ curve }: NfpClientSettings): string {
  // A server with CURVE does not answer a client without it.
  return `is a broker there${curve === undefined ? ', and does it accept clients without a key' : ''}?`;
}

/** Why the call failed, in the broker's words if there are any. `known`: about the brokers, for a `TIMEOUT`. */
export function failure(
  settings: NfpClientSettings,
  subject: string,
  code: NfpClientFailure,
  errors: readonly string[] = [],
  cause?: unknown,
  known?: Unanswered,
): ProjError {
  const said = errors.join(', ');
  const why = said === '' ? explain(code, settings, cause) : code === 'UNEXPECTED_ANSWER' ? unexpected(said) : said;
  const text = `${subject}: ${why}${known?.words ?? ''}`;
  const isUnexpected = code === 'UNEXPECTED_ANSWER';
  const particulars = {
    ...(errors.length === 0 ? {} : { errors }),
    ...(isUnexpected ? { status: 417 } : {}),
    ...known?.details,
  };
  const details = Object.keys(particulars).length === 0 ? {} : { details: particulars };
  return new ProjError(code === 'BUSY' ? 'REJECTED' : code, text, {
    ...details,
    ...(cause === undefined ? {} : { cause }),
  });
}

function explain(code: NfpClientFailure, settings: NfpClientSettings, cause: unknown): string {
  const { endpoints, openMax, openMaxBytes } = settings;
  switch (code) {
    case 'TIMEOUT':
      return `no answer in time (${endpoints.join(', ')})`;
    case 'QUEUE_FULL':
      return `${openMax} calls or ${openMaxBytes} bytes are open, or the transport has no room; await some, or raise openMax`;
    case 'PEER_LOST':
      return 'the connection ended first, and this must not be sent twice; it may have been done';
    case 'UNREACHABLE':
      return `cannot open a socket: ${cause instanceof Error ? cause.message : String(cause)}`;
    case 'REJECTED':
      return 'the broker rejected it without a reason';
    case 'BUSY':
      return 'the uuid is in use by an open call of this client';
    case 'CLOSED':
      return 'the client is closed';
    case 'UNEXPECTED_ANSWER':
      return unexpected('nothing readable');
  }
}

function unexpected(said: string): string {
  return `417: this is not an answer to the call: ${said}; is it an NFP broker?`;
}
