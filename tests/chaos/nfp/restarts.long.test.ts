// The broker is killed four times, four seconds away each time, under ten jobs a second for any worker: none is rejected, none is lost.
import { it } from 'vitest';
import { FULL } from '../restarts.js';
import { postThroughRestarts } from './restarts.js';
import { stage } from './stage.js';

const theater = stage();

it('a broker killed four times under load: every job for any worker is done', { timeout: 600_000 }, () =>
  postThroughRestarts(theater, FULL),
);
