import type { PortListener, ProjError } from '@proj/transport';
import { generateCurveKeys } from '@proj/transport/curve';
import { zmtpTransport, ZmtpTransport } from '@proj/zmtp';
import { afterEach, describe, expect, it } from 'vitest';
import { MdpClient } from './client.js';

const SERVER = generateCurveKeys();
const OTHER = generateCurveKeys();

const opened: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

const SILENT: PortListener = {
  onMessage: () => undefined,
  onPeerGone: () => undefined,
  onUndeliverable: () => undefined,
  onRejected: () => undefined,
  onBroken: () => undefined,
};

/** An endpoint without a listener. */
async function freeEndpoint(): Promise<string> {
  const router = zmtpTransport().router({ lingerMs: 0 });
  const endpoint = await router.bind('tcp://127.0.0.1:*');
  await router.close();
  return endpoint;
}

/** Asks a router that admits nobody, and expects it to have this key. */
async function ask(serverKey: Uint8Array) {
  await zmtpTransport().load();
  const router = zmtpTransport().router({
    lingerMs: 0,
    curve: { role: 'server', keys: SERVER, authorize: () => false },
  });
  opened.push(router);
  const endpoint = await router.bind('tcp://127.0.0.1:*');
  router.start(SILENT);
  const client = new MdpClient({
    endpoints: [endpoint],
    transport: zmtpTransport(),
    timeoutMs: 60_000,
    curve: { keys: OTHER, serverKey },
  });
  opened.push(client);
  const refused = new Promise<void>((resolve) => {
    client.on('refused', () => {
      resolve();
    });
  });
  const asked = client.request('echo', 'x', { timeoutMs: 500, tries: 1 }).catch((error: unknown) => error);
  await refused;
  return { endpoint, error: await asked };
}

it('a call to an endpoint without a server says that it was not connected, until it was', async () => {
  const endpoint = await freeEndpoint();
  const transport = new ZmtpTransport({ reconnectMinMs: 10, reconnectMaxMs: 10 });
  const client = new MdpClient({ endpoints: [endpoint], transport });
  opened.push(client);
  const ask = () => client.request('echo', 'x', { timeoutMs: 300, tries: 1 }).catch((error: unknown) => error);
  const reason = expect.stringMatching(/^not connected: connect ECONNREFUSED/) as string;
  expect(await ask()).toMatchObject({ code: 'TIMEOUT', details: { unmet: [{ endpoint, reason }] } });
  const router = zmtpTransport().router({ lingerMs: 0 });
  opened.push(router);
  await router.bind(endpoint);
  router.start(SILENT);
  expect(((await ask()) as ProjError).details).not.toHaveProperty('unmet');
});

describe('an unanswered call, because the handshake failed,', () => {
  it.each([
    ['the key of the client is not let in', SERVER.publicKey, 'the server refused our key'],
    ['the server has another key', OTHER.publicKey, 'the handshake failed: the server closed the connection'],
  ])('says so if %s', async (_, serverKey, reason) => {
    const { endpoint, error } = await ask(serverKey);
    expect(error).toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining(`no answer to 1 send in`) as string,
      details: { unmet: [{ endpoint, reason: expect.stringContaining(reason) as string }] },
    });
    expect((error as Error).message).toContain(`; ${endpoint}: ${reason}`);
  });
});
