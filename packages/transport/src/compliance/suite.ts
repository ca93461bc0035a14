/** The form of the suite's cases. */

/** One fact about a port, to be registered with any test runner. */
export interface ComplianceCase {
  readonly name: string;
  /** False if the subject lacks a feature that the case needs. */
  readonly applies: boolean;
  /** Resolves if the subject behaves; rejects with an `Error` that says what it did instead. */
  readonly run: () => Promise<void>;
}

/** Cases by their names, before they meet their subject. */
export type Cases<Rig> = Readonly<Record<string, (rig: Rig) => Promise<void>>>;

/** Gives each case a rig of its own, which is closed whatever happens. */
export function bindCases<Rig extends { close(): Promise<void> }>(
  open: () => Rig,
  cases: Cases<Rig>,
  applies = true,
): readonly ComplianceCase[] {
  return Object.entries(cases).map(([name, run]) => ({
    name,
    applies,
    run: async () => {
      const rig = open();
      try {
        await run(rig);
      } finally {
        await rig.close();
      }
    },
  }));
}
