// 10,000 requests while every hundredth one kills a worker: none is lost, none is answered twice, and no client asks again.
import { it } from 'vitest';
import { costALife } from './costly-requests.js';
import { stage } from './stage.js';

const theater = stage();

it('0 of 10,000 requests are lost if a worker is killed every 100 requests', () => costALife(theater, 10_000));
