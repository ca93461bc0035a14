/**
 * Tests with other processes that run on each transport: `npm test` runs them on the default one, the task `long` on libzmq. The others
 * are about one of them, or about neither.
 */
export const ON_BOTH = '{attack,chaos}/**/!(judge|folder|full-disk).test.ts';

/** Those of the same folders that run once, in `npm test`. */
export const ONCE = ['attack/judge.test.ts', 'chaos/pzq/{folder,full-disk}.test.ts'];
