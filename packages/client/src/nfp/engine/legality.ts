/** NFP client: what answers and other events mean for a job in each phase. Client rules 2 to 4 of docs/protocols/nfp.md. */
import type { NfpDispatch } from '@proj/frames/nfp';
import type { Legality } from '@proj/transport/engine';

/**
 * The phase of a job: to be posted, or posted and unanswered (`posting`), waiting at the broker for a worker (`queued`), being looked for at the
 * workers (`probing`), in the hands of workers (`running`).
 */
export type NfpJobPhase = 'posting' | 'queued' | 'probing' | 'running';

/**
 * The broker's words in capitals; `of a GET` if they are about `all` and the job is not, `by name` if about some workers. `no`: status 400. `no
 * answer`: an empty body. `accepted`, `last word` and `missing` come from a worker.
 */
export type JobEvent =
  | 'DISPATCHED'
  | 'DISPATCHED of a GET'
  | 'PENDING'
  | 'CANCELLED'
  | 'FAILED'
  | 'FAILED of a GET'
  | 'FAILED by name'
  | 'no'
  | 'no answer'
  | 'accepted'
  | 'last word'
  | 'missing'
  | 'connection lost'
  | 'timeout';

/** `doubt`: the end of a job for any worker, unless it was offered again. `read`: as a worker's word. `probe`: find out by GET who knows it. */
type Verdict = 'accept' | 'probe' | 'doubt' | 'read' | 'fail' | 'late' | 'ignore';

/** At workers, known or not. */
const ASKED = {
  DISPATCHED: ['accept'],
  'DISPATCHED of a GET': ['accept'],
  PENDING: ['ignore'],
  CANCELLED: ['fail', 'over'],
  FAILED: ['doubt', 'over'],
  // The workers are away for now.
  'FAILED of a GET': ['ignore'],
  'FAILED by name': ['ignore'],
  no: ['read'],
  'no answer': ['read'],
  accepted: ['accept'],
  'last word': ['accept', 'running', 'over'],
  missing: ['accept', 'posting', 'over'],
  'connection lost': ['ignore'],
  timeout: ['fail', 'over'],
} as const;

/** Which event means what in which phase. */
export const LEGALITY: Legality<NfpJobPhase | 'over', JobEvent, Verdict> = {
  posting: {
    DISPATCHED: ['accept', 'running'],
    'DISPATCHED of a GET': ['ignore'],
    PENDING: ['accept', 'queued'],
    CANCELLED: ['fail', 'over'],
    FAILED: ['fail', 'over'],
    'FAILED of a GET': ['ignore'],
    'FAILED by name': ['fail', 'over'],
    no: ['fail', 'over'],
    'no answer': ['fail', 'over'],
    accepted: ['ignore'],
    'last word': ['late'],
    missing: ['ignore'],
    'connection lost': ['probe', 'probing', 'posting'],
    timeout: ['fail', 'over'],
  },
  queued: {
    ...ASKED,
    DISPATCHED: ['accept', 'running'],
    'DISPATCHED of a GET': ['ignore'],
    FAILED: ['fail', 'over'],
    // The broker has forgotten the waiting job.
    'FAILED of a GET': ['probe', 'probing'],
    'FAILED by name': ['probe', 'probing'],
    missing: ['accept'],
    'connection lost': ['probe', 'probing'],
  },
  probing: { ...ASKED, accepted: ['accept', 'running'] },
  running: { ...ASKED, 'last word': ['accept', 'over'], timeout: ['accept', 'over'] },
  over: {
    DISPATCHED: ['late'],
    'DISPATCHED of a GET': ['late'],
    PENDING: ['late'],
    CANCELLED: ['late'],
    FAILED: ['late'],
    'FAILED of a GET': ['late'],
    'FAILED by name': ['late'],
    no: ['late'],
    'no answer': ['late'],
    accepted: ['late'],
    'last word': ['late'],
    missing: ['late'],
    'connection lost': ['ignore'],
    timeout: ['ignore'],
  },
};

/** Transitions that the session makes itself. */
export const MOVES = [[['posting', 'queued', 'probing', 'running'], 'aborted or closed', 'over']] as const;

/** The broker's word for a job with this target. All workers are asked about a job for any worker until one is known to have it. */
export function eventOfDispatch({ status, target }: NfpDispatch, own: string): JobEvent {
  if (status === 'PENDING' || status === 'CANCELLED' || target === own) return status;
  if (target === 'all') return `${status} of a GET`;
  return status === 'FAILED' ? 'FAILED by name' : status;
}
