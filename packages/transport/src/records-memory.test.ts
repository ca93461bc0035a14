import { describe, it } from 'vitest';
import { recordsCompliance } from './compliance/index.js';
import { memoryRecords } from './records-memory.js';

describe('records in memory', () => {
  const subject = {
    place: () => Promise.resolve({ store: memoryRecords, remove: () => Promise.resolve() }),
    capabilities: { durable: false, exclusive: false, breakable: false, killable: false },
  };
  for (const { name, applies, run } of recordsCompliance(subject)) it.runIf(applies)(name, run);
});
