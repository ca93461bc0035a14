/** Types of release-checks.mjs, for its tests. */

export function inspect(root: string, dir: string, tarball: string): Promise<{ readonly faults: readonly string[] }>;

export function isAllowed(expression?: string): boolean;
