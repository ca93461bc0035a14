import { ownEndpoint } from '@proj/testkit';
import { describe, it } from 'vitest';
import { capability } from 'zeromq';
import { curveCompliance } from '../compliance/index.js';
import { generateCurveKeys } from '../curve/index.js';
import { zmqTransport } from './index.js';

const told = capability.draft === true;

describe('CURVE over libzmq', () => {
  const subject = {
    transport: zmqTransport,
    endpoint: 'tcp://127.0.0.1:*',
    ownEndpoint,
    capabilities: { peerGone: told, routerGone: told, keepsHolder: false },
    generateKeys: generateCurveKeys,
  };
  for (const { name, applies, run } of curveCompliance(subject)) it.runIf(applies)(name, run);
});
