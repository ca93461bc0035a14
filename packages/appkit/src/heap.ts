/** Heap settings for many small, short-lived objects: docs/adr/0019-a-large-young-generation.md. */
import { setFlagsFromString } from 'node:v8';

/**
 * Lets the young generation of every heap in this process grow to full size (`node --max-semi-space-size`, twice 16 MiB by default) in one step,
 * as soon as it grows at all. Permanent: call it in the first line of a program.
 */
export function growYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=16');
}
