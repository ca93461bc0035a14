// The broker is killed four times, four seconds away each time, under ten requests a second: none is rejected, none is lost.
import { it } from 'vitest';
import { FULL } from '../restarts.js';
import { requestThroughRestarts } from './restarts.js';
import { stage } from './stage.js';

const theater = stage();

it('a broker killed four times under load: no request is rejected, none is lost', { timeout: 600_000 }, () =>
  requestThroughRestarts(theater, FULL),
);
