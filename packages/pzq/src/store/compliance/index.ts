/**
 * What every {@link QueueStore} must do, as cases for any test runner: rule 26 of docs/protocols/pzq.md. A queue server works
 * over a store that passes.
 *
 * ```ts
 * for (const { name, applies, run } of storeCompliance(subject)) it.runIf(applies)(name, run);
 * ```
 */
import { CONTENTS } from './contents.js';
import { DURABILITY } from './durability.js';
import { LEASES } from './leases.js';
import { MOMENTS } from './moments.js';
import type { StoreSubject } from './rig.js';
import { bindCase } from './suite.js';
import type { ComplianceCase } from './suite.js';

export { writeUntilKilled } from './killed.js';
export type { StoreCapabilities, StorePlace, StoreSubject } from './rig.js';
export type { ComplianceCase } from './suite.js';

/** The cases for one implementation of `QueueStore`. Each makes its own places. */
export function storeCompliance(subject: StoreSubject): readonly ComplianceCase[] {
  return [...CONTENTS, ...MOMENTS, ...DURABILITY, ...LEASES].map((definition) => bindCase(definition, subject));
}
