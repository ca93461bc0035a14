/** In a file of its own, because its flags hold for the whole process. */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import type { NodeGCPerformanceDetail, PerformanceEntry } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { giveBack, lend } from './bodies.js';

/** What Node gives, in more detail than its types tell. */
type GcEntry = PerformanceEntry & { readonly detail: NodeGCPerformanceDetail };

const BODY_BYTES = 2 ** 24;
const BODIES = 300;
const FEW = 10;
/** On a very busy machine, V8 may mark during a round although nothing of ours makes it. */
const ATTEMPTS = 3;

it('long bodies that are returned do not make V8 mark its heap', async () => {
  // V8 leaves heaps below 8 MB alone.
  const live = Array.from({ length: 300_000 }, (_, index) => ({ index }));
  // As in a process with little to do: the heap may grow by the least before it is marked.
  setFlagsFromString('--heap-growing-percent=1');
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  let garbage: unknown[] = [];
  /** How often V8 marks its heap during one round. */
  const round = async (): Promise<number> => {
    let marks = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries() as GcEntry[])
        if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) marks++;
    });
    observer.observe({ entryTypes: ['gc'] });
    for (let count = 0; count < BODIES; count++) {
      giveBack([lend(BODY_BYTES, BODY_BYTES)]);
      for (let more = 0; more < 30; more++) garbage = Array.from({ length: 1000 }, (_, index) => ({ index }));
      await setImmediate();
    }
    observer.disconnect();
    return marks;
  };
  // 1 as a rule; without ballast, 20 or more.
  let marks = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && marks >= FEW; attempt++) marks = await round();
  expect(marks).toBeLessThan(FEW);
  expect([live.length, garbage.length]).toEqual([300_000, 1000]);
});
