import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { LEGALITY, MOVES } from './engine/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/mdp.md', import.meta.url)), {
  'a conversation of a worker': { table: LEGALITY, initial: 'closed', moves: MOVES },
});
