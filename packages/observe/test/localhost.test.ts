import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { afterEach, expect, it, vi } from 'vitest';
import { serveHttp } from '../src/http.js';
import { observe } from '../src/observe.js';
import { fakeServer } from './fake-server.js';

/** The last one is not of this machine. */
const ADDRESSES = ['127.0.0.1', '::1', '192.0.2.1'];

afterEach(() => {
  vi.restoreAllMocks();
});

it('serves all addresses of localhost that there are, and guards them', async () => {
  vi.spyOn(dns, 'lookup').mockResolvedValue(ADDRESSES.map((address) => ({ address, family: 0 })) as never);
  const servers = [{ protocol: 'mdp', facade: fakeServer({ protocol: 'mdp' }) }];
  const observer = observe({ name: 'test', version: '1.0.0', servers, every: () => () => undefined });
  const http = await serveHttp({ listen: 'localhost:0', observer });
  const { port } = new URL(http.url);
  const ask = async (host: string, path: string) => {
    const sent = request({ host, port, path, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return [response.resume().statusCode, response.headers['content-security-policy']];
  };
  for (const host of ['127.0.0.1', '::1']) {
    expect([host, ...(await ask(host, '/healthz'))]).toEqual([
      host,
      200,
      expect.stringContaining("default-src 'self'"),
    ]);
    expect([host, ...(await ask(host, '/elsewhere'))]).toEqual([host, 404, "default-src 'none'"]);
  }
  observer.close();
  await http.close();
});
