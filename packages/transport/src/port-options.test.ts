import { describe, expect, it } from 'vitest';
import { isProjError } from './errors.js';
import type { CurveOptions, PortOptions } from './port.js';
import { resolvePortOptions } from './port-options.js';

describe('resolvePortOptions', () => {
  it('has the documented defaults', () => {
    expect(resolvePortOptions()).toEqual({
      lingerMs: 1000,
      maxMessageFrames: 1024,
      maxMessageBytes: 67_108_864,
      highWaterMark: 1000,
      receiveHighWaterMark: 1000,
      sendWaitMs: 0,
      peerQueueMax: 1000,
      peerQueueMaxBytes: 67_108_864,
      peerReportsMax: 2_147_483_647,
      queueMax: 100_000,
      queueMaxBytes: 268_435_456,
      connectionHeartbeatMs: 2000,
      connectionTimeoutMs: 6000,
      handover: false,
      tellsPeers: false,
      tellsSubscriptions: false,
    });
  });

  it('keeps given values', () => {
    const options: PortOptions = {
      lingerMs: 0,
      maxMessageFrames: 1,
      maxMessageBytes: 1,
      highWaterMark: 1,
      receiveHighWaterMark: 2,
      sendWaitMs: 1,
      peerQueueMax: 0,
      peerQueueMaxBytes: 0,
      peerReportsMax: 1,
      queueMax: 1,
      queueMaxBytes: 1,
      connectionHeartbeatMs: 0,
      connectionTimeoutMs: 1,
      handover: true,
      tellsPeers: true,
      tellsSubscriptions: true,
      routingId: Buffer.from([1, 0]),
    };

    expect(resolvePortOptions(options)).toEqual(options);
  });

  it('uses the high-water mark for sending also for receiving, unless given', () => {
    expect(resolvePortOptions({ highWaterMark: 7 }).receiveHighWaterMark).toBe(7);
  });

  it.each([
    ['lingerMs', -1],
    ['lingerMs', 0.5],
    ['lingerMs', Number.NaN],
    ['lingerMs', Infinity],
    ['lingerMs', 2 ** 31],
    ['lingerMs', '5'],
    ['maxMessageFrames', 0],
    ['maxMessageBytes', 0],
    ['highWaterMark', 0],
    ['receiveHighWaterMark', 0],
    ['peerQueueMax', -1],
    ['peerQueueMaxBytes', -1],
    ['queueMax', 0],
    ['queueMaxBytes', 0],
    ['connectionHeartbeatMs', -1],
    ['connectionTimeoutMs', 0],
  ])('refuses %s = %s, naming what is allowed', (option, value) => {
    try {
      resolvePortOptions({ [option]: value });
      expect.unreachable();
    } catch (error) {
      expect(isProjError(error, 'OPTIONS_INVALID')).toBe(true);
      expect(String(error)).toMatch(`option ${option} = ${value}: must be an integer from`);
    }
  });

  it.each([
    ['no byte', Buffer.alloc(0), '0x (0 bytes)'],
    ['a leading zero, which libzmq keeps for itself', Buffer.from([0, 1]), '0x0001 (2 bytes)'],
    ['more than 255 bytes', Buffer.alloc(256, 0xab), '0xabababababababab (256 bytes)'],
  ])('refuses a routing id of %s', (_, routingId, shown) => {
    expect(() => resolvePortOptions({ routingId })).toThrow(`option routingId = ${shown}: must be 1 to 255 bytes`);
  });
});

describe('CURVE', () => {
  const key = new Uint8Array(32);
  const keys = { publicKey: key, secretKey: key };

  it('is kept as given', () => {
    const curve = { role: 'client', keys, serverKey: key } as const;

    expect(resolvePortOptions({ curve }).curve).toBe(curve);
  });

  it.each<[string, CurveOptions]>([
    ['keys.publicKey', { role: 'server', keys: { publicKey: key.subarray(1), secretKey: key } }],
    ['keys.secretKey', { role: 'server', keys: { publicKey: key, secretKey: new Uint8Array(33) } }],
    ['serverKey', { role: 'client', keys, serverKey: new Uint8Array(0) }],
  ])('has keys of 32 bytes: %s', (name, curve) => {
    expect(() => resolvePortOptions({ curve })).toThrow(`option curve.${name} of `);
  });
});
