/** Property tests draw the same stories in every run, so that no landing is a matter of luck; PROJ_PROPERTY_SEED draws others. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

const DEFAULT_SEED = 20_261_122;

const { testPath } = expect.getState();
// Loaded only where it is used: most test files have no properties.
if (testPath !== undefined && readFileSync(testPath, 'utf8').includes("'fast-check'")) {
  const fc = await import('fast-check');
  const seed = Number(process.env['PROJ_PROPERTY_SEED'] ?? DEFAULT_SEED);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
