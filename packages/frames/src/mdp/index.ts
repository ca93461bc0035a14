/**
 * Majordomo: 18/MDP (0.2), 7/MDP (0.1) and 8/MMI between frames and commands. `commands.ts` has the words, `wire.ts` the
 * grammar and every fixed byte.
 */
export type * from './commands.js';
export * from './decode.js';
export { encodeMdp } from './encode.js';
export * from './mmi.js';
