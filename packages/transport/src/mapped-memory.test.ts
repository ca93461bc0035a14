import { expect, it, vi } from 'vitest';
import { growMapped, isMapped, mapMemory } from './mapped-memory.js';

it('is zeroed, in a mapping of its own', () => {
  const memory = mapMemory(5000);
  expect(memory).toEqual(new Uint8Array(5000));
  expect([isMapped(memory!.buffer), isMapped(new Uint8Array(1).buffer)]).toEqual([true, false]);
});

it('grows in place as far as it was reserved, and keeps its bytes', () => {
  const memory = mapMemory(5000, 20_000)!.fill(7);
  const grown = growMapped(memory, 20_000)!;
  expect([grown.buffer === memory.buffer, grown.length, grown[4999], grown[5000]]).toEqual([true, 20_000, 7, 0]);
  expect(growMapped(grown, 20_001)).toBeUndefined();
  expect(growMapped(new Uint8Array(10), 5)).toBeUndefined();
});

it('is refused if there are not so many addresses', () => {
  expect(mapMemory(1, 2 ** 50)).toBeUndefined();
});

it('is refused beyond 16,384 mappings, of which a process has four times as many', async () => {
  // Other tests of this process have mappings, too.
  vi.resetModules();
  const fresh = await import('./mapped-memory.js');
  const pieces: Uint8Array[] = [];
  for (let piece = fresh.mapMemory(1); piece !== undefined; piece = fresh.mapMemory(1)) pieces.push(piece);
  expect(pieces.length).toBe(16_384);
});
