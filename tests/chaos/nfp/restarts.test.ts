// The broker is killed twice under ten jobs a second for any worker: none is rejected, none is lost.
import { it } from 'vitest';
import { SHORT } from '../restarts.js';
import { postThroughRestarts } from './restarts.js';
import { stage } from './stage.js';

const theater = stage();
/** Jobs wait this long for a worker after a restart: much longer than a transport pauses before it connects again (2 s). */
const SETTLE = { 'nfp-settle-ms': 5000 };
const BEATS = { 'heartbeat-ms': 500 };

it('a broker killed twice under load: every job for any worker is done', () =>
  postThroughRestarts(theater, SHORT, SETTLE, BEATS));
