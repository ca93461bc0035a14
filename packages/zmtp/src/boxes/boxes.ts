/** The boxes of NaCl that {@link Primitives} stand on, by whoever makes them. */
import type { Primitives } from '../engine/primitives.js';

/** XSalsa20-Poly1305, whole and in slices. */
export type Boxes = Pick<Primitives, 'seal' | 'open' | 'slices'>;
