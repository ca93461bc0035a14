/** What may come on a lane, and when: docs/protocols/zmtp.md, "Lanes". */
import type { Legality } from '@proj/transport';
import type { KIND } from '../engine/lane-frames.js';

/** What a lane is to the side that receives. */
export type LaneState =
  | 'ours to open'
  | 'not open'
  | 'open'
  | 'ended by us'
  | 'ended by them'
  | 'reset by them'
  | 'over';

/** `ignore`: what is still under way to a lane that is over. `fail`: the connection ends, with all its lanes. */
type Verdict = 'accept' | 'ignore' | 'fail';

/** Of one lane, whose numbers the side that connected chooses. How many bytes of data are legal, the window says. */
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

/** What a side does by itself. */
export const LANE_MOVES = [
  ['ours to open', 'open sent', 'open'],
  ['open', 'end sent', 'ended by us'],
  ['ended by them', 'end sent', 'over'],
  ['reset by them', 'all was read', 'over'],
  [['open', 'ended by us', 'ended by them'], 'reset sent', 'over'],
] as const;
