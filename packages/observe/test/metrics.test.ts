import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { collectMetrics } from '../src/collect.js';
import { expose, formatFor } from '../src/exposition.js';
import { SERVER_FAMILIES, ServiceNames } from '../src/families.js';
import { durations, fakeServer, service } from './fake-server.js';

const busy = service({
  outcomes: { ok: 7, expired: 2 },
  waiting: 3,
  oldestWaitingMs: 1500,
  workMs: durations(1, 1, 5000),
});

describe('metrics in the registry of a user', () => {
  it('show the figures of the moment, histograms too', async () => {
    const registry = new Registry();
    const fake = fakeServer({ services: [busy], dropped: { malformed: 4 }, gauges: { storeBytes: 10, dead: 1 } });
    const stop = collectMetrics({ mdp: fake }, { registry });
    const lines = (await registry.metrics()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'proj_requests_total{protocol="mdp",service="echo",outcome="ok"} 7',
        'proj_requests_total{protocol="mdp",service="echo",outcome="expired"} 2',
        'proj_request_oldest_waiting_seconds{protocol="mdp",service="echo"} 1.5',
        'proj_request_work_seconds_bucket{protocol="mdp",service="echo",le="0.001024"} 2',
        'proj_request_work_seconds_bucket{protocol="mdp",service="echo",le="+Inf"} 3',
        'proj_request_work_seconds_sum{protocol="mdp",service="echo"} 5.002',
        'proj_request_work_seconds_count{protocol="mdp",service="echo"} 3',
        'proj_dropped_total{protocol="mdp",reason="malformed"} 4',
        'proj_server_size_bytes{protocol="mdp",what="storeBytes"} 10',
        'proj_server_size{protocol="mdp",what="dead"} 1',
      ]),
    );
    fake.snapshot = { ...fake.snapshot, dropped: { malformed: 5 } };
    expect(await registry.metrics()).toContain('proj_dropped_total{protocol="mdp",reason="malformed"} 5');
    stop();
    expect(await registry.metrics()).toBe('\n');
  });
});

describe('metrics of stores, handshakes and schedules', () => {
  it('exist for servers that have them', async () => {
    const registry = new Registry();
    const job = { id: 'j', service: 's', schedule: 'every 1 s', fired: 1 };
    const fake = fakeServer({ refused: { key: 3 }, commitMs: durations(2, 2), jobs: [job, { ...job, result: 'ok' }] });
    collectMetrics({ pzq: fake, mdp: fakeServer() }, { registry });
    const text = await registry.metrics();
    for (const line of [
      'proj_handshakes_refused_total{protocol="mdp",reason="key"} 3',
      'proj_store_commit_seconds_bucket{protocol="mdp",le="0.004096"} 2',
      'proj_store_commit_seconds_sum{protocol="mdp"} 0.004',
      'proj_schedules{protocol="mdp",result="none"} 1',
      'proj_schedules{protocol="mdp",result="ok"} 1',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text.match(/proj_store_commit_seconds_count/g)).toHaveLength(1);
  });
});

describe('services by name', () => {
  it('are bounded; the others are added up as other', () => {
    const names = new ServiceNames(2);
    const many = ['a', 'b', 'c', 'd'].map((name) => service({ ...busy, name }));
    const { snapshot } = fakeServer({ services: many });
    const [bounded] = names.bound([snapshot]);
    expect(bounded?.services.map(({ name }) => name)).toEqual(['a', 'b', 'other']);
    expect(bounded?.services[2]).toMatchObject({ outcomes: { ok: 14, expired: 4 }, waiting: 6, workMs: { count: 6 } });
    // A name keeps its slot, wherever it appears.
    const [again] = names.bound([{ ...snapshot, services: many.toReversed() }]);
    expect(again?.services.map(({ name }) => name)).toEqual(['b', 'a', 'other']);
  });
});

describe('the text', () => {
  it('escapes the names of services and peers', () => {
    const { snapshot } = fakeServer({ services: [service({ name: 'a"\\\n' })] });
    const waiting = SERVER_FAMILIES.filter(({ name }) => name === 'proj_requests_waiting');
    const text = expose(
      waiting.map((family) => [family, family.samples([snapshot])]),
      'prometheus',
    );
    expect(text.split('\n')[2]).toBe('proj_requests_waiting{protocol="mdp",service="a\\"\\\\\\n"} 0');
  });

  it('is OpenMetrics for clients that request it, and plain for all others', () => {
    expect(formatFor(undefined)).toBe('prometheus');
    expect(formatFor('*/*')).toBe('prometheus');
    expect(formatFor('application/openmetrics-text;version=1.0.0,text/plain;q=0.5')).toBe('openmetrics');
    expect(formatFor('application/openmetrics-text;q=0.2,text/plain;q=0.5')).toBe('prometheus');
    expect(formatFor('application/openmetrics-text;q=0')).toBe('prometheus');
    const family = { name: 'a_total', type: 'counter', labels: [], help: 'A.' } as const;
    const sample = [{ labels: {}, value: 1 }];
    expect(expose([[family, sample]], 'openmetrics')).toBe('# HELP a A.\n# TYPE a counter\na_total 1\n# EOF\n');
  });
});
