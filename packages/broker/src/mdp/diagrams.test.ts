import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { CALL_LEGALITY } from './engine/pool-engine.js';
import { LEGALITY, MOVES } from './engine/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/mdp.md', import.meta.url)), {
  'a worker at the broker': { table: LEGALITY, initial: 'stranger', moves: MOVES },
  'a call at the pool': { table: CALL_LEGALITY, initial: 'open' },
});
