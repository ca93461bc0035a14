// The broker is killed four times, for four seconds each, under ten jobs a second for any worker or for all: none is rejected or lost, and no job for all goes only to
// some.
import { it } from 'vitest';
import { FULL } from '../restarts.js';
import { postThroughRestarts } from './restarts.js';
import { stage } from './stage.js';

const theater = stage();

it.each(['any', 'all'] as const)('a broker killed four times under load: every job for %s is done', (target) =>
  postThroughRestarts(theater, FULL, target),
);
