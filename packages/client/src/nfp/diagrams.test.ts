import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { LEGALITY, MOVES } from './engine/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/nfp.md', import.meta.url)), {
  'a job at its client': { table: LEGALITY, initial: 'posting', moves: MOVES },
});
