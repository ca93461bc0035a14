/** What to run. */
export type TestPlan =
  | { readonly tasks: readonly string[] }
  | { readonly patterns: readonly string[]; readonly options: readonly string[]; readonly folder: string | undefined }
  | { readonly refused: string };

export const INTEROP: string;
export function planOf(args: readonly string[]): TestPlan;
export function runsOf(tasks: readonly string[], built: readonly string[]): string[][];
export function filesWith(patterns: readonly string[], paths: readonly string[]): string[];
