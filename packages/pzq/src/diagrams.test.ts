import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { LEGALITY, MOVES } from './engine/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../docs/protocols/pzq.md', import.meta.url)), {
  'a message in the queue': { table: LEGALITY, initial: 'stored', moves: MOVES },
});
