import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { LEGALITY, MOVES } from './engine/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/emqp.md', import.meta.url)), {
  'a connection of a job manager': { table: LEGALITY, initial: 'closed', moves: MOVES },
});
