import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { LEGALITY, MOVES, RUN_MOVES, RUNS } from './engine/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../docs/protocols/emqp.md', import.meta.url)), {
  "a scheduler's conversation": { table: LEGALITY, initial: 'resting', moves: MOVES },
  'the run of a job': { table: RUNS, initial: 'idle', moves: RUN_MOVES },
});
