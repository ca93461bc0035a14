import { ownEndpoint } from '@proj/testkit';
import { describe, it } from 'vitest';
import { capability } from 'zeromq';
import { portCompliance, pubSubCompliance } from '../compliance/index.js';
import { zmqTransport } from './index.js';

const told = capability.draft === true;

describe('the port over libzmq', () => {
  const subject = {
    transport: zmqTransport,
    endpoint: 'tcp://127.0.0.1:*',
    ownEndpoint,
    capabilities: { peerGone: told, routerGone: told, keepsHolder: false },
  };
  for (const { name, applies, run } of portCompliance(subject)) it.runIf(applies)(name, run);
});

describe('publishers and subscribers over libzmq', () => {
  const subject = { transport: zmqTransport, endpoint: 'tcp://127.0.0.1:*', ownEndpoint };
  for (const { name, run } of pubSubCompliance(subject)) it(name, run);
});
