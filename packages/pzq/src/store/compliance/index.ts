/**
 * The contract of every `QueueStore`, as cases for any test runner: rule 26 of docs/protocols/pzq.md. A queue server works on a store that
 * passes.
 *
 * ```ts
 * for (const { name, applies, run } of storeCompliance(subject)) it.runIf(applies)(name, run);
 * ```
 */
import { CONTENTS } from './contents.js';
import { DURABILITY } from './durability.js';
import { LEASES } from './leases.js';
import { MOMENTS } from './moments.js';
import type { StoreCapabilities, StoreSubject } from './rig.js';
import { bindCases } from './suite.js';
import type { ComplianceCase } from './suite.js';

export { writeUntilKilled } from './killed.js';
export type { StoreCapabilities, StorePlace, StoreSubject } from './rig.js';
export type { ComplianceCase } from './suite.js';

/** The cases for one implementation of `QueueStore`. Each creates its own places. */
export function storeCompliance(subject: StoreSubject): readonly ComplianceCase[] {
  return [
    ...bindCases(subject, CONTENTS),
    ...bindCases(subject, MOMENTS, 'moments'),
    ...Object.entries(DURABILITY).flatMap(([needs, cases]) =>
      bindCases(subject, cases, needs as keyof StoreCapabilities),
    ),
    ...bindCases(subject, LEASES, 'shared'),
  ];
}
