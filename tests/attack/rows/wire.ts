/** Attacks on the wire itself, before any protocol: what a peer says without having said who it is, and how it says it. */
import { randomBytes } from 'node:crypto';
import type { Attack } from '../attack.js';
import { frameAndMore, GREETING, longHeader, ready } from '../wire.js';

const KIB = 1024;
/** Sizes that overflow somebody's numbers. */
const SIZES = [
  2n ** 63n,
  2n ** 63n - 1n,
  2n ** 64n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 32n,
  2n ** 31n,
  2n ** 31n - 1n,
];
const FLAGS = [0, 1, 4];

/** The endpoint does not matter to these; they meet the first one. */
export const WIRE: readonly Attack[] = [
  {
    name: 'mdp/garbage-at-every-port',
    does: 'noise at every port, alone and behind a true greeting',
    async run(stage) {
      for await (const round of stage.rounds(60)) {
        for (const port of stage.ports) {
          const peer = await stage.open(port, { type: 'none' });
          if (round % 3 > 0) await peer.write(GREETING);
          if (round % 3 > 1) await peer.write(ready('DEALER'));
          await peer.write(randomBytes(1 + ((round * 7919) % (8 * KIB))));
          // Some wait to be thrown out, others leave.
          if (round % 2 === 0) peer.destroy();
        }
      }
    },
  },
  {
    name: 'mdp/lengths-of-2-63',
    does: 'frames and commands that announce 2^31 to 2^64 bytes, before and after READY',
    async run(stage) {
      for await (const round of stage.rounds(SIZES.length * FLAGS.length * 2)) {
        const peer = await stage.open('mdp', { type: round % 2 === 0 ? 'DEALER' : 'none' });
        const [flags, size] = [
          FLAGS[(round >> 1) % FLAGS.length]!,
          SIZES[Math.floor(round / 2 / FLAGS.length) % SIZES.length]!,
        ];
        await peer.write(...(round % 2 === 0 ? [] : [GREETING]), longHeader(flags, size), Buffer.alloc(KIB));
        if (round % 5 > 0) peer.destroy();
      }
    },
  },
  {
    name: 'mdp/messages-without-end',
    does: 'a message of frames that never ends, of empty ones and of 64 KiB',
    onZmq: 'libzmq has no bound for the frames of a message',
    async run(stage) {
      const peers = await stage.openMany(4, 'mdp');
      const empty = Buffer.concat(Array.from({ length: 8 * KIB }, () => frameAndMore('')));
      const large = frameAndMore(Buffer.alloc(64 * KIB));
      for await (const round of stage.rounds(400)) await peers[round % peers.length]!.write(round % 2 ? empty : large);
    },
  },
];
