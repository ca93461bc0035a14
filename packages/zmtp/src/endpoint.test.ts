import { createServer } from 'node:net';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endpointError, endpointOf, listenOptions, parseEndpoint, removeStalePath } from './endpoint.js';

describe('an endpoint', () => {
  it.each([
    ['tcp://127.0.0.1:5555', { kind: 'tcp', host: '127.0.0.1', port: 5555 }],
    ['tcp://localhost:1', { kind: 'tcp', host: 'localhost', port: 1 }],
    ['tcp://[::1]:65535', { kind: 'tcp', host: '::1', port: 65_535 }],
    ['ipc:///tmp/x y', { kind: 'ipc', path: '/tmp/x y' }],
    ['ipc://@name', { kind: 'ipc', path: '\0name' }],
  ])('%s can be bound and connected to', (endpoint, target) => {
    expect([parseEndpoint(endpoint, 'bind'), parseEndpoint(endpoint, 'connect')]).toEqual([target, target]);
  });

  it.each([
    ['tcp://*:5555', { kind: 'tcp', host: '0.0.0.0', port: 5555 }],
    ['tcp://127.0.0.1:*', { kind: 'tcp', host: '127.0.0.1', port: 0 }],
    ['tcp://127.0.0.1:0', { kind: 'tcp', host: '127.0.0.1', port: 0 }],
    ['ipc://*', { kind: 'ipc', path: '*' }],
  ])('%s can be bound only', (endpoint, target) => {
    expect(parseEndpoint(endpoint, 'bind')).toEqual(target);
    expect(() => parseEndpoint(endpoint, 'connect')).toThrow(JSON.stringify(endpoint));
  });

  it.each([
    '',
    'tcp://',
    'tcp://127.0.0.1',
    'tcp://127.0.0.1:65536',
    'tcp://127.0.0.1:5x',
    'tcp://::1:5',
    'tcp://a/b:5',
    'tcp://1.1.1.1:1;2.2.2.2:2',
    'ipc://',
    `ipc://${'x'.repeat(108)}`,
    'inproc://x',
    'ws://127.0.0.1:80',
    'udp://127.0.0.1:80',
  ])('%j is refused with OPTIONS_INVALID, by name', (endpoint) => {
    for (const use of ['bind', 'connect'] as const)
      expect(() => parseEndpoint(endpoint, use)).toThrow(
        expect.objectContaining({
          code: 'OPTIONS_INVALID',
          message: expect.stringContaining(JSON.stringify(endpoint)) as string,
        }),
      );
  });

  it.each([
    ['inproc://x', 'npm i zeromq'],
    ['inproc://x', 'ipc://path'],
    ['pgm://eth0;224.0.0.1:5555', 'multicast'],
    ['epgm://eth0;224.0.0.1:5555', 'use tcp://host:port'],
    ['tipc://{5560,0,0}', 'in libzmq only'],
    ['vmci://*:5555', 'in libzmq only'],
    ['udp://127.0.0.1:80', 'RADIO and DISH'],
    ['ws://127.0.0.1:80', 'WebSocket'],
  ])('%s, which only libzmq has, is refused with advice: %s', (endpoint, text) => {
    expect(() => parseEndpoint(endpoint, 'bind')).toThrow(text);
  });

  it('with a host name is bound to its IPv4 address', async () => {
    const target = parseEndpoint('tcp://localhost:5555', 'bind');
    expect(await listenOptions(target, randomUUID)).toEqual({ host: '127.0.0.1', port: 5555, exclusive: true });
  });

  it('is reported in a form that can be connected to', () => {
    expect([
      endpointOf({ family: 'IPv4', address: '127.0.0.1', port: 5 }),
      endpointOf({ family: 'IPv6', address: '::1', port: 5 }),
      endpointOf('/tmp/x'),
      endpointOf('\0name'),
    ]).toEqual(['tcp://127.0.0.1:5', 'tcp://[::1]:5', 'ipc:///tmp/x', 'ipc://@name']);
  });

  it.each([
    ['EADDRINUSE', 'ADDRESS_IN_USE', 'already in use'],
    ['EADDRNOTAVAIL', 'OPTIONS_INVALID', 'does not have that address'],
    ['EODD', 'OPTIONS_INVALID', 'EODD'],
  ])('refused by the system with %s is %s', (code, expected, text) => {
    expect(endpointError('tcp://x:1', { code })).toMatchObject({
      code: expected,
      message: expect.stringContaining(text) as string,
    });
  });
});

describe('a path', () => {
  it('is removed if a dead process left it behind, and kept while a process listens', async () => {
    const path = join(tmpdir(), randomUUID());
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
    await removeStalePath(path);
    expect(existsSync(path)).toBe(true);
    // A listener that no longer owns its file, as after a crash.
    const left = await abandoned();
    await removeStalePath(left);
    expect(existsSync(left)).toBe(false);
  });
});

/** The path of a socket whose process died before it could remove it. */
async function abandoned(): Promise<string> {
  const { spawn } = await import('node:child_process');
  const path = join(tmpdir(), randomUUID());
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  const child = spawn(process.execPath, ['-e', script]);
  await new Promise((resolve) => child.once('exit', resolve));
  expect(existsSync(path)).toBe(true);
  return path;
}
