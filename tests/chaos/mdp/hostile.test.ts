// 20,000 garbled messages from connections that open and close; hostile.long.test.ts has more.
import { peerGroup } from '@proj/testkit';
import { it } from 'vitest';
import { SEED, withstand } from './hostile-connections.js';

const { launch } = peerGroup();

it(`20,000 hostile messages (seed ${SEED}): others are served, memory stays flat, drops are counted`, () =>
  withstand(launch, 20, 30));
