import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { SUBSCRIPTION_LEGALITY } from '../subscription.js';
import { LEGALITY, MOVES } from './engine/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/emqp.md', import.meta.url)), {
  'a command of a client': { table: LEGALITY, initial: 'sent', moves: MOVES },
  'a subscription': { table: SUBSCRIPTION_LEGALITY, initial: 'opening' },
});
