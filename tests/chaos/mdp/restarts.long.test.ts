// The broker is killed four times, for four seconds each, under ten requests a second: none is rejected, none is lost.
import { it } from 'vitest';
import { FULL } from '../restarts.js';
import { requestThroughRestarts } from './restarts.js';
import { stage } from './stage.js';

const theater = stage();

it('a broker killed four times under load rejects and loses no request', () => requestThroughRestarts(theater, FULL));
