/** The engines that are compared with MDP's. A new protocol is a file in this folder and an entry here. */
import { emqp } from './emqp.js';
import { mdp } from './mdp.js';
import { nfp } from './nfp.js';
import { ppp } from './ppp.js';
import { pzq } from './pzq.js';
import type { Round } from './round.js';

/** The engine that the others are compared with. */
export const YARDSTICK = { name: 'MDP', open: mdp };

/** Each with the most that a request may cost in it, over the yardstick: what it was when it was last reviewed, plus a fifth. */
export const ENGINES = {
  PPP: { open: ppp, atMost: 1.25 },
  'NFP, job for any worker': { open: () => nfp('any'), atMost: 12.5 },
  'NFP, job for all workers, each': { open: () => nfp('all'), atMost: 2.5 },
  eMQP: { open: emqp, atMost: 12 },
  PZQ: { open: pzq, atMost: 7.7 },
} satisfies Readonly<Record<string, { readonly open: () => Round; readonly atMost: number }>>;

/** A protocol, or one of its ways to ask. */
export type EngineName = keyof typeof ENGINES;
