// The broker is killed four times, four seconds away each time, while ten guaranteed jobs a second come: with a store none is refused and none is lost.
import { it } from 'vitest';
import { FULL } from '../restarts.js';
import { stage } from './stage.js';
import { jobsThroughRestarts } from './store.js';

const theater = stage();

it(
  'a broker killed four times under load, with its store: no guaranteed job is refused, none is lost',
  { timeout: 600_000 },
  () => jobsThroughRestarts(theater, FULL),
);
