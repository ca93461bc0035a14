/** Attacks in the words of Paranoid Pirate. None registers as a worker: who does has requests of others, which only CURVE forbids. */
import type { Attack } from '../attack.js';
import { message } from '../wire.js';

const KIB = 1024;
/** Of requests that wait. */
const REQUEST_TTL_MS = 30_000;

/** Those who are served have the one service there is. */
export const PPP: readonly Attack[] = [
  {
    name: 'ppp/flood-at-the-backend',
    does: 'heartbeats, spoofed replies and noise of workers that never registered',
    async run(stage) {
      const address = Buffer.from([0, 0, 0, 0, 1]);
      const commands = [
        ['\x02'],
        ['\x03'],
        [''],
        [address, '', 'spoofed'],
        ['', 'spoofed'],
        [address, address, address, '', 'spoofed'],
        new Array<string>(1000).fill('x'),
      ];
      const peers = await stage.openMany(commands.length, 'pppBackend');
      const floods = commands.map((frames) => Buffer.concat(new Array<Buffer>(100).fill(message(frames))));
      await Promise.all(peers.map((peer, index) => stage.flood([peer], 4, () => floods[index]!)));
    },
  },
  {
    name: 'ppp/unread-replies',
    does: '20 clients that ask, five at a time, for replies of 16 KiB and do not read them',
    async run(stage) {
      const clients = await stage.openMany(stage.size(5, 20), 'pppFrontend', { reads: false });
      const request = message(['', Buffer.alloc(16 * KIB)]);
      for await (const round of stage.rounds(50)) {
        // At a pace that the one worker can keep: what is asked for here is whether unread replies hurt, not how long a queue is.
        await clients[round % clients.length]!.write(...new Array<Buffer>(5).fill(request));
        await stage.pause(10);
      }
    },
  },
  {
    name: 'ppp/full-queue',
    does: 'requests on 4 connections, faster than they are served, until no more may wait',
    // What 4 connections can fill before anybody looks.
    flags: { 'ppp-request-queue-max': 500 },
    leavesMs: REQUEST_TTL_MS,
    async run(stage) {
      const peers = await stage.openMany(4, 'pppFrontend');
      const flood = Buffer.concat(new Array<Buffer>(1000).fill(message(['', 'x'])));
      await stage.flood(peers, 24, () => flood);
    },
  },
  {
    name: 'ppp/addresses',
    does: 'requests behind a thousand addresses, behind empty ones, of nothing but addresses',
    async run(stage) {
      const peers = await stage.openMany(3, 'pppFrontend');
      const floods = [
        message([...new Array<string>(1000).fill('a'), '', 'x']),
        message(['', '', '', 'x']),
        message([...new Array<string>(1000).fill('a')]),
      ];
      for await (const round of stage.rounds(30)) {
        await peers[round % 3]!.write(floods[round % 3]!);
        await stage.pause(5);
      }
    },
  },
];
