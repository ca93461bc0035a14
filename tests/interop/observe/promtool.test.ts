// Prometheus' own linter accepts what is served at /metrics, and Prometheus understands the alerts and the Grafana dashboard. promtool is in Debian's package
// prometheus.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MdpBroker } from '@proj/broker/mdp';
import { MdpClient } from '@proj/client';
import { observe, serveHttp } from '@proj/observe/http';
import { PzqServer } from '@proj/pzq';
import { expect, it } from 'vitest';

function lint(metrics: string): string {
  const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8' });
  return `${stdout}${stderr}exit code ${status}`;
}

it('promtool check metrics reports nothing, with requests and messages behind the figures', async () => {
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
  // Proves that the linter checks.
  expect(lint('# TYPE wrong_total gauge\nwrong_total 1\n')).toContain('wrong_total');
});

const DEPLOY = fileURLToPath(new URL('../../../deploy', import.meta.url));

it.each([
  ['check', 'rules', 'proj.rules.yaml'],
  ['test', 'rules', 'proj.rules.test.yaml'],
  ['check', 'config', 'prometheus.yaml'],
])('promtool %s %s %s succeeds', (...args) => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: `${DEPLOY}/prometheus`, encoding: 'utf8' });
  expect(`${stdout}${stderr}`).toContain('SUCCESS');
  expect(`${stdout}${stderr}`).not.toContain('FAILED');
  expect(status).toBe(0);
});

it('Prometheus understands every expression of the Grafana dashboard', () => {
  const { panels } = JSON.parse(readFileSync(`${DEPLOY}/grafana/proj.json`, 'utf8')) as {
    readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(20);
  const rules = expressions.map((expr, index) => ({
    record: `panel:${index}`,
    expr: expr.replaceAll('$__rate_interval', '1m'),
  }));
  const folder = mkdtempSync(join(tmpdir(), 'panels-'));
  const path = join(folder, 'panels.json');
  const check = (list: readonly object[]) => {
    writeFileSync(path, JSON.stringify({ groups: [{ name: 'panels', rules: list }] }));
    return spawnSync('promtool', ['check', 'rules', path], { encoding: 'utf8' }).stderr;
  };
  expect(check(rules)).toBe('');
  expect(check([{ record: 'panel:0', expr: 'sum(' }])).toContain('could not parse expression');
  rmSync(folder, { recursive: true });
});
