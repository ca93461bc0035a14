// The broker is killed twice under ten jobs a second for any worker or for all: none is rejected or lost, and no job for all goes only to
// some.
import { it } from 'vitest';
import { SHORT } from '../restarts.js';
import { postThroughRestarts } from './restarts.js';
import { stage } from './stage.js';

const theater = stage();
/** Jobs wait this long for a worker after a restart: much longer than a transport pauses before it reconnects (2 s). */
const SETTLE = { 'nfp-settle-ms': 5000 };
/** A process that waits two seconds for a core must not count as lost: after four losses a job is given up, as it should be. */
const BEATS = { 'heartbeat-ms': 1000 };

it.each(['any', 'all'] as const)('a broker killed twice under load: every job for %s is done', (target) =>
  postThroughRestarts(theater, SHORT, target, SETTLE, BEATS),
);
