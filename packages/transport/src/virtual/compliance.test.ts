import { describe, it } from 'vitest';
import { portCompliance, pubSubCompliance } from '../compliance/index.js';
import { AutoClock, VirtualNetwork } from './index.js';

describe('the in-memory port', () => {
  const network = new VirtualNetwork({ clock: new AutoClock() });
  const subject = {
    transport: () => network.transport(),
    endpoint: 'tcp://sim:*',
    capabilities: { peerGone: true, routerGone: true, keepsHolder: false },
  };
  for (const { name, applies, run } of portCompliance(subject)) it.runIf(applies)(name, run);
});

describe('publishers and subscribers in memory', () => {
  const network = new VirtualNetwork({ clock: new AutoClock() });
  const subject = { transport: () => network.transport(), endpoint: 'tcp://sim:*' };
  for (const { name, run } of pubSubCompliance(subject)) it(name, run);
});
