import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { LEGALITY, MOVES } from './engine/legality.js';
import { CALL_LEGALITY } from './engine/pool-engine.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/ppp.md', import.meta.url)), {
  'a worker at the queue': { table: LEGALITY, initial: 'stranger', moves: MOVES },
  'a call at the pool': { table: CALL_LEGALITY, initial: 'open' },
});
