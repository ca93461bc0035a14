/** All attacks, in the order of the table. */
import type { Attack } from './attack.js';
import { EMQP } from './rows/emqp.js';
import { MDP } from './rows/mdp.js';
import { NFP } from './rows/nfp.js';
import { PPP } from './rows/ppp.js';
import { PZQ } from './rows/pzq.js';
import { VARIANTS } from './rows/variants.js';
import { WIRE } from './rows/wire.js';

/** See {@link Attack}. */
export const ATTACKS: readonly Attack[] = [...WIRE, ...MDP, ...VARIANTS, ...NFP, ...EMQP, ...PPP, ...PZQ];
