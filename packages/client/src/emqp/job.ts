/** EventMQ client: jobs to bytes, and bytes to results. */
import { encodeEmqpJson } from '@proj/frames/emqp';
import { parseOptions, ProjError, toBuffers, toFrames } from '@proj/transport';
import type { Frame } from '@proj/transport';
import { emqpJob } from './options.js';
import type { EmqpJob } from './options.js';

/**
 * The body of a job: bytes and text as they are, an {@link EmqpJob} as EventMQ's own client writes it. Throws `OPTIONS_INVALID`
 * or `PROTOCOL_LOCAL`, beginning with `subject`, for what is no job or over the limit.
 */
export function bodyOf(subject: string, job: EmqpJob | Frame, maxBytes: number): Uint8Array {
  const frame = typeof job === 'string' || job instanceof Uint8Array ? job : write(subject, job);
  return toFrames(subject, frame, { frames: 1, bytes: maxBytes })[0] as Uint8Array;
}

function write(subject: string, job: EmqpJob): string {
  const { path, callable, args, kwargs, classArgs, classKwargs } = parseOptions(`${subject}: job`, emqpJob, job);
  // In the order of EventMQ's own client: peers compare the parts, but people compare logs.
  const parts = { callable, path, args, kwargs, class_args: classArgs, class_kwargs: classKwargs };
  try {
    return encodeEmqpJson(JSON.parse(JSON.stringify(['run', parts])));
  } catch (cause) {
    throw new ProjError('PROTOCOL_LOCAL', `${subject}: the job's arguments have no JSON; send plain data`, { cause });
  }
}

/** The `x` of `{"value": x}`. Throws `PROTOCOL_REMOTE`, with the frame as `details.result`, for anything else. */
export function readResult(subject: string, frame: Uint8Array): unknown {
  const [result = Buffer.alloc(0)] = toBuffers([frame]);
  try {
    const parsed: unknown = JSON.parse(result.toString());
    if (typeof parsed === 'object' && parsed !== null && Object.hasOwn(parsed, 'value'))
      return (parsed as { value: unknown }).value;
  } catch {
    // Said below.
  }
  throw new ProjError('PROTOCOL_REMOTE', `${subject}: the result is not {"value": ...}; see details.result`, {
    details: { result },
  });
}
