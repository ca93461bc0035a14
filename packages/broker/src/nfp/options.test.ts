import { describe, expect, it } from 'vitest';
import { NfpBroker } from './broker.js';
import { nfpBrokerOptions, type NfpBrokerOptions } from './options.js';

describe('NfpBroker options', () => {
  it('have the defaults of docs/protocols/nfp.md', () => {
    expect(nfpBrokerOptions.parse({})).toEqual({
      endpoint: 'tcp://127.0.0.1:5555',
      keepaliveIntervalMs: 2500,
      keepaliveMultiplier: 6,
      dialect: 'current',
      queueForService: 'known',
      returnMs: 10_000,
      maxAttempts: 3,
      requestTtlMs: 30_000,
      requestQueueMax: 10_000,
      requestQueueMaxBytes: 67_108_864,
      redispatchAny: true,
      jobsMax: 100_000,
      servicesMax: 10_000,
      workersMax: 100_000,
      registrationsPerSecondMax: 100,
      clientsMax: 10_000,
      managementCommands: false,
      fileRequestsMax: 256,
      subscriberQueueMax: 1000,
      maxMessageFrames: 64,
      maxMessageBytes: 134_217_728,
      lingerMs: 1000,
    });
  });

  it.each<[string, unknown, string]>([
    ['an unknown name', { heartbeatMs: 1 }, 'heartbeatMs'],
    ['an interval below 100', { keepaliveIntervalMs: 99 }, 'option keepaliveIntervalMs = 99'],
    ['a multiplier below 2', { keepaliveMultiplier: 1 }, 'option keepaliveMultiplier = 1'],
    ['an unknown dialect', { dialect: 'old' }, 'option dialect = "old"'],
    ['no endpoint', { endpoint: [] }, 'option endpoint'],
    ['an endpoint without transport', { endpoint: '127.0.0.1:5555' }, 'option endpoint = "127.0.0.1:5555"'],
    ['an endpoint for management without transport', { managementEndpoint: 'x' }, 'option managementEndpoint = "x"'],
    ['no folder', { files: '' }, 'option files = ""'],
    ['an inventory that is not loaded', { inventory: 'inventory.yaml' }, 'option inventory = "inventory.yaml"'],
    ['a transport that is none', { transport: {} }, 'option transport = an object: must be a Transport'],
    ['no object', 'tcp://127.0.0.1:5555', 'NfpBroker'],
  ])('refuse %s', (_what, options, text) => {
    expect(() => new NfpBroker(options as NfpBrokerOptions)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining(text) as unknown }),
    );
  });
});
