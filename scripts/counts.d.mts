/** Types of counts.mjs, for its tests. */

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

export function countReport(report: {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}): Count;

export function countTask(
  task: { readonly taskId: string; readonly task: string; readonly execution?: { readonly exitCode: number | null } },
  report?: Parameters<typeof countReport>[0],
): Count & { readonly id: string };

export function failuresOf(report: {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}): string[];
