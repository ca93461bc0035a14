import { framesOf, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { encodeNfp, nfpBrokerHeader } from './index.js';
import type { NfpCommand } from './index.js';

const body = framesOf('{}');
const [client] = framesOf('cli') as [Uint8Array];
const none = new Uint8Array(0);
const header = 'NFPB01';

describe('encodeNfp', () => {
  test('writes a command as four characters or as one byte', () => {
    const call = { kind: 'client-call', command: 'put', service: 'sample', target: 'all', uuid: 'u1', body } as const;
    const rest = ['sample', 'all', 'u1', '{}'];
    expect(toHex(encodeNfp({ ...call, form: 'ascii' }))).toEqual(toHex(framesOf('', 'NFPC01', '0x10', ...rest)));
    expect(toHex(encodeNfp({ ...call, form: 'byte' }))).toEqual(toHex(framesOf('', 'NFPC01', 0x10, ...rest)));
  });

  test.each<[string, NfpCommand]>([
    ['an empty service', { kind: 'worker-ready', form: 'ascii', service: '' }],
    ['a service over 255 bytes', { kind: 'worker-ready', form: 'ascii', service: 'é'.repeat(128) }],
    ['a service with a control character', { kind: 'worker-keepalive', form: 'ascii', service: 'a\u0085' }],
    ['a service with half a character', { kind: 'worker-ready', form: 'ascii', service: '\ud800' }],
    ['an empty uuid', { kind: 'client-call', form: 'ascii', command: 'get', service: 's', target: '', uuid: '', body }],
    [
      'a target over 64 KiB',
      { kind: 'client-call', form: 'ascii', command: 'get', service: 's', target: 'x'.repeat(65_537), uuid: 'u', body },
    ],
    [
      'a target with half a character',
      { kind: 'client-call', form: 'ascii', command: 'get', service: 's', target: '\udc00', uuid: 'u', body },
    ],
    [
      'a table with an empty target',
      { kind: 'worker-table-call', form: 'ascii', header, command: 'get', service: 's', target: '', uuid: 'u', body },
    ],
    [
      'an empty client address',
      { kind: 'worker-call', form: 'ascii', header, command: 'get', client: none, uuid: 'u', body },
    ],
    [
      'a status of four digits',
      { kind: 'worker-answer', form: 'ascii', command: 'response', client, uuid: 'u', status: 1000, body },
    ],
    [
      'an endless status',
      {
        kind: 'worker-answer',
        form: 'ascii',
        command: 'response',
        client,
        uuid: 'u',
        status: 200,
        statusText: 'x'.repeat(252),
        body,
      },
    ],
    ['a body without frames', { kind: 'client-open', form: 'ascii', body: [] }],
  ])('refuses %s', (_, command) => {
    expect(() => encodeNfp(command)).toThrow(RangeError);
  });
});

describe('nfpBrokerHeader', () => {
  test('is the broker’s own in the current dialect', () => {
    for (const kind of [
      'broker-open',
      'broker-keepalive',
      'broker-disconnect',
      'worker-call',
      'client-answer',
    ] as const)
      expect(nfpBrokerHeader('current', kind)).toBe('NFPB01');
  });

  test('is the receiver’s in the legacy dialect, except for OPEN and KEEPALIVE', () => {
    expect(nfpBrokerHeader('legacy', 'client-answer')).toBe('NFPC01');
    expect(nfpBrokerHeader('legacy', 'worker-call')).toBe('NFPW01');
    expect(nfpBrokerHeader('legacy', 'broker-disconnect')).toBe('NFPW01');
    expect(nfpBrokerHeader('legacy', 'broker-keepalive')).toBe('NFPB01');
    expect(nfpBrokerHeader('legacy', 'broker-open')).toBe('NFPB01');
  });
});
