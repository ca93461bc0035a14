import { portCompliance } from '@proj/transport/compliance';
import { describe, it } from 'vitest';
import { ZmtpTransport } from './index.js';

describe.each(['tcp://127.0.0.1:*', 'ipc://*'])('the port over %s', (endpoint) => {
  const transport = new ZmtpTransport();
  const subject = {
    transport: () => transport,
    endpoint,
    capabilities: { peerGone: true, routerGone: true },
  };
  for (const { name, applies, run } of portCompliance(subject)) it.runIf(applies)(name, run);
});
