// 1,000 requests while every hundredth costs a worker its life: none is lost, none is answered twice, and no client asks again.
import { it } from 'vitest';
import { costALife } from './costly-requests.js';
import { stage } from './stage.js';

const theater = stage();

it('0 of 1,000 requests are lost with a worker killed every 100', () => costALife(theater, 1_000));
