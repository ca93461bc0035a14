import { fileURLToPath } from 'node:url';
import { checkDiagrams } from '@proj/testkit';
import { CONNECTION, CONNECTION_MOVES, HANDSHAKE } from './engine/legality.js';
import { LANE, LANE_MOVES } from './lanes/legality.js';

checkDiagrams(fileURLToPath(new URL('../../../docs/protocols/zmtp.md', import.meta.url)), {
  'a connection': { table: CONNECTION, initial: 'greeting', moves: CONNECTION_MOVES },
  'a handshake of NULL': { table: only('NULL, READY sent', 'complete'), initial: 'NULL, READY sent' },
  'a client of PLAIN or CURVE': {
    table: only('client, HELLO sent', 'client, INITIATE sent', 'complete'),
    initial: 'client, HELLO sent',
  },
  'a server of PLAIN or CURVE': { table: only('server', 'server, WELCOME sent', 'complete'), initial: 'server' },
  'a lane': { table: LANE, initial: 'not open', moves: LANE_MOVES },
});

/** The part of the handshake table with these states. Unexpected commands end the connection and get no arrow. */
function only(...states: readonly (keyof typeof HANDSHAKE)[]) {
  return Object.fromEntries(
    states.map((state) => [
      state,
      Object.fromEntries(Object.entries(HANDSHAKE[state]).filter(([, [verdict]]) => verdict === 'accept')),
    ]),
  );
}
