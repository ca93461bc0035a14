/** The NaCl boxes behind {@link Primitives}, from any implementation. */
import type { Primitives } from '../engine/mechanisms/primitives.js';

/** XSalsa20-Poly1305, whole and in slices. */
export type Boxes = Pick<Primitives, 'seal' | 'open' | 'slices'>;
