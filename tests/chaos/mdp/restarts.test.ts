// The broker is killed twice under ten requests a second: none is rejected, none is lost.
import { it } from 'vitest';
import { SHORT } from '../restarts.js';
import { requestThroughRestarts } from './restarts.js';
import { stage } from './stage.js';

const theater = stage();

it('a broker killed twice under load rejects and loses no request', () => requestThroughRestarts(theater, SHORT));
