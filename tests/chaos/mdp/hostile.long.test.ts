// 100,000 garbled messages from connections that open and close: a leak of 20 bytes for each would show.
import { peerGroup } from '@proj/testkit';
import { it } from 'vitest';
import { SEED, withstand } from './hostile-connections.js';

const { launch } = peerGroup();

it(`100,000 hostile messages (seed ${SEED}): others are served, memory stays flat, drops are counted`, () =>
  withstand(launch, 100, 80));
