/** How V8's heap is set up where many small objects are made and few live on: docs/adr/0019-a-large-young-generation.md. */
import { setFlagsFromString } from 'node:v8';

/**
 * Lets the young generation of every heap of this process grow to its full size (`node --max-semi-space-size`, 16 MiB twice by
 * default) in one step, as soon as it grows at all. Not undone: it is for the first line of a program.
 */
export function growYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=16');
}
