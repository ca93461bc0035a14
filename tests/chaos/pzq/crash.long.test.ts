// crash.test.ts, ten times as long.
import { it } from 'vitest';
import { killUnderLoad } from './kills.js';
import { stage } from './stage.js';

const theater = stage();

it(
  'rules 2, 13, 20: a queue killed 50 times under load loses no acknowledged message and repeats no settled one',
  { timeout: 900_000 },
  () => killUnderLoad(theater, 50),
);
