import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { LEGALITY as CONSUMER, MOVES as CONSUMER_MOVES } from './engine/consumer-legality.js';
import { LEGALITY as PRODUCER, MOVES as PRODUCER_MOVES } from './engine/producer-legality.js';

checkDiagrams(fileURLToPath(new URL('../../../../docs/protocols/pzq.md', import.meta.url)), {
  'a message at its producer': { table: PRODUCER, initial: 'waiting', moves: PRODUCER_MOVES },
  'a message at a consumer': { table: CONSUMER, initial: 'unknown', moves: CONSUMER_MOVES },
});
