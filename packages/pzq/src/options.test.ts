import { parseOptions } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import { type PzqServerOptions, pzqServerOptions } from './options.js';
import { storeOf } from './stores.js';

const parse = (options: unknown) => parseOptions('PzqServer', pzqServerOptions, options);

describe('pzqServerOptions', () => {
  it('has the documented defaults', () => {
    expect(parse({})).toEqual({
      receive: 'tcp://127.0.0.1:11131',
      send: 'tcp://127.0.0.1:11132',
      monitor: 'tcp://127.0.0.1:11133',
      name: 'pzq',
      store: 'lmdb:./pzq-data',
      ackTimeoutMs: 5000,
      maxMessages: 10_000_000,
      maxBytes: 8_589_934_592,
      maxMessageBytes: 67_108_864,
      maxParts: 1024,
      maxInFlight: 10_000,
      maxInFlightBytes: 67_108_864,
      batchMax: 256,
      batchMaxBytes: 8_388_608,
      intakeMax: 100_000,
      intakeMaxBytes: 268_435_456,
      producerIntakeMax: 10_000,
      producerAckMax: 100_000,
      producerAckMaxBytes: 16_777_216,
      windowMax: 10_000,
      windowMaxBytes: 67_108_864,
      probeIntervalMs: 1000,
      drainMs: 5000,
      dedupeWindowMs: 0,
      maxDeliveries: 0,
      deadLettersMax: 100_000,
      deadLetterExpired: false,
      delayMs: 0,
      nackDelayMs: 0,
      nackDelayMaxMs: 0,
      ttlMs: 0,
      extendLease: false,
      headers: false,
      takeMax: 256,
    });
  });

  it.each<[string, PzqServerOptions | object, string]>([
    ['an unknown option', { ackTimeout: 1 }, 'ackTimeout'],
    ['an ack timeout that is too short', { ackTimeoutMs: 9 }, 'option ackTimeoutMs = 9'],
    ['an ack timeout over a day', { ackTimeoutMs: 86_400_001 }, 'option ackTimeoutMs = 86400001'],
    ['an endpoint that is none', { receive: '11131' }, 'receive'],
    ['no endpoint at all', { send: [] }, 'send'],
    ['a store nobody knows', { store: 'redis://x' }, 'lmdb:FOLDER'],
    ['a store without a folder', { store: 'lmdb:' }, 'lmdb:FOLDER'],
    [
      'a store that is none',
      { store: {} },
      'option store = an object: must be lmdb:FOLDER, postgres://..., memory: or a QueueStore',
    ],
    ['an endpoint that is no text', { receive: 7 }, 'option receive = 7: must be an endpoint, or a list of 1 to 16'],
    ['a transport that is none', { transport: {} }, 'must be a Transport'],
    ['less room than one message takes', { maxBytes: 1024 }, 'must be 0 or at least maxMessageBytes'],
    ['less intake than one message takes', { intakeMaxBytes: 1024 }, 'must be at least maxMessageBytes'],
    ['a rest that shrinks', { nackDelayMs: 2, nackDelayMaxMs: 1 }, 'must be at least nackDelayMs'],
    ['messages that expire before they are ready', { delayMs: 5, ttlMs: 5 }, 'must be 0 or more than delayMs'],
  ])('refuses %s', (_what, options, words) => {
    expect(() => parse(options)).toThrow(words);
  });

  it('reads 0 as no bound, and lets a rest grow only if told to', () => {
    expect(parse({ maxMessages: 0, maxBytes: 0, nackDelayMs: 7 })).toMatchObject({
      maxMessages: 0,
      maxBytes: 0,
      nackDelayMaxMs: 7,
    });
  });
});

describe('the option store', () => {
  it.each([
    ['memory:', 'memory', false],
    ['lmdb:/nowhere', 'lmdb', true],
    ['postgres://user@nowhere/queue', 'postgres', true],
    ['postgresql://nowhere/queue', 'postgres', true],
  ])('%s is the %s store, which opens nothing before the start', (address, name, durable) => {
    expect(parse({ store: address }).store).toBe(address);
    expect(storeOf(address)).toMatchObject({ name, durable });
  });

  it('may be a store itself', () => {
    const store = storeOf('memory:');
    expect(parse({ store }).store).toBe(store);
    expect(storeOf(store)).toBe(store);
  });
});
