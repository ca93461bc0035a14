import { framesOf } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { decodeNfpAtBroker, decodeNfpAtClient, decodeNfpAtWorker, encodeNfp } from './index.js';

const LONG = 'n'.repeat(256);
const C = ['', 'NFPC01'];
const W = ['', 'NFPW01'];
const B = ['', 'NFPB01'];

describe('at a broker', () => {
  test.each([
    ['no frame', [], 'header', 'unknown'],
    ['an empty frame alone', [''], 'header', 'unknown'],
    ['no empty frame', ['NFPC01', '0x04', 'sample', 'all', 'u1', '{}'], 'header', 'unknown'],
    ['a header alone', C, 'header', 'unknown'],
    ['an unknown header', ['', 'NFPC02', '0x04', 'sample', 'all', 'u1', '{}'], 'header', 'unknown'],
    ['a header of another broker', [...B, '0x02', 'sample'], 'header', 'unknown'],
    ['OPEN of a client without body', [...C, '0x00'], 'short', 'client'],
    ['a call of five frames', [...C, '0x04', 'sample', 'all'], 'short', 'client'],
    ['READY of a client', [...C, '0x01', 'sample'], 'direction', 'client'],
    ['an unknown command of a client', [...C, '0x12', 'sample'], 'command', 'client'],
    ['OPEN of a worker without body', [...W, '0x00'], 'short', 'worker'],
    ['READY without service', [...W, '0x01'], 'short', 'worker'],
    ['READY with an empty service', [...W, '0x01', ''], 'service', 'worker'],
    ['READY with a service that is not printable', [...W, '0x01', 'a\nb'], 'service', 'worker'],
    ['READY with a service that is not UTF-8', [...W, '0x01', Uint8Array.of(0xc3, 0x28)], 'service', 'worker'],
    ['READY with a service of 256 bytes', [...W, '0x01', LONG], 'service', 'worker'],
    ['READY with more frames', [...W, '0x01', 'sample', ''], 'shape', 'worker'],
    ['KEEPALIVE without service', [...W, '0x02'], 'short', 'worker'],
    ['DISCONNECT without service', [...W, '0x03'], 'short', 'worker'],
    ['POST of a worker', [...W, '0x04', 'sample', 'all', 'u1', '{}'], 'direction', 'worker'],
    ['an unknown command of a worker', [...W, '0x12', 'sample'], 'command', 'worker'],
    ['RESPONSE without body', [...W, '0x05', 'cli', '', 'u1', '200'], 'short', 'worker'],
    ['RESPONSE without body, as in the tables', [...W, '0x05', 'sample', 'u1', '200'], 'short', 'worker'],
    ['RESPONSE without client', [...W, '0x05', '', '', 'u1', '200', '{}'], 'shape', 'worker'],
    ['RESPONSE to a client of 256 bytes', [...W, '0x05', LONG, '', 'u1', '200', '{}'], 'shape', 'worker'],
    ['RESPONSE without uuid', [...W, '0x05', 'cli', '', '', '200', '{}'], 'uuid', 'worker'],
    ['RESPONSE with a status of two digits', [...W, '0x05', 'cli', '', 'u1', '20', '{}'], 'status', 'worker'],
    ['RESPONSE with a status of four digits', [...W, '0x05', 'cli', '', 'u1', '2000', '{}'], 'status', 'worker'],
    ['RESPONSE with an endless status', [...W, '0x05', 'cli', '', 'u1', `200 ${LONG}`, '{}'], 'status', 'worker'],
  ] as const)('refuses %s', (_, frames, reason, side) => {
    expect(decodeNfpAtBroker(framesOf(...frames))).toEqual({ kind: 'malformed', reason, side });
  });

  test.each([
    [
      'a call without body',
      ['0x04', 'sample', 'all', 'u1'],
      'short',
      { command: '0x04', service: 'sample', target: 'all', uuid: 'u1' },
    ],
    [
      'no uuid',
      ['0x04', 'sample', 'all', '', '{}'],
      'uuid',
      { command: '0x04', service: 'sample', target: 'all', uuid: '' },
    ],
    [
      'a uuid over the limit, which is cut',
      ['0x04', 'sample', 'all', LONG, '{}'],
      'uuid',
      { command: '0x04', service: 'sample', target: 'all', uuid: LONG.slice(1) },
    ],
    [
      'an empty service',
      [4, '', 'all', 'u1', '{}'],
      'service',
      { command: '0x04', service: '', target: 'all', uuid: 'u1' },
    ],
    [
      'a target over 64 KiB',
      ['0x04', 'sample', 'x'.repeat(65_537), 'u1', '{}'],
      'target',
      { command: '0x04', service: 'sample', target: '', uuid: 'u1' },
    ],
    [
      'a command it may not send',
      ['0x08', 'sample', 'all', 'u1', '{}'],
      'direction',
      { command: '0x08', service: 'sample', target: 'all', uuid: 'u1' },
    ],
    [
      'a command it may not send, in one byte',
      [5, 'sample', 'w1', 'u1', '{}'],
      'direction',
      { form: 'byte', command: '0x05', service: 'sample', target: 'w1', uuid: 'u1' },
    ],
    [
      'a byte that is no command',
      [0x55, 'sample', 'w1', 'u1', '{}'],
      'command',
      { form: 'byte', command: '0x55', service: 'sample', target: 'w1', uuid: 'u1' },
    ],
    [
      'a command that does not exist',
      ['0x0a', 'sample', 'all', 'u1'],
      'command',
      { command: '0x0a', service: 'sample', target: 'all', uuid: 'u1' },
    ],
  ] as const)('says how to answer a client that sends %s', (_, rest, reason, address) => {
    const form = rest[0] === 4 ? 'byte' : 'ascii';
    const answer = { form, ...address };
    expect(decodeNfpAtBroker(framesOf(...C, ...rest))).toEqual({ kind: 'malformed', reason, side: 'client', answer });
  });

  test('the frame after the next one distinguishes the two forms of an answer', () => {
    const body = framesOf('{}');
    const told = { form: 'ascii', command: 'response', uuid: 'u1', status: 200, body };
    const [client] = framesOf('cli');
    expect(decodeNfpAtBroker(framesOf(...W, '0x05', 'cli', '', 'u1', '200', '{}'))).toEqual({
      kind: 'worker-answer',
      client,
      ...told,
    });
    expect(decodeNfpAtBroker(framesOf(...W, '0x05', 'sample', 'u1', '200', '{}'))).toEqual({
      kind: 'worker-table-answer',
      service: 'sample',
      ...told,
    });
  });

  test('keeps the text of a status unchanged', () => {
    const frames = framesOf(...W, '0x05', 'cli', '', 'u1', Uint8Array.of(0x32, 0x30, 0x30, 0x20, 0xff), '{}');
    const decoded = decodeNfpAtBroker(frames);
    expect(decoded).toMatchObject({ status: 200, statusText: '\u00ff' });
    if (decoded.kind === 'worker-answer') expect(encodeNfp(decoded)).toEqual(frames);
  });
});

describe('at a worker', () => {
  test.each([
    ['a header alone', B, 'header'],
    ['an unknown command', [...B, '0x12', 'sample'], 'command'],
    ['a call of six frames', [...B, '0x04', 'cli', '', 'u1'], 'short'],
    ['a call without client', [...B, '0x04', '', '', 'u1', '{}'], 'shape'],
    ['a call of a client of 256 bytes', [...B, '0x04', LONG, '', 'u1', '{}'], 'shape'],
    ['a call without uuid', [...B, '0x04', 'cli', '', '', '{}'], 'uuid'],
    ['READY', [...B, '0x01', 'sample'], 'direction'],
    ['KEEPALIVE without service', [...B, '0x02'], 'short'],
    ['DISCONNECT without service', [...B, '0x03'], 'short'],
    ['OPEN without body', [...B, '0x00'], 'short'],
    ['a swapped KEEPALIVE', [...B, 'sample', '0x02'], 'command'],
    ['a swapped DISCONNECT with a body', [...B, 'sample', '0x03', ''], 'command'],
  ] as const)('refuses %s', (_, frames, reason) => {
    expect(decodeNfpAtWorker(framesOf(...frames))).toEqual({ kind: 'malformed', reason, side: 'unknown' });
  });

  test.each(['NFPB01', 'NFPC01', 'NFPW01'] as const)('accepts a call under %s', (header) => {
    expect(decodeNfpAtWorker(framesOf('', header, '0x04', 'cli', '', 'u1', '{}'))).toMatchObject({
      kind: 'worker-call',
      header,
    });
  });

  test('accepts a call as in the tables', () => {
    expect(decodeNfpAtWorker(framesOf(...B, '0x07', 'sample', 'all', 'u1', '{}', ''))).toEqual({
      kind: 'worker-table-call',
      form: 'ascii',
      header: 'NFPB01',
      command: 'delete',
      service: 'sample',
      target: 'all',
      uuid: 'u1',
      body: framesOf('{}', ''),
    });
  });

  test.each(['0x05', '0x08', '0x09', '0x11'])(
    'reads %s of a service of the broker as an answer to its call',
    (command) => {
      expect(decodeNfpAtWorker(framesOf(...B, command, 'sid.service.broker', 'u1', '200', '{}'))).toMatchObject({
        kind: 'client-answer',
        service: 'sid.service.broker',
        uuid: 'u1',
        status: 200,
      });
    },
  );

  test('reads MMI as a call where a client is expected, whatever its name', () => {
    expect(decodeNfpAtWorker(framesOf(...B, '0x11', 'sid.service.broker', '', 'u1', '{}'))).toMatchObject({
      kind: 'worker-call',
    });
    expect(decodeNfpAtWorker(framesOf(...B, '0x11', 'mmi.service.worker', 'all', 'u1', '{}'))).toMatchObject({
      kind: 'worker-table-call',
    });
  });

  test('accepts DISCONNECT from a broker that does not know the service, in either order', () => {
    const disconnect = { kind: 'broker-disconnect', form: 'ascii', header: 'NFPB01', service: '', body: [] };
    expect(decodeNfpAtWorker(framesOf(...B, '0x03', ''))).toEqual(disconnect);
    expect(decodeNfpAtWorker(framesOf(...B, '', '0x03'))).toEqual(disconnect);
  });
});

describe('at a client', () => {
  test.each([
    ['an answer of six frames', [...B, '0x05', 'sample', 'u1', '200'], 'short'],
    ['a status that is none', [...B, '0x05', 'sample', 'u1', 'two', '{}'], 'status'],
    ['a service that is not printable', [...B, '0x05', '\n', 'u1', '200', '{}'], 'service'],
    ['a uuid that is not printable', [...B, '0x05', 'sample', '\n', '200', '{}'], 'uuid'],
    ['a call', [...B, '0x04', 'sample', 'all', 'u1', '{}'], 'direction'],
    ['an unknown command', [...B, '0x12', 'sample', 'u1', '200', '{}'], 'command'],
    ['no header', ['', '', '0x05', 'sample', 'u1', '200', '{}'], 'header'],
  ] as const)('refuses %s', (_, frames, reason) => {
    expect(decodeNfpAtClient(framesOf(...frames))).toEqual({ kind: 'malformed', reason, side: 'unknown' });
  });

  test.each(['NFPB01', 'NFPC01', 'NFPW01'] as const)('accepts an answer under %s', (header) => {
    expect(decodeNfpAtClient(framesOf('', header, '0x11', 'sample', 'u1', '200', '{}'))).toMatchObject({
      kind: 'client-answer',
      command: 'mmi',
      header,
    });
  });
});
