import { defineService } from '@proj/frames/service';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { pppWorkerOptions } from './options.js';
import { PppWorker } from './worker.js';

const handler = () => 'x';
const valid = { handler };
const streaming = defineService({ name: 's', request: z.string(), reply: z.string(), partial: z.string() });

it.each<[string, object, string]>([
  ['no handler', {}, 'option handler = undefined: expected a function'],
  ['an onError that is no function', { ...valid, onError: 'x' }, 'option onError = "x": expected a function'],
  [
    'a service name, of which PPP has none',
    { ...valid, service: 'echo' },
    'option service = "echo": expected a service made by defineService; PPP has no service names',
  ],
  [
    'a service with partial replies',
    { ...valid, service: streaming },
    'option service = an object: PPP has no partial replies; use a service without them',
  ],
  ['no endpoint', { ...valid, endpoints: [] }, 'option endpoints = an array'],
  [
    'an endpoint without scheme',
    { ...valid, endpoints: ['127.0.0.1:5557'] },
    'option endpoints.0 = "127.0.0.1:5557": expected an endpoint',
  ],
  [
    'endpoints of both kinds',
    { ...valid, endpoints: ['tcp://a:1'], bind: ['tcp://b:1'] },
    'option bind = an array: expected either bind or endpoints, not both',
  ],
  [
    'an endpoint to bind for two sessions',
    { ...valid, bind: ['tcp://b:1'], concurrency: 2 },
    'expected one endpoint per unit of concurrency: 2, not 1',
  ],
  [
    'one endpoint to bind twice',
    { ...valid, bind: ['tcp://b:1', 'tcp://b:1'], concurrency: 2 },
    'expected different endpoints',
  ],
  ['a wildcard to bind', { ...valid, bind: ['tcp://b:*'] }, 'expected ports without wildcards'],
  ['concurrency 0', { ...valid, concurrency: 0 }, 'option concurrency = 0'],
  ['liveness 1', { ...valid, liveness: 1 }, 'option liveness = 1'],
  ['no heartbeats', { ...valid, heartbeatIntervalMs: 0 }, 'option heartbeatIntervalMs = 0'],
  ['messages too small for a request', { ...valid, maxMessageFrames: 2 }, 'option maxMessageFrames = 2'],
  [
    'a back-off that shrinks',
    { ...valid, reconnectMinMs: 500, reconnectMaxMs: 100 },
    'option reconnectMaxMs = 100: expected at least reconnectMinMs, 500',
  ],
  ['an option of another protocol', { ...valid, version: '0.2' }, 'version'],
  ['a transport that is none', { ...valid, transport: {} }, 'option transport = an object: expected a Transport'],
])('refuses a PppWorker with %s', (_what, options, message) => {
  const construct = () => new PppWorker(options as never);
  expect(construct).toThrow(
    expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining('PppWorker: ') as string }),
  );
  expect(construct).toThrow(message);
});

it('rule 6: has the defaults of the Guide’s worker', () => {
  expect(pppWorkerOptions.parse(valid)).toMatchObject({
    endpoints: ['tcp://127.0.0.1:5557'],
    heartbeatIntervalMs: 1000,
    liveness: 3,
    reconnectMinMs: 1000,
    reconnectMaxMs: 32_000,
    minUptimeMs: 10_000,
  });
});
