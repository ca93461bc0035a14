/** The form of the suite's cases. */
import { PortRig } from './rig.js';
import type { PortCapabilities, PortSubject } from './rig.js';

/** One fact about a port, to be registered with any test runner. */
export interface ComplianceCase {
  readonly name: string;
  /** False if the subject lacks a feature that the case needs. */
  readonly applies: boolean;
  /** Resolves if the subject behaves; rejects with an `Error` that says what it did instead. */
  readonly run: () => Promise<void>;
}

/** A case before it meets its subject. */
export interface CaseDefinition {
  readonly name: string;
  readonly needs?: keyof PortCapabilities;
  readonly run: (rig: PortRig) => Promise<void>;
}

/** Binds a definition to a subject; sockets are closed whatever happens. */
export function bindCase({ name, needs, run }: CaseDefinition, subject: PortSubject): ComplianceCase {
  return {
    name,
    applies: needs === undefined || subject.capabilities[needs],
    run: async () => {
      const rig = new PortRig(subject);
      try {
        await run(rig);
      } finally {
        await rig.close();
      }
    },
  };
}
