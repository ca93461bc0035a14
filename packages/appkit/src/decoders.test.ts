/** The list of decoders, on real messages of every protocol: `packages/frames/vectors`. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DECODERS, readings } from './decoders.js';
import type { Frames, ProtocolName, Reader } from './decoders.js';

function vectorsOf(protocol: string): Frames[] {
  const text = readFileSync(new URL(`../../frames/vectors/${protocol}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { frames: string[] }[]).map(({ frames }) => frames.map((hex) => Buffer.from(hex, 'hex')));
}

it.each(Object.keys(DECODERS) as ProtocolName[])('%s: every receiver understands some real message', (protocol) => {
  const vectors = vectorsOf(protocol);
  // What subscribers receive is in no list of vectors.
  const readers = (DECODERS[protocol] as readonly Reader[]).filter(({ guess }) => guess !== null);
  const deaf = readers.filter(({ decode }) => vectors.every((frames) => decode(frames).kind === 'malformed'));
  expect(deaf.map(({ receiver }) => receiver)).toEqual([]);
});

it('a guess tells a mark of one protocol from all others', () => {
  const ready = ['MDPW02', '\x01', 'echo'].map((text) => Buffer.from(text, 'latin1'));
  const understood = readings(ready).filter(({ command }) => command.kind !== 'malformed');
  expect(understood.map(({ protocol, receiver }) => [protocol, receiver])).toContainEqual(['mdp', 'broker']);
});

it('a guess leaves out receivers that take any frames', () => {
  const receivers = readings([Buffer.from('topic'), Buffer.from('body')]).map(({ receiver }) => receiver);
  expect(receivers).not.toContain('subscriber');
  expect(receivers).toContain('scheduler');
});
