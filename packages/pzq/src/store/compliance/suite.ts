/** The form of the suite's cases. */
import { StoreRig } from './rig.js';
import type { StoreCapabilities, StoreSubject } from './rig.js';

/** One fact about a store, to be registered with any test runner. */
export interface ComplianceCase {
  readonly name: string;
  /** False if the subject lacks a feature that the case needs. */
  readonly applies: boolean;
  /** Resolves if the subject behaves; rejects with an `Error` that says what it did instead. */
  readonly run: () => Promise<void>;
}

/** Cases by their names. */
export type Cases = Readonly<Record<string, (rig: StoreRig) => Promise<void>>>;

/** Binds cases, which may need a capability, to a subject. Stores are closed and places removed whatever happens. */
export function bindCases(
  subject: StoreSubject,
  cases: Cases,
  needs?: keyof StoreCapabilities,
): readonly ComplianceCase[] {
  return Object.entries(cases).map(([name, run]) => ({
    name,
    applies: needs === undefined || subject.capabilities[needs],
    run: async () => {
      const rig = new StoreRig(subject);
      try {
        await run(rig);
      } finally {
        await rig.close();
      }
    },
  }));
}
