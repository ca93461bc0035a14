/** What each test file starts with. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** Property tests draw the same stories in every run, so that no landing is a matter of luck; PROJ_PROPERTY_SEED draws others. */
const DEFAULT_SEED = 20_261_122;

const { testPath } = expect.getState();
// Loaded only where it is used: most test files have no properties.
if (testPath !== undefined && readFileSync(testPath, 'utf8').includes("'fast-check'")) {
  const fc = await import('fast-check');
  const seed = Number(process.env['PROJ_PROPERTY_SEED'] ?? DEFAULT_SEED);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}

/** Equal bytes of one class are equal; all else is for the other testers. They take ten seconds for a megabyte. */
function sameBytes(one: unknown, other: unknown): true | undefined {
  if (!(one instanceof Uint8Array && other instanceof Uint8Array)) return undefined;
  return one.constructor === other.constructor && Buffer.compare(one, other) === 0 ? true : undefined;
}

// Files that share a process share the testers, too.
const shared = globalThis as { hasBytesTester?: true };
if (shared.hasBytesTester === undefined) expect.addEqualityTesters([sameBytes]);
shared.hasBytesTester = true;
