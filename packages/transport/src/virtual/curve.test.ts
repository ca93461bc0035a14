import { describe, it } from 'vitest';
import { curveCompliance } from '../compliance/index.js';
import { generateCurveKeys } from '../curve/index.js';
import { AutoClock, VirtualNetwork } from './index.js';

describe('CURVE in memory', () => {
  const network = new VirtualNetwork({ clock: new AutoClock() });
  const subject = {
    transport: () => network.transport(),
    endpoint: 'tcp://sim:*',
    capabilities: { peerGone: true, routerGone: true, keepsHolder: false },
    generateKeys: generateCurveKeys,
  };
  for (const { name, applies, run } of curveCompliance(subject)) it.runIf(applies)(name, run);
});
