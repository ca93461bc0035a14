import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { LEGALITY, MOVES } from '../shared/request-legality.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/ppp.md', import.meta.url)), {
  'a request socket of a client': { table: LEGALITY, initial: 'free', moves: MOVES },
});
