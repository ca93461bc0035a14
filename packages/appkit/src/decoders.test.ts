/** The list of decoders, on real messages of every protocol: `packages/frames/vectors`. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DECODERS, readings } from './decoders.js';
import type { Frames, ProtocolName, Reader } from './decoders.js';

function vectorsOf(protocol: string): Frames[] {
  const text = readFileSync(new URL(`../../frames/vectors/${protocol}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { frames: string[] }[]).map(({ frames }) => frames.map((hex) => Buffer.from(hex, 'hex')));
}

it.each(Object.keys(DECODERS) as ProtocolName[])(
  '%s: every receiver understands at least one real message',
  (protocol) => {
    const vectors = vectorsOf(protocol);
    // The vectors do not list what subscribers receive.
    const readers = (DECODERS[protocol] as readonly Reader[]).filter(({ guess }) => guess !== null);
    const deaf = readers.filter(({ decode }) => vectors.every((frames) => decode(frames).kind === 'malformed'));
    expect(deaf.map(({ receiver }) => receiver)).toEqual([]);
  },
);

it('a guess recognizes the signature of one protocol among all', () => {
  const ready = ['MDPW02', '\x01', 'echo'].map((text) => Buffer.from(text, 'latin1'));
  const understood = readings(ready).filter(({ command }) => command.kind !== 'malformed');
  expect(understood.map(({ protocol, receiver }) => [protocol, receiver])).toContainEqual(['mdp', 'broker']);
});

it('a guess leaves out receivers that accept any frames', () => {
  const receivers = readings([Buffer.from('topic'), Buffer.from('body')]).map(({ receiver }) => receiver);
  expect(receivers).not.toContain('subscriber');
  expect(receivers).toContain('scheduler');
});
