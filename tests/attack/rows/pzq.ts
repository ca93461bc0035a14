/** Attacks with PZQ messages. */
import { encodePzqKey } from '@proj/frames/pzq';
import { IN_TURN_ON_ZMQ } from '../attack.js';
import type { Attack } from '../attack.js';
import { command, message } from '../wire.js';

const KIB = 1024;

let ids = 0;
const produce = (body: string | Uint8Array): Buffer => message([`attack-${ids++}`, '', body]);

/** The honest clients share one queue with all others. */
export const PZQ: readonly Attack[] = [
  {
    name: 'pzq/one-producer',
    does: 'one producer with 100,000 tiny messages, as fast as possible',
    missesOnZmq: IN_TURN_ON_ZMQ,
    async run(stage) {
      const peer = await stage.open('receive');
      for await (const round of stage.rounds(20)) {
        if (round * 100 > 100_000) return stage.hold();
        await peer.write(Buffer.concat(Array.from({ length: 100 }, () => produce('tiny'))));
      }
    },
  },
  {
    name: 'pzq/hoarders',
    does: '20 consumers that read and never acknowledge',
    async run(stage) {
      await stage.openMany(stage.size(4, 20), 'send', { type: 'ROUTER' });
      const peer = await stage.open('receive');
      for await (const _ of stage.rounds(20)) {
        await peer.write(Buffer.concat(Array.from({ length: 50 }, () => produce('for nobody'))));
        await stage.pause(10);
      }
    },
  },
  {
    name: 'pzq/silent-readers',
    does: '20 consumers that read nothing for 8 s, although they are alive: none may be cut',
    async run(stage) {
      const peers = await stage.openMany(stage.size(4, 20), 'send', { type: 'ROUTER' });
      const producer = await stage.open('receive');
      for (const peer of peers) await peer.met();
      for await (const _ of stage.rounds(1)) {
        for (const peer of peers) peer.pause();
        for (let step = 0; step < stage.size(2, 8) && !stage.isOver; step++) {
          await producer.write(Buffer.concat(Array.from({ length: 100 }, () => produce(Buffer.alloc(KIB)))));
          for (const peer of peers) await peer.write(command('PING', '\0\x64'));
          await stage.pause(stage.size(100, 1000));
        }
        for (const peer of peers) peer.resume();
        // A cut connection is noticed only when it is read again.
        await stage.pause(stage.size(100, 500));
        if (!stage.isOver && peers.some((peer) => peer.isClosed)) stage.broken('a slow reader was cut');
      }
    },
  },
  {
    name: 'pzq/unread-answers',
    does: 'producers that do not read their answers',
    async run(stage) {
      const peers = await stage.openMany(4, 'receive', { reads: false });
      await stage.flood(peers, 20, () =>
        Buffer.concat(Array.from({ length: 100 }, () => message([`attack-${ids++}`]))),
      );
    },
  },
  {
    name: 'pzq/spoofed-acknowledgements',
    does: 'a consumer that acknowledges messages it never received, by valid keys and by noise',
    async run(stage) {
      const peer = await stage.open('send', { type: 'ROUTER' });
      for await (const round of stage.rounds(20)) {
        const keys = Array.from({ length: 100 }, (_, index) =>
          encodePzqKey({ storedMicros: Date.now() * 1000, epoch: 1n, seq: 1 + index + round * 100 }),
        );
        await peer.write(
          ...keys.map((key) => message([key, '1'])),
          ...keys.map((key) => message([key])),
          message(['no key', '1']),
          message(['']),
          message(['x'.repeat(64 * KIB), '0']),
        );
      }
    },
  },
  {
    name: 'pzq/malformed-messages',
    does: 'messages without a delimiter, without a body, with a thousand headers, with a thousand parts',
    missesOnZmq: 'p99, and in some runs memory afterwards: the same queue holds both on zmtp',
    async run(stage) {
      const peers = await stage.openMany(4, 'receive');
      const floods = [
        message(['id', 'no', 'delimiter']),
        message(['id', '']),
        message(['id', ...new Array<string>(1000).fill('PZQ-TTL-MS:x'), '', 'x']),
        message(['', '', ...new Array<string>(1020).fill('')]),
      ];
      for await (const round of stage.rounds(40))
        await peers[round % 4]!.write(...new Array<Buffer>(10).fill(floods[round % 4]!));
    },
  },
  {
    name: 'pzq/unread-figures',
    does: '20 connections that request the statistics of the queue and do not read them',
    async run(stage) {
      const peers = await stage.openMany(stage.size(5, 20), 'monitor', { reads: false });
      const some = Buffer.concat(new Array<Buffer>(100).fill(message(['', 'MONITOR'])));
      await stage.flood(peers, 20, () => some);
    },
  },
  {
    name: 'pzq/garbage-and-half-messages',
    does: 'noise and unfinished messages of 60 MiB, at every port',
    async run(stage) {
      for await (const round of stage.rounds(10)) {
        for (const port of stage.ports) {
          const peer = await stage.open(port, { type: port === 'send' ? 'ROUTER' : 'DEALER' });
          const bytes = stage.size(256 * KIB, 60 * KIB * KIB);
          if (round % 2 === 0) await peer.write(Buffer.from([2, 0, 0, 0, 0, 3, 0xc0, 0, 0]), Buffer.alloc(bytes - 1));
          else await peer.write(Buffer.alloc(100, round));
        }
        if (round === 40) return stage.hold();
      }
    },
  },
];
