import { defineService } from '@proj/frames/service';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { MdpWorker } from './worker.js';

const handler = () => 'x';
const valid = { service: 'echo', handler };
const streaming = defineService({ name: 's', request: z.string(), reply: z.string(), partial: z.string() });

it.each<[string, object, string]>([
  ['no service', { handler }, 'option service = undefined: expected 1 to 255 printable ASCII characters'],
  ['an empty service', { ...valid, service: '' }, 'option service = "": expected 1 to 255'],
  ['a service of 256 bytes', { ...valid, service: 'x'.repeat(256) }, 'expected 1 to 255'],
  ['a service that is no text', { ...valid, service: 7 }, 'option service = 7: expected 1 to 255'],
  ['a service outside ASCII', { ...valid, service: 'é' }, 'expected 1 to 255'],
  [
    'a service of the broker',
    { ...valid, service: 'mmi.service' },
    'option service = "mmi.service": names beginning with mmi. are reserved for the broker',
  ],
  [
    'a typed service of the broker',
    { handler, service: defineService({ name: 'mmi.x', request: z.any(), reply: z.any() }) },
    'option service = an object: names beginning with mmi. are reserved',
  ],
  ['no handler', { service: 'echo' }, 'option handler = undefined: expected a function'],
  ['an onError that is no function', { ...valid, onError: 'x' }, 'option onError = "x": expected a function'],
  ['no endpoint', { ...valid, endpoints: [] }, 'option endpoints = an array'],
  [
    'an endpoint without scheme',
    { ...valid, endpoints: ['127.0.0.1:5555'] },
    'option endpoints.0 = "127.0.0.1:5555": expected an endpoint',
  ],
  ['concurrency 0', { ...valid, concurrency: 0 }, 'option concurrency = 0'],
  ['an unknown version', { ...valid, version: '0.3' }, 'option version = "0.3"'],
  ['liveness 1', { ...valid, liveness: 1 }, 'option liveness = 1'],
  ['heartbeats of half a millisecond', { ...valid, heartbeatIntervalMs: 0.5 }, 'option heartbeatIntervalMs = 0.5'],
  [
    'a back-off that shrinks',
    { ...valid, reconnectMinMs: 500, reconnectMaxMs: 100 },
    'option reconnectMaxMs = 100: expected at least reconnectMinMs, 500',
  ],
  [
    'partial replies under 0.1',
    { handler, service: streaming, version: '0.1' },
    'option version = "0.1": a service with partial replies requires version 0.2',
  ],
  ['an unknown option', { ...valid, endpoint: 'x' }, 'endpoint'],
  ['a transport that is none', { ...valid, transport: {} }, 'option transport = an object: expected a Transport'],
])('refuses %s', (_what, options, message) => {
  const construct = () => new MdpWorker(options as never);
  expect(construct).toThrow(
    expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining('MdpWorker: ') as string }),
  );
  expect(construct).toThrow(message);
});

it('needs a service and a handler only', () => {
  expect(() => new MdpWorker(valid)).not.toThrow();
});
