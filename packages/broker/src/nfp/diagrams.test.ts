import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { CALLS, JOB_MOVES, PART_MOVES, PARTS, WORKER_MOVES, WORKERS } from './engine/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/nfp.md', import.meta.url)), {
  'a worker at the broker': { table: WORKERS, initial: 'stranger', moves: WORKER_MOVES },
  'a job at the broker': { table: CALLS, initial: 'unknown', moves: JOB_MOVES },
  'a job at one worker, as the broker follows it': { table: PARTS, initial: 'none', moves: PART_MOVES },
});
