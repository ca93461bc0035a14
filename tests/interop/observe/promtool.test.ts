// What is served at /metrics passes Prometheus' own linter. promtool is of Debian's package prometheus.
import { spawnSync } from 'node:child_process';
import { MdpBroker } from '@proj/broker/mdp';
import { MdpClient } from '@proj/client';
import { observe, serveHttp } from '@proj/observe/http';
import { PzqServer } from '@proj/pzq';
import { expect, it } from 'vitest';

function lint(metrics: string): string {
  const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8' });
  return `${stdout}${stderr}exit code ${status}`;
}

it('promtool check metrics is silent, with requests and messages behind the figures', async () => {
  await using broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*' });
  broker.serve('echo', ({ body }) => body);
  await using queue = new PzqServer({
    ...{ receive: 'tcp://127.0.0.1:*', send: 'tcp://127.0.0.1:*', monitor: 'tcp://127.0.0.1:*' },
    store: 'memory:',
  });
  const endpoints = await broker.start();
  await queue.start();
  await using client = new MdpClient({ endpoints });
  await client.request('echo', ['hello']);
  const servers = [
    { protocol: 'mdp', facade: broker },
    { protocol: 'pzq', facade: queue },
  ];
  const observer = observe({ name: 'test', version: '1.0.0', servers });
  const { url, close } = await serveHttp({ listen: '127.0.0.1:0', observer });
  const metrics = await (await fetch(new URL('metrics', url))).text();
  await close();
  observer.close();
  expect(metrics).toContain('proj_events_total{protocol="mdp",event="requests"} 1\n');
  expect(lint(metrics)).toBe('exit code 0');
  // The linter does look.
  expect(lint('# TYPE wrong_total gauge\nwrong_total 1\n')).toContain('wrong_total');
});
