import { describe, expect, it } from 'vitest';
import { pppPoolOptions, pppQueueOptions, type PppPoolOptions, type PppQueueOptions } from './options.js';
import { PppPool } from './pool.js';
import { PppQueue } from './queue.js';

const SHARED = {
  heartbeatIntervalMs: 1000,
  liveness: 3,
  busyExpiryMs: 3000,
  muteExpiryMs: 300_000,
  jobTimeoutMs: 0,
  maxAttempts: 3,
  requestQueueMax: 100_000,
  requestQueueMaxBytes: 268_435_456,
  workersMax: 100_000,
  registrationsPerSecondMax: 100,
  maxMessageFrames: 1024,
  maxMessageBytes: 67_108_864,
  drainMs: 10_000,
  lingerMs: 1000,
};

it('options of PppQueue have the defaults of docs/protocols/ppp.md', () => {
  expect(pppQueueOptions.parse({})).toEqual({
    requestTtlMs: 30_000,
    ...SHARED,
  });
});

it('options of PppPool have the defaults of docs/protocols/ppp.md', () => {
  expect(pppPoolOptions.parse({})).toEqual({ timeoutMs: 30_000, ...SHARED });
});

it.each([pppQueueOptions, pppPoolOptions])('busyExpiryMs comes from the interval and the liveness', (schema) => {
  expect(schema.parse({ heartbeatIntervalMs: 100, liveness: 5 }).busyExpiryMs).toBe(500);
  expect(schema.parse({ heartbeatIntervalMs: 100, busyExpiryMs: 100 }).busyExpiryMs).toBe(100);
});

describe.each([
  ['PppQueue', (options: unknown) => new PppQueue(options as PppQueueOptions)],
  ['PppPool', (options: unknown) => new PppPool(options as PppPoolOptions)],
])('%s refuses', (name, make) => {
  it.each<[string, unknown, string]>([
    ['an unknown name', { heartbeat: 1 }, 'heartbeat'],
    ['a liveness below 2', { liveness: 1 }, 'option liveness = 1'],
    ['an interval of 0', { heartbeatIntervalMs: 0 }, 'option heartbeatIntervalMs = 0'],
    ['a fraction', { maxAttempts: 1.5 }, 'option maxAttempts = 1.5'],
    ['a negative job time-out', { jobTimeoutMs: -1 }, 'option jobTimeoutMs = -1'],
    ['a busy expiry below the interval', { busyExpiryMs: 100 }, 'option busyExpiryMs = 100'],
    ['a mute expiry below the busy one', { muteExpiryMs: 2999 }, 'option muteExpiryMs = 2999: must be at least 3000'],
    ['queues smaller than a message', { requestQueueMaxBytes: 1 }, 'option requestQueueMaxBytes = 1'],
    ['a transport that is none', { transport: {} }, 'option transport = an object: must be a Transport'],
    ['no object', 'tcp://127.0.0.1:5555', name],
  ])('%s', (_what, options, text) => {
    expect(() => make(options)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining(text) as unknown }),
    );
  });
});

it.each<[string, () => unknown, string]>([
  ['a frontend', () => new PppQueue({ frontend: '127.0.0.1:5555' }), 'option frontend = "127.0.0.1:5555"'],
  ['a backend', () => new PppQueue({ backend: [] }), 'option backend'],
  ['an endpoint', () => new PppPool({ endpoint: 'nowhere' }), 'option endpoint = "nowhere"'],
])('%s that is no endpoint is refused', (_what, make, text) => {
  expect(make).toThrow(expect.objectContaining({ message: expect.stringContaining(text) as unknown }));
});
