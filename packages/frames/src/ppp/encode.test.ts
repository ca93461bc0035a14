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
    [{ kind: 'request', addresses: [], content }, ['', 'a', '']],
    [{ kind: 'reply', addresses: [], content }, ['', 'a', '']],
    [{ kind: 'request', addresses: undefined, content: framesOf('a', 'b') }, ['a', 'b']],
    [{ kind: 'reply', addresses: undefined, content: framesOf('a', 'b') }, ['a', 'b']],
    [{ kind: 'reply', addresses: undefined, content: framesOf(7) }, [7]],
    // Without the empty frame in front they would mean something else.
    [{ kind: 'reply', addresses: undefined, content: framesOf(2) }, ['', 2]],
    [{ kind: 'reply', addresses: undefined, content: framesOf(1) }, ['', 1]],
    [{ kind: 'reply', addresses: undefined, content: framesOf('') }, ['', '']],
    [{ kind: 'reply', addresses: undefined, content }, ['', 'a', '']],
    [{ kind: 'client-request', hops: undefined, content: framesOf('a', 'b') }, ['a', 'b']],
    [{ kind: 'client-reply', hops: undefined, content }, ['a', '']],
    [{ kind: 'client-request', hops: [], content }, ['', 'a', '']],
    [{ kind: 'client-request', hops: addresses, content }, ['CLI', 'hop', '', 'a', '']],
    [{ kind: 'client-reply', hops: [], content }, ['', 'a', '']],
    [{ kind: 'client-reply', hops: addresses, content }, ['CLI', 'hop', '', 'a', '']],
  ])('%o', (command, parts) => {
    expect(toHex(encodePpp(command))).toEqual(toHex(framesOf(...parts)));
  });

  test('passes on address and content frames unchanged, in its own array', () => {
    const frames = encodePpp({ kind: 'request', addresses, content });
    expect(frames[0]).toBe(addresses[0]);
    expect(frames[3]).toBe(content[0]);
    expect(encodePpp({ kind: 'ready' })).not.toBe(encodePpp({ kind: 'ready' }));
  });

  test.each<PppCommand>([
    { kind: 'request', addresses: undefined, content },
    { kind: 'request', addresses: undefined, content: framesOf(2) },
    { kind: 'client-request', hops: undefined, content },
    { kind: 'reply', addresses: undefined, content: [] },
    { kind: 'request', addresses, content: [] },
    { kind: 'reply', addresses: framesOf('CLI', ''), content },
    { kind: 'client-request', hops: [], content: [] },
    { kind: 'client-reply', hops: framesOf(''), content },
  ])('refuses %o', (command) => {
    expect(() => encodePpp(command)).toThrow(RangeError);
  });
});
