/** The frames of every command, and what the encoder refuses. */
import { framesOf, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { encodePpp } from './index.js';
import type { PppCommand } from './index.js';

type Parts = (string | number)[];

const addresses = framesOf('CLI', 'hop');
const content = framesOf('a', '');

describe('encodePpp', () => {
  test.each<[command: PppCommand, parts: Parts]>([
    [{ kind: 'ready' }, [1]],
    [{ kind: 'heartbeat' }, [2]],
    [{ kind: 'request', addresses, content }, ['CLI', 'hop', '', 'a', '']],
    [{ kind: 'reply', addresses, content }, ['CLI', 'hop', '', 'a', '']],
    [{ kind: 'client-request', hops: [], content }, ['', 'a', '']],
    [{ kind: 'client-request', hops: addresses, content }, ['CLI', 'hop', '', 'a', '']],
    [{ kind: 'client-reply', hops: [], content }, ['', 'a', '']],
    [{ kind: 'client-reply', hops: addresses, content }, ['CLI', 'hop', '', 'a', '']],
  ])('%o', (command, parts) => {
    expect(toHex(encodePpp(command))).toEqual(toHex(framesOf(...parts)));
  });

  test('hands on address and content frames as they are, in an array of its own', () => {
    const frames = encodePpp({ kind: 'request', addresses, content });
    expect(frames[0]).toBe(addresses[0]);
    expect(frames[3]).toBe(content[0]);
    expect(encodePpp({ kind: 'ready' })).not.toBe(encodePpp({ kind: 'ready' }));
  });

  test.each<PppCommand>([
    { kind: 'request', addresses: [], content },
    { kind: 'reply', addresses: [], content },
    { kind: 'request', addresses, content: [] },
    { kind: 'reply', addresses: framesOf('CLI', ''), content },
    { kind: 'client-request', hops: [], content: [] },
    { kind: 'client-reply', hops: framesOf(''), content },
  ])('refuses %o', (command) => {
    expect(() => encodePpp(command)).toThrow(RangeError);
  });
});
