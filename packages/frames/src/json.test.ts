import { expect, test, vi } from 'vitest';
import { parseNfpTarget } from './nfp/index.js';
import { readQueues } from './emqp/queues.js';
import { isNestedDeeper } from './json.js';

test.each([
  ['[[1]]', 2],
  ['[[1], [2], {}]', 2],
  ['{"a": [{"[[[": 1}]}', 3],
  ['["[[", "\\"[[", "\\\\", [1]]', 2],
  ['["[[[', 1],
])('%s is nested %i deep', (json, depth) => {
  expect([isNestedDeeper(json, depth), isNestedDeeper(json, depth - 1)]).toEqual([false, true]);
});

test('deeply nested texts are not parsed', () => {
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect([parseNfpTarget(deep), readQueues(deep)]).toEqual([undefined, undefined]);
    expect(parse).not.toHaveBeenCalled();
  } finally {
    parse.mockRestore();
  }
});
