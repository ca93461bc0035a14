import { describe, expect, it } from 'vitest';
import { MdpBroker } from './broker.js';
import { mdpBrokerOptions, type MdpBrokerOptions } from './options.js';

describe('MdpBroker options', () => {
  it('have the defaults of docs/protocols/mdp.md', () => {
    expect(mdpBrokerOptions.parse({})).toEqual({
      endpoint: 'tcp://127.0.0.1:5555',
      heartbeatIntervalMs: 2500,
      liveness: 3,
      busyExpiryMs: 7500,
      muteExpiryMs: 300_000,
      maxAttempts: 3,
      resendAfterPartial: false,
      bridge: false,
      acceptLeadingEmpty: false,
      requestTtlMs: 30_000,
      busyTtlMs: 0,
      requestQueueMax: 200_000,
      requestQueueMaxBytes: 536_870_912,
      clientRequestsMax: 150_000,
      serviceNameMaxBytes: 255,
      servicesMax: 10_000,
      workersMax: 100_000,
      registrationsPerSecondMax: 100,
      maxMessageFrames: 1024,
      maxMessageBytes: 67_108_864,
      drainMs: 10_000,
      lingerMs: 1000,
      mmiAdditions: true,
    });
  });

  it('derive busyExpiryMs from the interval and the liveness', () => {
    expect(mdpBrokerOptions.parse({ heartbeatIntervalMs: 100, liveness: 5 }).busyExpiryMs).toBe(500);
  });

  it('never give workers without heartbeats less time than those with', () => {
    expect(mdpBrokerOptions.parse({ busyExpiryMs: 900_000 }).muteExpiryMs).toBe(900_000);
    expect(mdpBrokerOptions.parse({ muteExpiryMs: 7500 }).muteExpiryMs).toBe(7500);
  });

  it.each<[string, unknown, string]>([
    ['an unknown name', { heartbeat: 1 }, 'heartbeat'],
    ['a liveness below 2 (rule 23)', { liveness: 1 }, 'option liveness = 1'],
    ['an interval of 0', { heartbeatIntervalMs: 0 }, 'option heartbeatIntervalMs = 0'],
    ['a fraction', { maxAttempts: 1.5 }, 'option maxAttempts = 1.5'],
    ['no attempt', { maxAttempts: 0 }, 'option maxAttempts = 0'],
    ['no endpoint', { endpoint: [] }, 'option endpoint'],
    ['an endpoint without transport', { endpoint: '127.0.0.1:5555' }, 'option endpoint = "127.0.0.1:5555"'],
    ['a busy expiry below the interval', { busyExpiryMs: 100 }, 'option busyExpiryMs = 100'],
    [
      'a mute expiry below the busy one',
      { muteExpiryMs: 7499 },
      'option muteExpiryMs = 7499: must be at least 7500, the busyExpiryMs of workers that send heartbeats while they work',
    ],
    ['queues smaller than a message', { requestQueueMaxBytes: 1 }, 'option requestQueueMaxBytes = 1'],
    ['a transport that is none', { transport: {} }, 'option transport = an object: must be a Transport'],
    ['no object', 'tcp://127.0.0.1:5555', 'MdpBroker'],
  ])('refuse %s', (_what, options, text) => {
    expect(() => new MdpBroker(options as MdpBrokerOptions)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID', message: expect.stringContaining(text) as unknown }),
    );
  });
});
