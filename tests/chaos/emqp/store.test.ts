// The broker is killed twice while ten guaranteed jobs a second come: with a store none is refused and none is lost.
import { it } from 'vitest';
import { SHORT } from '../restarts.js';
import { stage } from './stage.js';
import { jobsThroughRestarts } from './store.js';

const theater = stage();

it('a broker killed twice under load, with its store: no guaranteed job is refused, none is lost', () =>
  jobsThroughRestarts(theater, SHORT));
