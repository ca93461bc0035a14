import { ownEndpoint } from '@proj/testkit';
import { portCompliance } from '@proj/transport/compliance';
import { describe, it } from 'vitest';
import { ZmtpTransport } from './index.js';
import { curved } from './test/keys.js';

const plain = new ZmtpTransport();
const encrypted = curved(plain);

describe.each([
  ['tcp', 'tcp://127.0.0.1:*', plain, { ownEndpoint }],
  // Its wildcard stands for names that nobody else has.
  ['ipc', 'ipc://*', plain, {}],
  ['tcp with CURVE', 'tcp://127.0.0.1:*', encrypted, { ownEndpoint }],
])('the port over %s', (_, endpoint, transport, own) => {
  const subject = {
    transport: () => transport,
    endpoint,
    ...own,
    capabilities: { peerGone: true, routerGone: true },
  };
  for (const { name, applies, run } of portCompliance(subject)) it.runIf(applies)(name, run);
});
