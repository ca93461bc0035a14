/**
 * Attacks with Paranoid Pirate messages. None registers as a worker: a registered worker gets other clients' requests, which only
 * CURVE can prevent.
 */
import { IN_TURN_ON_ZMQ, REQUEST_TTL_MS } from '../attack.js';
import type { Attack } from '../attack.js';
import { message } from '../wire.js';

const KIB = 1024;

/** The honest clients use the only service. */
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
    does: '20 clients that request replies of 16 KiB, five at a time, and do not read them',
    async run(stage) {
      const clients = await stage.openMany(stage.size(5, 20), 'pppFrontend', { reads: false });
      const request = message(['', Buffer.alloc(16 * KIB)]);
      for await (const round of stage.rounds(50)) {
        // At a pace that the single worker can keep up with: this attack tests whether unread replies do harm, not how long a
        // queue is.
        await clients[round % clients.length]!.write(...new Array<Buffer>(5).fill(request));
        await stage.pause(10);
      }
    },
  },
  {
    name: 'ppp/full-queue',
    does: 'requests on 4 connections, faster than they are served, until no more may wait',
    // What 4 connections can fill before anything is checked.
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
    does: 'requests behind a thousand addresses, behind empty ones, and made only of addresses',
    missesOnZmq: IN_TURN_ON_ZMQ,
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
