import { ownEndpoint } from '@proj/testkit';
import { portCompliance } from '@proj/transport/compliance';
import { describe, it } from 'vitest';
import { ZmtpTransport } from './index.js';

describe.each([
  ['tcp://127.0.0.1:*', { ownEndpoint }],
  // Its wildcard stands for names that nobody else has.
  ['ipc://*', {}],
])('the port over %s', (endpoint, own) => {
  const transport = new ZmtpTransport();
  const subject = {
    transport: () => transport,
    endpoint,
    ...own,
    capabilities: { peerGone: true, routerGone: true },
  };
  for (const { name, applies, run } of portCompliance(subject)) it.runIf(applies)(name, run);
});
