// The broker is killed twice under ten guaranteed jobs a second: with a store none is refused and none is lost.
import { it } from 'vitest';
import { SHORT } from '../restarts.js';
import { stage } from './stage.js';
import { jobsThroughRestarts } from './store.js';

const theater = stage();

it('a broker with a store, killed twice under load, refuses and loses no guaranteed job', () =>
  jobsThroughRestarts(theater, SHORT));
