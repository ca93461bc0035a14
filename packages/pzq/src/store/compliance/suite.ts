/** How the cases of the suite are written down. */
import { StoreRig } from './rig.js';
import type { StoreCapabilities, StoreSubject } from './rig.js';

/** One fact about a store, to be registered with any test runner. */
export interface ComplianceCase {
  readonly name: string;
  /** False when the subject says that it cannot do what the case is about. */
  readonly applies: boolean;
  /** Resolves when the subject behaves, rejects with an `Error` that says what it did instead. */
  readonly run: () => Promise<void>;
}

/** A case before it meets its subject. */
export interface CaseDefinition {
  readonly name: string;
  readonly needs?: keyof StoreCapabilities;
  readonly run: (rig: StoreRig) => Promise<void>;
}

/** Binds a definition to a subject; stores are closed and places removed whatever happens. */
export function bindCase({ name, needs, run }: CaseDefinition, subject: StoreSubject): ComplianceCase {
  return {
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
  };
}
