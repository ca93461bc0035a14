import type { Plugin } from 'esbuild';

/** An esbuild plugin that lists the packages of a bundle as CycloneDX and gathers their licences. */
export function inventory(): Plugin;
