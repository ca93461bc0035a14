import { describe, expect, it } from 'vitest';
import { emqpBrokerOptions } from './options.js';

const issuesOf = (options: object) =>
  emqpBrokerOptions.safeParse(options).error?.issues.map(({ path }) => path.join('.'));

describe('options of the EventMQ broker', () => {
  it('have the defaults of docs/protocols/emqp.md', () => {
    expect(emqpBrokerOptions.parse({})).toEqual({
      frontend: 'tcp://127.0.0.1:47291',
      backend: 'tcp://127.0.0.1:47290',
      admin: 'tcp://127.0.0.1:47293',
      heartbeatIntervalMs: 3000,
      expiryMs: 9000,
      defaultQueues: [[10, 'default']],
      unknownQueue: 'default',
      requestTtlMs: 30_000,
      queueMax: 10_000,
      defaultQueueMax: 1_000_000,
      queueMaxBytes: 536_870_912,
      queuesMax: 10_000,
      peersMax: 100_000,
      registrationsPerSecondMax: 100,
      resultRouteTtlMs: 3_600_000,
      resultRouteMax: 1_000_000,
      guaranteeAttempts: 10,
      leaveGraceMs: 5000,
      acceptance: 'reply',
      byes: 'both',
      allowClientDisconnect: false,
      maxMessageFrames: 64,
      maxMessageBytes: 67_108_864,
      drainMs: 10_000,
      lingerMs: 1000,
    });
  });

  it.each([
    [{ frontend: 'nowhere' }, 'frontend'],
    [{ defaultQueues: [] }, 'defaultQueues'],
    [{ defaultQueues: [[10, '']] }, 'defaultQueues.0.1'],
    [{ unknownQueue: 'drop' }, 'unknownQueue'],
    [{ byes: 'none' }, 'byes'],
    [{ heartbeatIntervalMs: 1000, expiryMs: 1000 }, 'expiryMs'],
    [{ queueMaxBytes: 1000 }, 'queueMaxBytes'],
    [{ maxMessageFrames: 8 }, 'maxMessageFrames'],
    [{ nonsense: 1 }, ''],
  ])('refuses %j', (options, path) => {
    expect(issuesOf(options)).toEqual([path]);
  });
});
