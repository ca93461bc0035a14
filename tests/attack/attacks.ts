/** All attacks there are, in the order of the table. */
import type { Attack } from './attack.js';
import { WIRE } from './rows/wire.js';

/** See {@link Attack}. */
export const ATTACKS: readonly Attack[] = [...WIRE];
