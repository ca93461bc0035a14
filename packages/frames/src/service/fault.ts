/**
 * The error reply of typed services, an addition of this project: MDP has no word for failure, so it travels as the body
 * of an ordinary reply. Two frames:
 *
 *     fault  = marker json
 *     marker = %xFF "fault1"           ; 0xFF occurs in no UTF-8, so no text codec can write this frame
 *     json   = { "code": text, "message": text, ? "issues": [ *{ "path": [ *(text / number) ], "message": text } ] }
 */
import { equalBytes, fromLatin1 } from '../bytes.js';
import { jsonCodec } from './codec.js';
import type { SchemaIssue } from './standard-schema.js';

/** One problem of a value. */
export interface ServiceIssue {
  /** Keys and indices from the value's root to the place; empty for the value itself. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A failure, as sent on the wire. */
export interface ServiceFault {
  /**
   * For programs, at most 64 characters. This project sends `REQUEST_INVALID`, `REPLY_INVALID`, `PARTIAL_INVALID` and
   * `HANDLER_FAILED`; applications may add their own.
   */
  readonly code: string;
  /** A text for people, at most 1024 characters. */
  readonly message: string;
  /** At most 16. */
  readonly issues?: readonly ServiceIssue[] | undefined;
}

/** Why there is no value. */
export interface ServiceRefusal extends ServiceFault {
  /** `remote`: the peer reported it in an error reply. `local`: this side found it. */
  readonly origin: 'local' | 'remote';
  /** What was thrown here, if anything. Never sent. */
  readonly cause?: unknown;
}

const MARKER = fromLatin1('\xfffault1');

/** Characters and counts, the same for what we send and what we accept. */
const CODE_MAX = 64;
const MESSAGE_MAX = 1024;
const ISSUES_MAX = 16;
const ISSUE_MESSAGE_MAX = 256;
const PATH_MAX = 12;
const KEY_MAX = 64;

/** Above the limits at six bytes a character, JSON's longest escape; checked before parsing. */
const FAULT_MAX_BYTES = 128 * 1024;

/** The body of an error reply, at most 128 KiB: anything longer than the limits is cut. Never throws. */
export function encodeFault(fault: ServiceFault): Uint8Array[] {
  return [MARKER, ...jsonCodec.encode(bounded(fault, fault.issues))];
}

/**
 * The failure that a reply reports, or `undefined` if the reply is not an error reply. An unreadable one is also a failure, of local origin.
 * Never throws.
 */
export function decodeFault(body: readonly Uint8Array[]): ServiceRefusal | undefined {
  if (!isFault(body)) return undefined;
  const fault = readFault(body);
  return fault === undefined
    ? { origin: 'local', code: 'REPLY_INVALID', message: 'error reply cannot be read' }
    : { origin: 'remote', ...fault };
}

/** True for frames that only an error reply can have. */
export function isFault(body: readonly Uint8Array[]): boolean {
  return body.length === 2 && equalBytes(body[0] as Uint8Array, MARKER);
}

/** Issues in their wire form: bounded in number, depth and length, with symbols spelled out. */
export function boundedIssues(issues: readonly SchemaIssue[]): ServiceIssue[] {
  return issues.slice(0, ISSUES_MAX).map(({ path = [], message }) => ({
    path: path.slice(0, PATH_MAX).map((part) => plainKey(typeof part === 'object' ? part.key : part)),
    message: message.slice(0, ISSUE_MESSAGE_MAX),
  }));
}

function bounded(fault: ServiceFault, issues: readonly SchemaIssue[] | undefined): ServiceFault {
  const code = fault.code.slice(0, CODE_MAX);
  const message = fault.message.slice(0, MESSAGE_MAX);
  return issues === undefined ? { code, message } : { code, message, issues: boundedIssues(issues) };
}

function plainKey(key: PropertyKey): string | number {
  return typeof key === 'number' && Number.isFinite(key) ? key : String(key).slice(0, KEY_MAX);
}

function readFault(body: readonly Uint8Array[]): ServiceFault | undefined {
  const frame = body[1] as Uint8Array;
  if (frame.length > FAULT_MAX_BYTES) return undefined;
  let value: unknown;
  try {
    value = jsonCodec.decode([frame]);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || typeof value['code'] !== 'string' || typeof value['message'] !== 'string') return undefined;
  const issues = Array.isArray(value['issues']) ? value['issues'].slice(0, ISSUES_MAX).filter(isIssue) : undefined;
  return bounded({ code: value['code'], message: value['message'] }, issues);
}

function isIssue(value: unknown): value is ServiceIssue {
  return (
    isRecord(value) &&
    typeof value['message'] === 'string' &&
    Array.isArray(value['path']) &&
    value['path'].every(isKey)
  );
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
