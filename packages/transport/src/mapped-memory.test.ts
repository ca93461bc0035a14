import { expect, it } from 'vitest';
import { isMapped, mapMemory } from './mapped-memory.js';

it('is zeroed, in a mapping of its own', () => {
  const memory = mapMemory(5000);
  expect(memory).toEqual(new Uint8Array(5000));
  expect([isMapped(memory!.buffer), isMapped(new Uint8Array(1).buffer)]).toEqual([true, false]);
});

it('is refused beyond 16,384 mappings, of which a process has four times as many', () => {
  const pieces: Uint8Array[] = [];
  for (let piece = mapMemory(1); piece !== undefined; piece = mapMemory(1)) pieces.push(piece);
  expect(pieces.length).toBeGreaterThan(16_384 - 10);
  expect(pieces.length).toBeLessThanOrEqual(16_384);
});
