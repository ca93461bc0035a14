// crash.test.ts, ten times as long.
import { it } from 'vitest';
import { killUnderLoad } from './kills.js';
import { stage } from './stage.js';

const theater = stage();

it(
  'rules 2, 13, 20: 50 times killed under load, no acknowledged message is lost and no settled one comes again',
  { timeout: 900_000 },
  () => killUnderLoad(theater, 50),
);
