import { describe, expect, it } from 'vitest';
import { fits, inventoryOf, outlineOf } from './inventory.js';
import type { NfpInventory } from './inventory.js';

function inventory(...workers: [glob: string, data: Record<string, unknown>][]): NfpInventory {
  return {
    broker: { endpoint: 'tcp://127.0.0.1:5555' },
    topology: {},
    workers: workers.map(([glob, data], index) => ({ glob, source: `${index}.yaml`, data })),
  };
}

describe('globs', () => {
  it.each<[glob: string, name: string, expected: boolean]>([
    ['w1', 'w1', true],
    ['w1', 'W1', false],
    ['w1', 'w12', false],
    ['*', '', true],
    ['*', 'any name', true],
    ['w*', 'w', true],
    ['*-1', 'a-1-1', true],
    ['a*b*c', 'aXXbYYc', true],
    ['a*b*c', 'aXXcYYb', false],
    ['?', '', false],
    ['w?', 'w1', true],
    ['w?', 'w', false],
    ['w[12]', 'w2', true],
    ['w[12]', 'w3', false],
    ['w[0-9]', 'w7', true],
    ['w[0-9a]', 'wa', true],
    ['w[!0-9]', 'w7', false],
    ['w[!0-9]', 'wx', true],
    ['w[]]', 'w]', true],
    ['w[!]]', 'w]', false],
    ['w[-a]', 'w-', true],
    ['w[a-]', 'w-', true],
    ['w[', 'w[', true],
    ['w[12', 'w[12', true],
    ['w[12', 'w1', false],
    ['[*]', '*', true],
    ['[*]', 'x', false],
    ['w.1', 'wx1', false],
    ['', '', true],
    ['', 'w', false],
  ])('rule 20: %j and %j: %s', (glob, name, expected) => {
    expect(fits(name, glob)).toBe(expected);
  });

  it('cost at most the product of both lengths', () => {
    const glob = `${'*a'.repeat(2000)}b`;
    expect(fits('a'.repeat(255), glob)).toBe(false);
    expect(fits('a'.repeat(4000), `${'*a'.repeat(20)}*b`)).toBe(false);
  });
});

describe('what an inventory says of a worker', () => {
  it('rule 20: is merged in file order: objects, lists without duplicates, the last scalar', () => {
    const all = inventory(
      ['*', { service: 'none', lst: ['a', 'b'], d: { x: 1, y: 2 }, hosts: { h1: { port: 22 } } }],
      ['other-*', { service: 'other' }],
      ['sample-w[0-9]', { service: 'sample', lst: ['b', 'c', { k: 1 }, { k: 1 }], d: { y: 3, z: 4 } }],
      ['sample-w1', { hosts: { h1: { name: 'one' } }, d: 7 }],
    );
    expect(inventoryOf(all, 'sample-w2')).toEqual({
      service: 'sample',
      lst: ['a', 'b', 'c', { k: 1 }],
      d: { x: 1, y: 3, z: 4 },
      hosts: { h1: { port: 22 } },
    });
    expect(inventoryOf(all, 'sample-w1')).toMatchObject({ d: 7, hosts: { h1: { port: 22, name: 'one' } } });
  });

  it('rule 20: is nothing if no glob matches', () => {
    expect(inventoryOf(inventory(['a', {}]), 'b')).toBeUndefined();
    expect(inventoryOf(inventory(['a', {}]), 'a')).toEqual({});
  });

  it('leaves the loaded data unchanged', () => {
    const all = inventory(['*', { d: { x: 1 }, lst: [1] }], ['w', { d: { y: 1 }, lst: [2] }]);
    const before = structuredClone(all);
    inventoryOf(all, 'w');
    expect(all).toEqual(before);
  });

  it('treats __proto__ like any other key', () => {
    const evil = JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}') as object;
    const merged = inventoryOf(inventory(['*', { ...evil }], ['*', JSON.parse(JSON.stringify(evil)) as never]), 'w');
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
    expect((merged as { admin?: unknown }).admin).toBeUndefined();
  });
});

it('rule 17: an outline has globs and sources, no contents', () => {
  const all = inventory(['*', { password: 'x' }], ['w1', {}], ['*', {}]);
  expect(outlineOf(all)).toEqual({
    broker: { endpoint: 'tcp://127.0.0.1:5555' },
    topology: {},
    workers: { '*': ['0.yaml', '2.yaml'], w1: ['1.yaml'] },
  });
});
