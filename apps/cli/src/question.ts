/** What `proj call` asks and shows, in every protocol. */
import { ProjError } from '@proj/client';
import { decodeFault } from '@proj/frames/service';
import type * as z from 'zod';
import type { callOptions } from './options.js';

/** The options of `proj call` with defaults applied. */
export type CallSettings = z.output<typeof callOptions>;

/** Prints a reply. */
export type Show = (kind: 'partial' | 'final', frames: readonly Buffer[]) => void;

/** One call. */
export interface Question {
  readonly settings: CallSettings;
  /** Undefined if the protocol has no services. */
  readonly service: string | undefined;
  readonly body: Buffer[];
  /** Ends the wait when the user interrupts. */
  readonly stop: AbortSignal;
  readonly show: Show;
}

/** Shows the last reply. The error reply of a typed service is an answer, but not the requested one: `REJECTED`. */
export function finish({ service, show }: Question, frames: readonly Buffer[]): void {
  const fault = decodeFault(frames);
  if (fault !== undefined) {
    const subject = service === undefined ? 'request' : `service "${service}"`;
    throw new ProjError('REJECTED', `${subject} refused: ${fault.code}: ${fault.message}`);
  }
  show('final', frames);
}
