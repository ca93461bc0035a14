import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { capability } from 'zeromq';
import { isProjError } from '../errors.js';
import type { SocketPort } from '../port.js';
import { checkEndpoint, endpointError, isIpv6 } from './endpoint.js';
import { zmqTransport } from './index.js';

const transport = zmqTransport();
const ports: SocketPort[] = [];
let folder: string;
beforeEach(async () => {
  await transport.load();
  folder = await mkdtemp(join(tmpdir(), 'ep-'));
});
afterEach(async () => {
  await Promise.all(ports.splice(0).map((port) => port.close()));
  await rm(folder, { recursive: true, force: true });
});

function router(): SocketPort {
  const port = transport.router({ lingerMs: 0 });
  ports.push(port);
  return port;
}

async function refusal(endpoint: string): Promise<string> {
  const error: unknown = await router()
    .bind(endpoint)
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  return isProjError(error) ? `${error.code}: ${error.message}` : `unexpected: ${String(error)}`;
}

describe('checkEndpoint', () => {
  it.each(['tcp://127.0.0.1:5555', 'tcp://*:*', 'tcp://[::1]:0', 'tcp://eth0:65535', 'ipc:///tmp/x', 'inproc://name'])(
    'allows %s',
    (endpoint) => {
      checkEndpoint(endpoint);
    },
  );

  it.each([
    ['', 'must be tcp://'],
    ['127.0.0.1:5555', 'must be tcp://'],
    ['tcp:/x:1', 'must be tcp://'],
    ['ipc://', 'must be tcp://'],
    ['udp://127.0.0.1:5555', 'udp:// (datagrams'],
    ['ws://127.0.0.1:5555', 'ws:// (WebSocket'],
    ['tcp://127.0.0.1', 'must end in a port'],
    ['tcp://127.0.0.1:', 'must end in a port'],
    ['tcp://127.0.0.1:65536', 'must end in a port'],
    ['tcp://127.0.0.1:-1', 'must end in a port'],
  ])('refuses %j', (endpoint, reason) => {
    expect(() => {
      checkEndpoint(endpoint);
    }).toThrow(`endpoint ${JSON.stringify(endpoint)}: ${reason}`);
  });
});

describe('isIpv6', () => {
  it.each([
    ['tcp://[::1]:5555', true],
    ['tcp://127.0.0.1:5555', false],
    ['tcp://localhost:5555', false],
    ['ipc:///tmp/[x]', false],
  ])('of %s is %s', (endpoint, expected) => {
    expect(isIpv6(endpoint)).toBe(expected);
  });
});

describe('endpointError', () => {
  it('shows a code it does not know, and keeps its cause', () => {
    const cause = Object.assign(new Error('Odd'), { code: 'EODD' });

    expect(endpointError('tcp://h:1', cause)).toMatchObject({
      code: 'OPTIONS_INVALID',
      message: 'endpoint "tcp://h:1": EODD',
      cause,
    });
  });
});

describe('bind', () => {
  it('names the endpoint and the reason when the address is in use', async () => {
    const endpoint = await router().bind('tcp://127.0.0.1:*');

    expect(await refusal(endpoint)).toBe(
      `ADDRESS_IN_USE: endpoint ${endpoint}: already in use; stop its owner or choose another`,
    );
  });

  it.each([
    ['an address of another machine', 'tcp://192.0.2.1:5555', 'this machine does not have that address'],
    ['an interface that does not exist', 'tcp://nosuch0:5555', 'no such host or interface on this machine'],
    ['a folder that does not exist', 'ipc:///nonexistent/folder/socket', 'its folder does not exist'],
    ['a path that is too long', `ipc:///tmp/${'x'.repeat(200)}`, 'the path is too long'],
  ])('names the endpoint and the reason for %s', async (_, endpoint, reason) => {
    expect(await refusal(endpoint)).toBe(`OPTIONS_INVALID: endpoint ${JSON.stringify(endpoint)}: ${reason}`);
  });

  it('fills in a wildcard port and a wildcard path', async () => {
    expect(await router().bind('tcp://127.0.0.1:*')).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d+$/);
    expect(await router().bind('ipc://*')).toMatch(/^ipc:\/\/[^*]+$/);
  });

  it('rejects with CLOSED after the end', async () => {
    const port = router();
    await port.close();

    await expect(port.bind('tcp://127.0.0.1:*')).rejects.toMatchObject({ code: 'CLOSED' });
  });

  describe.runIf(capability.ipc === true)('of a path', () => {
    it('does not cut off a process that serves it, as libzmq would', async () => {
      const endpoint = `ipc://${join(folder, 'served')}`;
      await router().bind(endpoint);

      expect(await refusal(endpoint)).toMatch(/^ADDRESS_IN_USE: /);
    });

    it('takes over what a dead process has left behind', async () => {
      const path = join(folder, 'stale');
      await writeFile(path, '');

      expect(await router().bind(`ipc://${path}`)).toBe(`ipc://${path}`);
    });
  });
});
