import { describe, it } from 'vitest';
import { storeCompliance } from './compliance/index.js';
import { MemoryStore } from './memory.js';

describe('the store in memory, rule 26', () => {
  const subject = {
    place: () => Promise.resolve({ store: () => new MemoryStore(), remove: () => Promise.resolve() }),
    capabilities: {
      durable: false,
      moments: true,
      exclusive: false,
      shared: false,
      breakable: false,
      killable: false,
    },
  };
  for (const { name, applies, run } of storeCompliance(subject)) it.runIf(applies)(name, run);
});
