import { expect, test } from 'vitest';
import { flameGraph } from './flames.js';
import { foldProfile, ownTimes } from './fold.js';
import type { CpuProfile, Flame } from './fold.js';
import { modulesOf, placesIn } from './places.js';

function node(id: number, functionName: string, children: number[] = []): CpuProfile['nodes'][number] {
  return {
    id,
    callFrame: { functionName, url: functionName.startsWith('(') ? '' : 'file:///a/b.js', lineNumber: 0 },
    children,
  };
}

/** `run` calls `decode` from two nodes and `encode` from one; the process also waits. */
const PROFILE: CpuProfile = {
  nodes: [
    node(1, '(root)', [2, 3]),
    node(2, '(idle)'),
    node(3, 'run', [4, 5, 6]),
    node(4, 'decode'),
    node(5, 'decode'),
    node(6, 'encode'),
  ],
  samples: [2, 3, 4, 5, 6, 2],
  timeDeltas: [1000, 10, 50, 25, 15, 1000],
};

function shape({ name, micros, children }: Flame): unknown {
  return [name, micros, ...children.map(shape)];
}

test('merges calls of one function, and ignores waiting', () => {
  const folded = foldProfile(PROFILE, 0, () => 'b.js');
  expect(shape(folded)).toEqual(['all', 100, ['run', 100, ['decode', 75], ['encode', 15]]]);
});

test('adds what takes less than the minimum share to its caller', () => {
  const folded = foldProfile(PROFILE, 0.2, () => 'b.js');
  expect(shape(folded)).toEqual(['all', 100, ['run', 100, ['decode', 75]]]);
});

test('own times exclude callees and come largest first', () => {
  const own = ownTimes(foldProfile(PROFILE, 0, () => 'b.js'));
  expect(own.map(({ name, micros }) => `${name} ${micros}`)).toEqual(['decode 75', 'encode 15', 'run 10', 'all 0']);
});

test('a recursive function counts its own time once', () => {
  const profile = { nodes: [node(1, 'walk', [2]), node(2, 'walk')], samples: [1, 2], timeDeltas: [10, 20] };
  const folded = foldProfile(profile, 0, () => 'b.js');
  expect(shape(folded)).toEqual(['all', 30, ['walk', 30, ['walk', 20]]]);
  expect(ownTimes(folded)[0]).toEqual({ name: 'walk', place: 'b.js', micros: 30 });
});

test('a flame graph is as wide as its time, and escapes names', () => {
  const root: Flame = {
    name: 'all',
    place: '',
    micros: 100,
    children: [{ name: '<anonymous> & more', place: 'b.js', micros: 50, children: [] }],
  };
  const svg = flameGraph('title', root);
  expect(svg).toContain('<title>&lt;anonymous&gt; &amp; more b.js 50.0 %</title><rect x="0" y="34" width="600"');
  expect(svg).not.toContain('<anonymous>');
});

test('finds the module of a function in a bundle in the comment above it', () => {
  const bundle = [
    'import a;',
    '// ../packages/zmtp/src/turn.ts',
    'function turn() {}',
    '',
    '// src/load.ts',
    'load();',
  ];
  const placeOf = placesIn(new Map([['file:///dist/x.js', modulesOf(bundle.join('\n'))]]));
  expect([placeOf('file:///dist/x.js', 2), placeOf('file:///dist/x.js', 5)]).toEqual([
    'packages/zmtp/src/turn.ts',
    'src/load.ts',
  ]);
  expect([placeOf('file:///dist/x.js', 0), placeOf('node:net', 3), placeOf('', 0)]).toEqual(['x.js', 'node:net', '']);
});
