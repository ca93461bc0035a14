/** NFP client: what calls of tasks say, and the answers of the broker's services. Section "Bodies" of docs/protocols/nfp.md. */
import { encodeNfpJson } from '@proj/frames/nfp';
import { ProjError, toBuffers, toFrames } from '@proj/transport';

/** Frames besides the body: header, command, names of 255 bytes, a target. */
const BYTES_BESIDE_BODY = 66_600;

/** A call as workers read it. */
export interface TaskCall {
  readonly task: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly args: readonly unknown[];
}

/** The body that says this. Throws `PROTOCOL_LOCAL` for what JSON cannot say, and for too much. */
export function encodeBody(subject: string, value: unknown, maxMessageBytes: number): Uint8Array[] {
  const limits = { frames: 1, bytes: Math.max(0, maxMessageBytes - BYTES_BESIDE_BODY) };
  let body: Uint8Array[];
  try {
    body = encodeNfpJson(value);
  } catch (cause) {
    throw new ProjError('PROTOCOL_LOCAL', `${subject}: the arguments have no JSON; send plain data`, { cause });
  }
  return toFrames(subject, body, limits);
}

/** What GET says: the task's name, since workers of every release read a body that has one. */
export function questionOf(task: string): Uint8Array[] {
  return encodeNfpJson({ task, kwargs: {}, args: [] });
}

/** The JSON in an answer. Throws `UNEXPECTED_ANSWER` where there is none. */
export function parseAnswer(subject: string, body: readonly Uint8Array[]): unknown {
  const [frame] = toBuffers(body);
  try {
    return JSON.parse(frame?.toString() ?? '');
  } catch (cause) {
    throw new ProjError(
      'UNEXPECTED_ANSWER',
      `${subject}: 417: the answer is no JSON: ${frame?.toString('utf8', 0, 200) ?? ''}`,
      { cause, details: { status: 417 } },
    );
  }
}
