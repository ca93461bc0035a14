/** What may come on a lane, and when: docs/protocols/zmtp.md, "Lanes". */
import type { Legality } from '@proj/transport';
import type { KIND } from '../engine/framing/lane-frames.js';

/** The state of a lane, as the receiving side sees it. */
export type LaneState =
  | 'ours to open'
  | 'not open'
  | 'open'
  | 'ended by us'
  | 'ended by them'
  | 'reset by them'
  | 'over';

/** `ignore`: late frames of a lane that has ended. `fail`: the connection ends, with all its lanes. */
type Verdict = 'accept' | 'ignore' | 'fail';

/** The table of one lane; the connecting side chooses its number. The window limits the bytes of data. */
export const LANE: Legality<LaneState, keyof typeof KIND, Verdict> = {
  'ours to open': { open: ['fail'], data: ['fail'], end: ['fail'], reset: ['fail'], window: ['fail'] },
  'not open': { open: ['accept', 'open', 'over'], data: ['fail'], end: ['fail'], reset: ['fail'], window: ['fail'] },
  open: {
    open: ['fail'],
    data: ['accept'],
    end: ['accept', 'ended by them'],
    reset: ['accept', 'reset by them', 'over'],
    window: ['accept'],
  },
  'ended by us': {
    open: ['fail'],
    data: ['accept'],
    end: ['accept', 'ended by them', 'over'],
    reset: ['accept', 'reset by them', 'over'],
    window: ['ignore'],
  },
  'ended by them': {
    open: ['fail'],
    data: ['fail'],
    end: ['ignore'],
    reset: ['accept', 'reset by them', 'over'],
    window: ['accept'],
  },
  'reset by them': { open: ['fail'], data: ['fail'], end: ['ignore'], reset: ['ignore'], window: ['ignore'] },
  over: { open: ['fail'], data: ['ignore'], end: ['ignore'], reset: ['ignore'], window: ['ignore'] },
};

/** Transitions without a frame from the peer. */
export const LANE_MOVES = [
  ['ours to open', 'open sent', 'open'],
  ['open', 'end sent', 'ended by us'],
  ['ended by them', 'end sent', 'over'],
  ['reset by them', 'all was read', 'over'],
  [['open', 'ended by us', 'ended by them'], 'reset sent', 'over'],
] as const;
