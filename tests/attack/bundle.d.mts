/** See bundle.mjs. */
export function bundle(names: readonly string[]): Promise<{ readonly folder: string; remove(): Promise<void> }>;
