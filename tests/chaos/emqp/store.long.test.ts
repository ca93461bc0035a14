// The broker is killed four times, for four seconds each, under ten guaranteed jobs a second: with a store none is refused and none is lost.
import { it } from 'vitest';
import { FULL } from '../restarts.js';
import { stage } from './stage.js';
import { jobsThroughRestarts } from './store.js';

const theater = stage();

it('a broker with a store, killed four times under load, refuses and loses no guaranteed job', () =>
  jobsThroughRestarts(theater, FULL));
