import type { Options } from 'tsup';

/** Writes `sbom.cdx.json` and `THIRD-PARTY-NOTICES.txt` from what the bundler has read. */
export function inventory(): NonNullable<Options['esbuildPlugins']>[number];
