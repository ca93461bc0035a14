/** Messages of a hostile peer: garbled real ones, and noise. The same seed gives the same messages. */
import { decodeMdpAtBroker } from '@proj/frames/mdp';
import { loadVectors } from '@proj/testkit';
import type { SeededRandom } from '@proj/transport/virtual';

type Frames = readonly Uint8Array[];

const SOURCES: readonly Frames[] = loadVectors('mdp').map(({ frames }) => frames);
/** One more than the broker accepts. */
const TOO_MANY_FRAMES = 1025;

type Mutation = (frames: Uint8Array[], random: SeededRandom) => Uint8Array[];

const MUTATIONS: readonly Mutation[] = [
  (frames, random) => frames.toSpliced(random.below(frames.length), 1),
  (frames, random) => frames.toSpliced(random.below(frames.length + 1), 0, new Uint8Array(0)),
  (frames, random) => frames.toSpliced(random.below(frames.length + 1), 0, noise(random, 40)),
  (frames, random) => frames.with(random.below(frames.length), noise(random, 8)),
  (frames, random) => frames.toSpliced(random.below(frames.length)),
  (frames, random) => frames.map((frame) => (random.chance(0.3) ? flip(frame, random) : frame)),
  (frames, random) =>
    frames.map((frame) => (random.chance(0.3) ? frame.subarray(0, random.below(frame.length + 1)) : frame)),
  (frames) => [...frames, ...frames],
  (frames, random) => [...frames, new Uint8Array(random.below(65_536))],
  (frames) => frames.toReversed(),
];

/** The next message, of at least one frame. */
export function hostileMessage(random: SeededRandom): Frames {
  if (random.chance(0.001)) return Array.from({ length: TOO_MANY_FRAMES }, () => noise(random, 4));
  if (random.chance(0.2)) return Array.from({ length: 1 + random.below(8) }, () => noise(random, 40));
  let frames = [...SOURCES[random.below(SOURCES.length)]!];
  // Unchanged now and then: a hostile peer may also send legal messages.
  for (let count = random.below(4); count > 0 && frames.length > 0; count--)
    frames = MUTATIONS[random.below(MUTATIONS.length)]!(frames, random);
  return frames.length > 0 ? frames : [noise(random, 8)];
}

/**
 * The reason for which a broker must drop this message, whichever peer sends it; none if that depends on the sender.
 */
export function dropReason(frames: Frames): string | undefined {
  if (frames.length >= TOO_MANY_FRAMES) return 'too-many-frames';
  const command = decodeMdpAtBroker(frames);
  return command.kind === 'malformed' ? command.reason : undefined;
}

function noise(random: SeededRandom, lengthMax: number): Uint8Array {
  return Uint8Array.from({ length: random.below(lengthMax + 1) }, () => random.below(256));
}

function flip(frame: Uint8Array, random: SeededRandom): Uint8Array {
  return frame.length === 0 ? frame : frame.with(random.below(frame.length), random.below(256));
}
