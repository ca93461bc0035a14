/** The table "bad input" of docs/protocols/mdp.md and the form of every accepted message. */
import { framesOf } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { decodeMdpAtBroker, decodeMdpAtClient, decodeMdpAtWorker } from './index.js';
import type { MdpMalformedReason } from './index.js';

type Parts = (string | number | Uint8Array)[];
type Row = [what: string, parts: Parts, side: 'client' | 'worker' | 'unknown', reason: MdpMalformedReason];

const TWO_BYTES = Uint8Array.of(1, 1);
const LONGEST = 'n'.repeat(255);

/** What no role accepts: the header alone decides. */
const HEADERS: Row[] = [
  ['no frame', [], 'unknown', 'no-header'],
  ['one empty frame', [''], 'unknown', 'no-header'],
  ['two empty frames', ['', ''], 'unknown', 'unknown-header'],
  ['one other frame', ['hello'], 'unknown', 'unknown-header'],
  ['unknown client version', ['MDPC03', 1, 'echo', 'x'], 'unknown', 'unknown-header'],
  ['version 0X', ['', 'MDPC0X', 'echo', 'x'], 'unknown', 'unknown-header'],
  ['version 12', ['MDPC12', 1, 'echo', 'x'], 'unknown', 'unknown-header'],
  ['unknown half', ['MDPX02', 1, 'echo', 'x'], 'unknown', 'unknown-header'],
  ['header too short', ['MDPC0', 1, 'echo', 'x'], 'unknown', 'unknown-header'],
  ['header too long', ['MDPC020', 1, 'echo', 'x'], 'unknown', 'unknown-header'],
  ['lower case', ['mdpc02', 1, 'echo', 'x'], 'unknown', 'unknown-header'],
  ['header not at the front', [1, 'MDPC02', 'echo', 'x'], 'unknown', 'unknown-header'],
  ['two empty frames before 0.1', ['', '', 'MDPC01', 'echo', 'x'], 'unknown', 'unknown-header'],
  ['0.1 client without empty frame', ['MDPC01', 'echo', 'x'], 'client', 'no-leading-empty'],
  ['0.1 worker without empty frame', ['MDPW01', 4], 'worker', 'no-leading-empty'],
  ['0.2 client behind an empty frame', ['', 'MDPC02', 1, 'echo', 'x'], 'client', 'leading-empty'],
  ['0.2 worker behind an empty frame', ['', 'MDPW02', 5], 'worker', 'leading-empty'],
];

/** Faults on the worker side that both ends see alike. */
const WORKER_COMMANDS: Row[] = [
  ['0.2 header alone', ['MDPW02'], 'worker', 'no-command'],
  ['0.1 header alone', ['', 'MDPW01'], 'worker', 'no-command'],
  ['command of no bytes', ['MDPW02', ''], 'worker', 'command-length'],
  ['command of two bytes', ['MDPW02', TWO_BYTES], 'worker', 'command-length'],
  ['command 0', ['MDPW02', 0], 'worker', 'unknown-command'],
  ['0.2 command 7', ['MDPW02', 7], 'worker', 'unknown-command'],
  ['command 255', ['MDPW02', 255], 'worker', 'unknown-command'],
  ['0.1 command 6', ['', 'MDPW01', 6], 'worker', 'unknown-command'],
  ['0.2 HEARTBEAT with more', ['MDPW02', 5, ''], 'worker', 'extra-frames'],
  ['0.1 HEARTBEAT with more', ['', 'MDPW01', 4, 'x'], 'worker', 'extra-frames'],
  ['0.2 DISCONNECT with more', ['MDPW02', 6, 'x'], 'worker', 'extra-frames'],
  ['0.1 DISCONNECT with more', ['', 'MDPW01', 5, ''], 'worker', 'extra-frames'],
];

const AT_BROKER: Row[] = [
  ['client header alone', ['MDPC02'], 'client', 'no-command'],
  ['client header and command alone', ['MDPC02', 1], 'client', 'no-service'],
  ['0.1 client header alone', ['', 'MDPC01'], 'client', 'no-service'],
  ['client command 0', ['MDPC02', 0, 'echo', 'x'], 'client', 'unknown-command'],
  ['client command 4', ['MDPC02', 4, 'echo', 'x'], 'client', 'unknown-command'],
  ['client PARTIAL', ['MDPC02', 2, 'echo', 'x'], 'client', 'wrong-direction'],
  ['client FINAL', ['MDPC02', 3, 'echo', 'x'], 'client', 'wrong-direction'],
  ['client command of no bytes', ['MDPC02', '', 'echo', 'x'], 'client', 'command-length'],
  ['client command of two bytes', ['MDPC02', TWO_BYTES, 'echo', 'x'], 'client', 'command-length'],
  ['request without body', ['MDPC02', 1, 'echo'], 'client', 'no-body'],
  ['0.1 request without body', ['', 'MDPC01', 'echo'], 'client', 'no-body'],
  ['request, empty service', ['MDPC02', 1, '', 'x'], 'client', 'service-invalid'],
  ['0.1 request, empty service', ['', 'MDPC01', '', 'x'], 'client', 'service-invalid'],
  ['request, service of 256 bytes', ['MDPC02', 1, `${LONGEST}n`, 'x'], 'client', 'service-invalid'],
  ['request, control character in service', ['MDPC02', 1, 'ec\x1fo', 'x'], 'client', 'service-invalid'],
  ['request, DEL in service', ['MDPC02', 1, 'echo\x7f', 'x'], 'client', 'service-invalid'],
  ['request, UTF-8 in service', ['MDPC02', 1, 'écho', 'x'], 'client', 'service-invalid'],
  ['invalid service and no body', ['MDPC02', 1, ''], 'client', 'service-invalid'],
  ['0.2 READY without service', ['MDPW02', 1], 'worker', 'no-service'],
  ['0.1 READY without service', ['', 'MDPW01', 1], 'worker', 'no-service'],
  ['READY with more', ['MDPW02', 1, 'echo', ''], 'worker', 'extra-frames'],
  ['0.1 READY with more', ['', 'MDPW01', 1, 'echo', 'x'], 'worker', 'extra-frames'],
  ['READY, empty name', ['MDPW02', 1, ''], 'worker', 'service-invalid'],
  ['READY, name of 256 bytes', ['MDPW02', 1, `${LONGEST}n`], 'worker', 'service-invalid'],
  ['READY, invalid name', ['MDPW02', 1, 'a\nb'], 'worker', 'service-invalid'],
  ['REQUEST from a worker', ['MDPW02', 2, 'CLI', '', 'x'], 'worker', 'wrong-direction'],
  ['0.1 REQUEST from a worker', ['', 'MDPW01', 2, 'CLI', '', 'x'], 'worker', 'wrong-direction'],
  ['PARTIAL without address', ['MDPW02', 3], 'worker', 'envelope'],
  ['FINAL without address', ['MDPW02', 4], 'worker', 'envelope'],
  ['0.1 REPLY without address', ['', 'MDPW01', 3], 'worker', 'envelope'],
  ['FINAL, empty address', ['MDPW02', 4, '', 'x'], 'worker', 'envelope'],
  ['FINAL, empty address, all the rest', ['MDPW02', 4, '', '', 'x'], 'worker', 'envelope'],
  ['FINAL, nothing behind the address', ['MDPW02', 4, 'CLI'], 'worker', 'envelope'],
  ['FINAL without empty frame', ['MDPW02', 4, 'CLI', 'x'], 'worker', 'envelope'],
  ['FINAL, two addresses', ['MDPW02', 4, 'CLI', 'HOP', '', 'x'], 'worker', 'envelope'],
  ['PARTIAL without body', ['MDPW02', 3, 'CLI', ''], 'worker', 'no-body'],
  ['FINAL without body', ['MDPW02', 4, 'CLI', ''], 'worker', 'no-body'],
  ['0.1 REPLY without body', ['', 'MDPW01', 3, 'CLI', ''], 'worker', 'no-body'],
];

const AT_WORKER: Row[] = [
  ['client message', ['MDPC02', 1, 'echo', 'x'], 'client', 'wrong-direction'],
  ['0.1 client message', ['', 'MDPC01', 'echo', 'x'], 'client', 'wrong-direction'],
  ['READY', ['MDPW02', 1, 'echo'], 'worker', 'wrong-direction'],
  ['PARTIAL', ['MDPW02', 3, 'CLI', '', 'x'], 'worker', 'wrong-direction'],
  ['FINAL', ['MDPW02', 4, 'CLI', '', 'x'], 'worker', 'wrong-direction'],
  ['0.1 REPLY', ['', 'MDPW01', 3, 'CLI', '', 'x'], 'worker', 'wrong-direction'],
  ['REQUEST without address', ['MDPW02', 2], 'worker', 'envelope'],
  ['REQUEST without empty frame', ['MDPW02', 2, 'CLI', 'x'], 'worker', 'envelope'],
  ['REQUEST, empty address', ['', 'MDPW01', 2, '', '', 'x'], 'worker', 'envelope'],
  ['REQUEST without body', ['MDPW02', 2, 'CLI', ''], 'worker', 'no-body'],
];

const AT_CLIENT: Row[] = [
  ['worker message', ['MDPW02', 5], 'worker', 'wrong-direction'],
  ['0.1 worker message', ['', 'MDPW01', 4], 'worker', 'wrong-direction'],
  ['header alone', ['MDPC02'], 'client', 'no-command'],
  ['command of two bytes', ['MDPC02', TWO_BYTES, 'echo', 'x'], 'client', 'command-length'],
  ['REQUEST', ['MDPC02', 1, 'echo', 'x'], 'client', 'wrong-direction'],
  ['command 4', ['MDPC02', 4, 'echo', 'x'], 'client', 'unknown-command'],
  ['FINAL without service', ['MDPC02', 3], 'client', 'no-service'],
  ['FINAL, invalid service', ['MDPC02', 3, '\0', 'x'], 'client', 'service-invalid'],
  ['FINAL without body', ['MDPC02', 3, 'echo'], 'client', 'no-body'],
  ['PARTIAL without body', ['MDPC02', 2, 'echo'], 'client', 'no-body'],
  ['0.1 REPLY without service', ['', 'MDPC01'], 'client', 'no-service'],
  ['0.1 REPLY without body', ['', 'MDPC01', 'echo'], 'client', 'no-body'],
];

describe('decodeMdpAtBroker', () => {
  test.each([...HEADERS, ...WORKER_COMMANDS, ...AT_BROKER])('refuses %s', (_, parts, side, reason) => {
    expect(decodeMdpAtBroker(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason, side });
  });

  test('accepts a service name of 1 and of 255 bytes, first and last printable character included', () => {
    for (const service of [' ', '~', LONGEST]) {
      expect(decodeMdpAtBroker(framesOf('MDPW02', 1, service))).toStrictEqual({
        kind: 'worker-ready',
        version: '0.2',
        service,
      });
    }
  });

  test('accepts bodies of empty frames, and of frames that look like headers', () => {
    expect(decodeMdpAtBroker(framesOf('MDPC02', 1, 'echo', ''))).toMatchObject({ body: framesOf('') });
    expect(decodeMdpAtBroker(framesOf('', 'MDPC01', 'echo', '', 'MDPC02'))).toMatchObject({
      body: framesOf('', 'MDPC02'),
    });
  });

  test('accepts an address of any bytes, even longer than a routing id can be', () => {
    const client = new Uint8Array(300).fill(0xff);
    expect(decodeMdpAtBroker(framesOf('MDPW02', 4, client, '', 'x'))).toMatchObject({ kind: 'worker-final', client });
  });

  test('passes on address and body frames unchanged, without a copy', () => {
    const frames = framesOf('MDPW02', 4, 'CLI', '', 'a', 'b');
    const decoded = decodeMdpAtBroker(frames);
    expect(decoded.kind).toBe('worker-final');
    if (decoded.kind !== 'worker-final') return;
    expect(decoded.client).toBe(frames[2]);
    expect(decoded.body[0]).toBe(frames[4]);
    expect(decoded.body[1]).toBe(frames[5]);
  });

  test('does not change the array it gets', () => {
    const frames = framesOf('MDPC02', 1, 'echo', 'x');
    const before = [...frames];
    decodeMdpAtBroker(frames);
    expect(frames).toStrictEqual(before);
  });

  describe('with acceptLeadingEmpty', () => {
    const options = { acceptLeadingEmpty: true };

    test.each([
      ['request', ['', 'MDPC02', 1, 'echo', 'x'], 'client-request'],
      ['READY', ['', 'MDPW02', 1, 'echo'], 'worker-ready'],
      ['PARTIAL', ['', 'MDPW02', 3, 'CLI', '', 'x'], 'worker-partial'],
      ['FINAL', ['', 'MDPW02', 4, 'CLI', '', 'x'], 'worker-final'],
      ['HEARTBEAT', ['', 'MDPW02', 5], 'heartbeat'],
      ['DISCONNECT', ['', 'MDPW02', 6], 'disconnect'],
    ])('accepts %s of 0.2 behind an empty frame and marks it', (_, parts, kind) => {
      expect(decodeMdpAtBroker(framesOf(...parts), options)).toMatchObject({
        kind,
        version: '0.2',
        leadingEmpty: true,
      });
    });

    test.each([
      ['0.2', ['MDPW02', 5]],
      ['0.1', ['', 'MDPW01', 4]],
    ])('reads %s as usual, without a mark', (version, parts) => {
      expect(decodeMdpAtBroker(framesOf(...parts), options)).toStrictEqual({ kind: 'heartbeat', version });
    });

    test.each<Row>([
      ['two empty frames', ['', '', 'MDPW02', 5], 'unknown', 'unknown-header'],
      ['0.1 without its empty frame', ['MDPW01', 4], 'worker', 'no-leading-empty'],
      ['a header alone', ['', 'MDPW02'], 'worker', 'no-command'],
      ['extra frames', ['', 'MDPW02', 5, ''], 'worker', 'extra-frames'],
      ['a missing body', ['', 'MDPC02', 1, 'echo'], 'client', 'no-body'],
    ])('still refuses %s', (_, parts, side, reason) => {
      expect(decodeMdpAtBroker(framesOf(...parts), options)).toStrictEqual({ kind: 'malformed', reason, side });
    });
  });
});

describe('decodeMdpAtWorker', () => {
  test.each([...HEADERS, ...WORKER_COMMANDS, ...AT_WORKER])('refuses %s', (_, parts, side, reason) => {
    expect(decodeMdpAtWorker(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason, side });
  });

  test.each([
    ['0.2', ['MDPW02', 2, 'CLI', '', 'a', '']],
    ['0.1', ['', 'MDPW01', 2, 'CLI', '', 'a', '']],
  ])('accepts a REQUEST of %s', (version, parts) => {
    expect(decodeMdpAtWorker(framesOf(...parts))).toStrictEqual({
      kind: 'worker-request',
      version,
      client: framesOf('CLI')[0],
      body: framesOf('a', ''),
    });
  });
});

describe('decodeMdpAtClient', () => {
  test.each([...HEADERS, ...AT_CLIENT])('refuses %s', (_, parts, side, reason) => {
    expect(decodeMdpAtClient(framesOf(...parts))).toStrictEqual({ kind: 'malformed', reason, side });
  });

  test('reads frames of 0.1 by position, so a frame that looks like a command is a service name or body', () => {
    expect(decodeMdpAtClient(framesOf('', 'MDPC01', '2', '3'))).toStrictEqual({
      kind: 'client-final',
      version: '0.1',
      service: '2',
      body: framesOf('3'),
    });
  });
});
