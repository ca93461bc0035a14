/** Attacks on the wire protocol itself, below the others: what a peer sends before its handshake is done, and how. */
import { randomBytes } from 'node:crypto';
import { ONE_THREAD_ON_ZMQ, REQUEST_TTL_MS } from '../attack.js';
import type { Attack } from '../attack.js';
import { command, frame, frameAndMore, GREETING, longHeader, message, ready } from '../wire.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Sizes that overflow common integer types. */
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
/** The first routing ids of a fresh libzmq process. */
const FIRST_ROUTING_ID = 0x6b8b4567;
const GREETING_STEPS = 20;

/** The endpoint does not matter to these attacks; they use the first one. */
export const WIRE: readonly Attack[] = [
  {
    name: 'mdp/garbage-at-every-port',
    does: 'noise at every port: alone, after a valid greeting, after a valid handshake',
    missesOnZmq: ONE_THREAD_ON_ZMQ,
    async run(stage) {
      for await (const round of stage.rounds(30)) {
        for (const port of stage.ports) {
          const peer = await stage.open(port, { type: 'none' });
          if (round % 3 > 0) await peer.write(GREETING);
          if (round % 3 > 1) await peer.write(ready('DEALER'));
          await peer.write(randomBytes(1 + ((round * 7919) % (8 * KIB))));
          // Some wait to be disconnected, others leave.
          if (round % 2 === 0) peer.destroy();
        }
      }
    },
  },
  {
    name: 'mdp/slow-greetings',
    does: '2,000 connections that send their greeting one byte at a time, or not at all',
    async run(stage) {
      const peers = await stage.openMany(stage.size(100, 2000), 'mdp', { type: 'none' });
      for await (const round of stage.rounds(GREETING_STEPS)) {
        const byte = GREETING.subarray(round, round + 1);
        for (const [index, peer] of peers.entries()) if (index % 2 === 0) await peer.write(byte);
        if (round === GREETING_STEPS) await stage.hold();
      }
    },
  },
  {
    name: 'mdp/half-messages',
    does: '40 connections with 60 MiB of unfinished messages each',
    missesOnZmq: ONE_THREAD_ON_ZMQ,
    async run(stage) {
      const peers = await stage.openMany(stage.size(10, 40), 'mdp');
      const bytes = stage.size(2 * MIB, 60 * MIB);
      const body = Buffer.alloc(bytes - 1);
      await Promise.all(peers.map((peer) => peer.write(longHeader(0, BigInt(bytes)), body)));
      await stage.hold();
    },
  },
  {
    name: 'mdp/lengths-of-2-63',
    does: 'frames and commands that announce 2^31 to 2^64 bytes, before and after READY',
    async run(stage) {
      for await (const round of stage.rounds(SIZES.length * FLAGS.length * 2)) {
        const peer = await stage.open('mdp', { type: round % 2 === 0 ? 'DEALER' : 'none' });
        const flags = FLAGS[(round >> 1) % FLAGS.length]!;
        const size = SIZES[Math.floor(round / 2 / FLAGS.length) % SIZES.length]!;
        await peer.write(...(round % 2 === 0 ? [] : [GREETING]), longHeader(flags, size), Buffer.alloc(KIB));
        if (round % 5 > 0) peer.destroy();
      }
    },
  },
  {
    name: 'mdp/messages-without-end',
    does: 'messages of endless frames, empty ones and of 64 KiB',
    onZmq: 'libzmq has no limit for the frames of a message: 4 GB in 9 s',
    async run(stage) {
      const peers = await stage.openMany(4, 'mdp');
      const empty = Buffer.concat(Array.from({ length: 8 * KIB }, () => frameAndMore('')));
      const large = frameAndMore(Buffer.alloc(64 * KIB));
      for await (const round of stage.rounds(200)) await peers[round % 4]!.write(round % 8 < 4 ? empty : large);
    },
  },
  {
    name: 'mdp/three-million-frames',
    does: 'messages of 3 million one-byte frames',
    onZmq: 'libzmq has no limit for the frames of a message: 4 GB in 9 s',
    async run(stage) {
      const peer = await stage.open('mdp');
      const some = Buffer.concat(Array.from({ length: 10_000 }, () => frameAndMore('x')));
      for await (const _ of stage.rounds(1)) {
        for (let sent = 0; sent < stage.size(10, 300) && !stage.isOver; sent++) await peer.write(some);
        await peer.write(frame('x'));
      }
    },
  },
  {
    name: 'mdp/bombs-of-frames',
    does: 'messages of as many tiny frames as allowed, of one more, and of ten times as many',
    missesOnZmq: 'p99 and memory afterwards: its high-water mark counts messages, not frames',
    leavesMs: REQUEST_TTL_MS,
    async run(stage) {
      const peers = await stage.openMany(4, 'mdp');
      const request = ['MDPC02', '\x01', 'nobody'];
      const bombs = [1020, 1021, 10_240].map((count) => message([...request, ...new Array<string>(count).fill('x')]));
      for await (const round of stage.rounds(60)) await peers[round % 4]!.write(bombs[round % bombs.length]!);
    },
  },
  {
    name: 'mdp/churn',
    does: 'connections that open, ask once and close, as many as possible (35,000 in ten seconds)',
    missesOnZmq: ONE_THREAD_ON_ZMQ,
    async run(stage) {
      const request = message(['MDPC02', '\x01', 'mmi.service', 'honest']);
      for await (const _ of stage.rounds(5)) {
        const peers = await stage.openMany(50, 'mdp', { reads: false });
        await Promise.all(peers.map((peer) => peer.write(request)));
        for (const peer of peers) peer.destroy();
      }
    },
  },
  {
    name: 'mdp/one-routing-id',
    does: 'connections that announce one routing id, two at a time, again and again',
    onZmq: "libzmq's sockets stay open for ever: 750 descriptors and 400 MB in 32 s",
    async run(stage) {
      for await (const round of stage.rounds(50)) {
        const peers = await stage.openMany(2, 'mdp', { identity: 'one and only' });
        await Promise.all(peers.map((peer) => peer.send('MDPC02', '\x01', 'mmi.service', 'honest')));
        if (round % 3 > 0) for (const peer of peers) peer.destroy();
      }
    },
  },
  {
    name: 'mdp/next-routing-id',
    does: 'connections that announce the routing ids that libzmq will hand out next, and others without one',
    onZmq: 'libzmq fails an assertion, and the process aborts',
    async run(stage) {
      for await (const round of stage.rounds(50)) {
        const identity = Buffer.alloc(5);
        identity.writeUInt32BE((FIRST_ROUTING_ID + round) >>> 0, 1);
        await stage.open('mdp', { identity });
        const other = await stage.open('mdp');
        await other.send('MDPC02', '\x01', 'mmi.service', 'honest');
        if (round % 10 > 0) other.destroy();
      }
    },
  },
  {
    name: 'mdp/commands-of-zmtp',
    does: '40 connections that send only PING, PONG and unknown commands',
    missesOnZmq: 'p99: its one I/O thread handles commands itself, and does not report them',
    async run(stage) {
      const peers = await stage.openMany(stage.size(8, 40), 'mdp');
      const flood = Buffer.concat(
        Array.from({ length: 500 }, () => [
          command('PING', '\0\0context'),
          command('PONG', 'x'),
          command('WHAT', 'x'),
        ]).flat(),
      );
      await stage.flood(peers, 40, () => flood);
    },
  },
  {
    name: 'mdp/unread-pongs',
    does: '40 connections that send PING and do not read the answers',
    missesOnZmq: 'p99: its one I/O thread answers each PING itself, and does not report them',
    async run(stage) {
      const peers = await stage.openMany(stage.size(8, 40), 'mdp', { reads: false });
      const flood = Buffer.concat(Array.from({ length: 1000 }, () => command('PING', '\0\0sixteen bytes...')));
      await stage.flood(peers, 40, () => flood);
    },
  },
  {
    name: 'mdp/lanes',
    does: 'connections of lanes with 5,000 openings each, data for lanes that do not exist, and windows of 2^32 bytes',
    async run(stage) {
      const lane = (kind: number, number: number, size: number, body = ''): Buffer => {
        const bytes = Buffer.alloc(9);
        bytes[0] = kind;
        bytes.writeUInt32BE(number, 1);
        bytes.writeUInt32BE(size, 5);
        return Buffer.concat([bytes, Buffer.from(body)]);
      };
      for await (const round of stage.rounds(8)) {
        const peer = await stage.open('mdp', { type: 'none' });
        await peer.write(Buffer.from('LANES/1\n'));
        for (let number = 1; number <= stage.size(300, 5000) && !stage.isOver; number++)
          await peer.write(lane(1, number, 0), lane(2, number, 1, 'x'), lane(5, number, 2 ** 32 - 1));
        await peer.write(lane(2, 2 ** 32 - 1, 1, 'x'), lane(3, 77, 0), lane(9, 1, 1));
        if (round % 2 === 0) peer.destroy();
      }
    },
  },
];
