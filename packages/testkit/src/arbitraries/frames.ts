/** Messages of any kind: random ones, and valid ones with one or more faults. */
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';

/** A frame of up to `maxLength` bytes; about every fourth one is empty. */
export function frame(maxLength = 8): Arbitrary<Uint8Array> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(new Uint8Array(0)) },
    { weight: 3, arbitrary: fc.uint8Array({ maxLength }) },
  );
}

/** One or more frames of any bytes: a body. */
export function body(maxFrames = 4): Arbitrary<Uint8Array[]> {
  return fc.array(frame(), { minLength: 1, maxLength: maxFrames });
}

/** A routing id: 1 to 255 bytes, mostly the five of libzmq's automatic ones. */
export const routingId = fc.oneof(
  { weight: 4, arbitrary: fc.uint8Array({ minLength: 4, maxLength: 4 }).map((tail) => Uint8Array.of(0, ...tail)) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 255 }) },
);

/** Any message, including one without frames. */
export function message(maxFrames = 8): Arbitrary<Uint8Array[]> {
  return fc.array(frame(), { maxLength: maxFrames });
}

/** A message composed of the given frames: with a protocol's own words, it meets or breaks nearly every rule. */
export function messageOf(words: readonly Uint8Array[], maxFrames = 7): Arbitrary<Uint8Array[]> {
  return fc.array(fc.constantFrom(...words), { maxLength: maxFrames });
}

/** The messages of `valid` with one to three faults: frames lost, doubled, added, exchanged, shortened or altered. */
export function mutated(valid: Arbitrary<readonly Uint8Array[]>): Arbitrary<Uint8Array[]> {
  const fault = fc.tuple(fc.constantFrom(...FAULTS), fc.nat(), fc.nat(0xff));
  return fc
    .tuple(valid, fc.array(fault, { minLength: 1, maxLength: 3 }))
    .map(([frames, faults]) => faults.reduce((current, [apply, at, byte]) => apply(current, at, byte), [...frames]));
}

type Fault = (frames: readonly Uint8Array[], at: number, byte: number) => Uint8Array[];

/** Faults do not modify their input, because frames may be shared constants. `at` is taken modulo the length. */
const FAULTS: readonly Fault[] = [
  (frames, at) => frames.toSpliced(at % (frames.length + 1), 1),
  (frames, at) => frames.toSpliced(at % (frames.length + 1), 0, new Uint8Array(0)),
  (frames, at, byte) => frames.toSpliced(at % (frames.length + 1), 0, Uint8Array.of(byte)),
  (frames, at) => frames.slice(0, at % (frames.length + 1)),
  (frames, at) => frames.toSpliced(at % (frames.length + 1), 0, ...frames.slice(at % (frames.length + 1), 1)),
  (frames, at) => [...frames.slice(at % (frames.length + 1)), ...frames.slice(0, at % (frames.length + 1))],
  (frames, at) => changeOne(frames, at, (old) => old.slice(0, -1)),
  (frames, at, byte) => changeOne(frames, at, (old) => Uint8Array.of(...old, byte)),
  (frames, at, byte) => changeOne(frames, at, (old) => old.map((value, i) => (i === old.length - 1 ? byte : value))),
];

function changeOne(frames: readonly Uint8Array[], at: number, change: (old: Uint8Array) => Uint8Array): Uint8Array[] {
  return frames.map((old, i) => (i === at % frames.length ? change(old) : old));
}
