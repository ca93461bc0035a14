import { ownEndpoint } from '@proj/testkit';
import { curveCompliance, portCompliance, pubSubCompliance } from '@proj/transport/compliance';
import { describe, it } from 'vitest';
import { ZmtpTransport } from './index.js';
import { curved, newKeys } from './test/keys.js';

const plain = new ZmtpTransport();
const encrypted = curved(plain);

/** A hundred megabytes: with encryption it would measure nothing else, and the queue is the same. */
const HEAVY = 'loses what a subscriber does not read, beyond the high-water marks, while others go on';

describe.each([
  ['tcp', 'tcp://127.0.0.1:*', plain, { ownEndpoint }],
  // Its wildcard stands for names that no other test uses.
  ['ipc', 'ipc://*', plain, {}],
  ['tcp with CURVE', 'tcp://127.0.0.1:*', encrypted, { ownEndpoint }],
])('the port over %s', (_, endpoint, transport, own) => {
  const subject = {
    transport: () => transport,
    endpoint,
    ...own,
    capabilities: { peerGone: true, routerGone: true, keepsHolder: true },
  };
  for (const { name, applies, run } of [...portCompliance(subject), ...pubSubCompliance(subject)])
    it.runIf(applies && !(transport === encrypted && name === HEAVY))(name, run);
});

describe('the port with CURVE', () => {
  const subject = {
    transport: () => plain,
    endpoint: 'tcp://127.0.0.1:*',
    ownEndpoint,
    capabilities: { peerGone: true, routerGone: true, keepsHolder: true },
    generateKeys: newKeys,
  };
  for (const { name, applies, run } of curveCompliance(subject)) it.runIf(applies)(name, run);
});
