/**
 * The maximum cost of one message, since all other peers wait for a step of the engine. Hostile messages by the megabyte, and the largest
 * legal message of each kind, are decoded, stepped and, if there is an answer, encoded. Each time is the fastest of several runs, so that a
 * pause of the machine does not count.
 */
import { fromLatin1 } from '@proj/frames';
import * as arbitraries from '@proj/testkit/arbitraries';
import type { Peer } from '@proj/transport';
import fc from 'fast-check';
import { emqp } from './ports/emqp.js';
import { mdp } from './ports/mdp.js';
import { nfp } from './ports/nfp.js';
import { JSON_BOMBS, long, MIB } from './ports/port.js';
import type { Frames, Step } from './ports/port.js';
import { ppp } from './ports/ppp.js';
import { pzq } from './ports/pzq.js';
import type { Report } from './statistics.js';

/** A new protocol is a file in `ports/` and an entry here. */
const PORTS = [...mdp, ...ppp, ...nfp, ...emqp, ...pzq];

const HOSTILE_BYTES = 24 * MIB;
const RUNS = 3;
const LIMIT_MS = 20;
const PEERS = 100;
const SEED = 20_260_101;
/** Messages to vary. */
const TEMPLATES = 2000;

const peers = Array.from({ length: PEERS }, (_, n): Peer => ({ key: `peer-${n}`, id: Buffer.from(`peer-${n}`) }));

/** The same numbers in every run. */
function numbers(): (below: number) => number {
  let state = SEED;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Content for a long frame: random bytes, or the worst case for a reader of JSON or lists. */
const FILLINGS = [...JSON_BOMBS, long(65_000, 'a:1,'), long(65_000, '\\u0000'), long(65_000, '9')].map(fromLatin1);

/**
 * Messages with one or two faults, some of their frames grown to up to a megabyte, until this many bytes are reached.
 */
function hostile(valid: fc.Arbitrary<Frames>): Frames[] {
  const pick = numbers();
  const templates = fc.sample(fc.oneof(arbitraries.mutated(valid), arbitraries.message(), valid), {
    numRuns: TEMPLATES,
    seed: SEED,
  });
  const noise = Buffer.from(Array.from({ length: 65_536 }, () => pick(256)));
  const messages: Frames[] = [];
  for (let bytes = 0; bytes < HOSTILE_BYTES;) {
    const frames = [...(templates[pick(templates.length)] ?? [])];
    if (frames.length > 0 && pick(4) === 0) {
      const filling = pick(2) === 0 ? noise : (FILLINGS[pick(FILLINGS.length)] ?? noise);
      const times = pick(64) === 0 ? 1 + pick(16) : 1;
      frames[pick(frames.length)] = Buffer.concat(
        Array.from({ length: times }, () => filling.subarray(0, pick(65_536))),
      );
    }
    messages.push(frames);
    bytes += frames.reduce((sum, { length }) => sum + length, 64);
  }
  return messages;
}

/** Milliseconds of each step, the fastest of several runs. */
function timesOf(open: () => Step, messages: readonly Frames[]): Float64Array {
  const best = new Float64Array(messages.length).fill(Infinity);
  for (let run = 0; run < RUNS; run++) {
    const step = open();
    for (const [n, frames] of messages.entries()) {
      const peer = peers[n % PEERS] as Peer;
      const startedAt = performance.now();
      step(peer, frames);
      best[n] = Math.min(best[n] ?? Infinity, performance.now() - startedAt);
    }
  }
  return best;
}

/** The longest step for 24 MiB of hostile messages at each port, and for the largest message of each kind. */
export function measureSteps(report: Report): void {
  const limit = { atMost: LIMIT_MS };
  for (const { name, valid, open, largest } of PORTS) {
    const messages = hostile(valid);
    const worst = timesOf(open, messages).reduce((most, each) => Math.max(most, each), 0);
    const what = `${name}: longest step of ${messages.length} hostile messages of 24 MiB`;
    report({ what, measured: worst, unit: 'ms', limit });
    for (const [kind, frames] of Object.entries(largest)) {
      const [measured = Number.NaN] = timesOf(open, [frames]);
      report({ what: `${name}: ${kind}`, measured, unit: 'ms', limit });
    }
  }
}
