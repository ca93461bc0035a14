/** The protocols that are measured under load. A new protocol is a file in this folder and an entry here. */
import { emqp } from './emqp.js';
import { mdp } from './mdp.js';
import { nfp } from './nfp.js';
import { ppp } from './ppp.js';

/** By protocol. */
export const CONTESTS = { emqp, mdp, nfp, ppp };

/** Protocols that the load can speak. */
export type Protocol = keyof typeof CONTESTS;
