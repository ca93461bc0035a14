import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { ADMIN, LEGALITY, MOVES } from './engine/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/emqp.md', import.meta.url)), {
  'a peer at the broker': { table: LEGALITY, initial: 'stranger', moves: MOVES },
  'the broker at its admin port': { table: ADMIN, initial: 'serving' },
});
