/** Types of sizes.mjs, for its tests. */

export const BUDGET: { readonly installedBytes: number; readonly bundleBytes: number; readonly firstRequestMs: number };

export function bytesBelow(folder: string): number;

export function nativeBelow(folder: string): string[];

export function bundleOf(folder: string): Promise<{ readonly atOnce: number; readonly all: number }>;
