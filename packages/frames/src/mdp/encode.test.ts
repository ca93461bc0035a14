/** The frames of every command in both versions, and what the encoder refuses. */
import { framesOf, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { encodeMdp } from './index.js';
import type { MdpCommand } from './index.js';

type Parts = (string | number)[];

const client = framesOf('CLI')[0]!;
const body = framesOf('a', '');

const COMMANDS: [command: MdpCommand, parts: Parts][] = [
  [{ kind: 'client-request', version: '0.2', service: 'echo', body }, ['MDPC02', 1, 'echo', 'a', '']],
  [{ kind: 'client-request', version: '0.1', service: 'echo', body }, ['', 'MDPC01', 'echo', 'a', '']],
  [{ kind: 'client-partial', version: '0.2', service: 'echo', body }, ['MDPC02', 2, 'echo', 'a', '']],
  [{ kind: 'client-final', version: '0.2', service: 'echo', body }, ['MDPC02', 3, 'echo', 'a', '']],
  [{ kind: 'client-final', version: '0.1', service: 'echo', body }, ['', 'MDPC01', 'echo', 'a', '']],
  [{ kind: 'worker-ready', version: '0.2', service: 'echo' }, ['MDPW02', 1, 'echo']],
  [{ kind: 'worker-ready', version: '0.1', service: 'echo' }, ['', 'MDPW01', 1, 'echo']],
  [{ kind: 'worker-request', version: '0.2', client, body }, ['MDPW02', 2, 'CLI', '', 'a', '']],
  [{ kind: 'worker-request', version: '0.1', client, body }, ['', 'MDPW01', 2, 'CLI', '', 'a', '']],
  [{ kind: 'worker-partial', version: '0.2', client, body }, ['MDPW02', 3, 'CLI', '', 'a', '']],
  [{ kind: 'worker-final', version: '0.2', client, body }, ['MDPW02', 4, 'CLI', '', 'a', '']],
  [{ kind: 'worker-final', version: '0.1', client, body }, ['', 'MDPW01', 3, 'CLI', '', 'a', '']],
  [{ kind: 'heartbeat', version: '0.2' }, ['MDPW02', 5]],
  [{ kind: 'heartbeat', version: '0.1' }, ['', 'MDPW01', 4]],
  [{ kind: 'disconnect', version: '0.2' }, ['MDPW02', 6]],
  [{ kind: 'disconnect', version: '0.1' }, ['', 'MDPW01', 5]],
];

describe('encodeMdp', () => {
  test.each(COMMANDS)('%o', (command, parts) => {
    expect(toHex(encodeMdp(command))).toEqual(toHex(framesOf(...parts)));
  });

  test.each(COMMANDS.filter(([command]) => command.version === '0.2'))(
    'behind an empty frame if the peer sends them so: %o',
    (command, parts) => {
      expect(toHex(encodeMdp({ ...command, leadingEmpty: true }))).toEqual(toHex(framesOf('', ...parts)));
    },
  );

  test.each(COMMANDS.filter(([command]) => command.version === '0.1'))(
    'with one empty frame in 0.1 whatever the mark says: %o',
    (command, parts) => {
      const marked = { ...command, leadingEmpty: true };
      expect(toHex(encodeMdp(marked))).toEqual(toHex(framesOf(...parts)));
    },
  );

  test.each([false, undefined])('without the empty frame when the mark is %s', (leadingEmpty) => {
    expect(toHex(encodeMdp({ kind: 'client-final', version: '0.2', leadingEmpty, service: 'echo', body }))).toEqual(
      toHex(framesOf('MDPC02', 3, 'echo', 'a', '')),
    );
    expect(toHex(encodeMdp({ kind: 'heartbeat', version: '0.2', leadingEmpty }))).toEqual(toHex(framesOf('MDPW02', 5)));
  });

  test('passes on address and body frames unchanged and shares constant frames', () => {
    const request: MdpCommand = { kind: 'worker-request', version: '0.2', client, body };
    const frames = encodeMdp(request);
    expect(frames[2]).toBe(client);
    expect(frames[4]).toBe(body[0]);
    const again = encodeMdp(request);
    expect(again).not.toBe(frames);
    expect(again[0]).toBe(frames[0]);
    expect(again[1]).toBe(frames[1]);
  });

  test('refuses a body without frames', () => {
    expect(() => encodeMdp({ kind: 'client-request', version: '0.2', service: 'echo', body: [] })).toThrow(RangeError);
    expect(() => encodeMdp({ kind: 'worker-final', version: '0.1', client, body: [] })).toThrow(RangeError);
  });

  test('refuses an empty client address', () => {
    const address = new Uint8Array(0);
    expect(() => encodeMdp({ kind: 'worker-final', version: '0.2', client: address, body })).toThrow(
      'worker-final: the client address is empty',
    );
  });

  test.each(['', 'n'.repeat(256), 'a\nb', 'écho', '名'])('refuses the service name %j', (service) => {
    expect(() => encodeMdp({ kind: 'worker-ready', version: '0.2', service })).toThrow(RangeError);
    expect(() => encodeMdp({ kind: 'client-final', version: '0.1', service, body })).toThrow(RangeError);
  });

  test('PARTIAL under 0.1 is a type error, and refused where types are not checked', () => {
    // @ts-expect-error 0.1 has no PARTIAL
    const toClient: MdpCommand = { kind: 'client-partial', version: '0.1', service: 'echo', body };
    // @ts-expect-error 0.1 has no PARTIAL
    const toBroker: MdpCommand = { kind: 'worker-partial', version: '0.1', client, body };
    expect(() => encodeMdp(toClient)).toThrow('PARTIAL does not exist in MDP 0.1');
    expect(() => encodeMdp(toBroker)).toThrow('PARTIAL does not exist in MDP 0.1');
  });
});
