/** Attacks with Majordomo commands. */
import { IN_TURN_AND_KEPT, IN_TURN_ON_ZMQ, KEPT_ON_ZMQ, REQUEST_TTL_MS } from '../attack.js';
import type { Attack, Stage } from '../attack.js';
import type { AttackingPeer } from '../raw-peer.js';
import { message } from '../wire.js';
import { leaveUnread } from './unread.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const request = (service: string, ...body: readonly (string | Uint8Array)[]): Buffer =>
  message(['MDPC02', '\x01', service, ...body]);
const ready = (service: string): Buffer => message(['MDPW02', '\x01', service]);
const GOODBYE = message(['MDPW02', '\x06']);
const HEARTBEAT = message(['MDPW02', '\x05']);

/** Serves the attacker's own service with answers of this many bytes, as long as requests come. */
async function serveLarge(stage: Stage, service: string, bytes: number): Promise<AttackingPeer> {
  const worker = await stage.open('mdp');
  await worker.write(ready(service));
  const body = Buffer.alloc(bytes);
  void (async () => {
    for (;;) {
      const frames = await worker.next();
      if (frames === undefined) return;
      if (frames[1]?.[0] === 2) await worker.send('MDPW02', '\x04', frames[2]!, '', body);
      else if (frames[1]?.[0] === 5) await worker.write(HEARTBEAT);
    }
  })();
  return worker;
}

/** The honest clients use service `honest`, and newcomers use their own names. */
export const MDP: readonly Attack[] = [
  {
    name: 'mdp/unread-replies',
    does: '40 clients that request replies of 1 MiB and do not read them',
    onZmq: "libzmq's high-water mark counts messages, not bytes: 3 GB and rising",
    async run(stage) {
      await serveLarge(stage, 'large', stage.size(64 * KIB, MIB));
      const clients = await stage.openMany(stage.size(10, 40), 'mdp', { reads: false });
      const ask = request('large', 'x');
      await stage.flood(clients, 200, () => ask);
    },
  },
  {
    name: 'mdp/unread-listings',
    does: '86 clients that request lists of 10,000 names and do not read them',
    leavesMs: REQUEST_TTL_MS,
    missesOnZmq: IN_TURN_ON_ZMQ,
    async run(stage) {
      const first = await stage.open('mdp');
      for (let name = 0; name < stage.size(200, 10_000) && !stage.isOver; name++)
        await first.write(request(`listed-${name}`, 'x'));
      const clients = await stage.openMany(stage.size(10, 86), 'mdp', { reads: false });
      const lists = Buffer.concat([request('mmi.services', 'x'), request('mmi.workers', 'x')]);
      await stage.flood(clients, 100, () => lists);
    },
  },
  {
    name: 'mdp/unread-answers',
    does: 'a client that asks for 200,000 small answers, reads none and leaves, again and again',
    run: (stage) => leaveUnread(stage, 'mdp', request('mmi.service', 'x')),
  },
  {
    name: 'mdp/small-bodies-in-large-buffers',
    does: 'requests of 200 B for a service without workers, each followed by 8 kB of junk',
    leavesMs: REQUEST_TTL_MS,
    missesOnZmq: KEPT_ON_ZMQ,
    async run(stage) {
      const peers = await stage.openMany(4, 'mdp');
      const pair = Buffer.concat([request('nobody', Buffer.alloc(200)), message([Buffer.alloc(8000)])]);
      const some = Buffer.concat(new Array<Buffer>(32).fill(pair));
      await stage.flood(peers, 40, () => some);
    },
  },
  {
    name: 'mdp/full-queues',
    does: 'requests for a service without workers, of 64 KiB and empty, on 40 connections, until no more may wait',
    leavesMs: REQUEST_TTL_MS,
    missesOnZmq: IN_TURN_AND_KEPT,
    async run(stage) {
      const peers = await stage.openMany(stage.size(4, 40), 'mdp');
      const large = request('nobody', Buffer.alloc(64 * KIB));
      const small = Buffer.concat(new Array<Buffer>(500).fill(request('honest', 'x')));
      await stage.flood(peers, 20, (round) => (round % 4 === 0 ? small : large));
    },
  },
  {
    name: 'mdp/names-nobody-serves',
    does: 'one client that requests 10,000 services without workers, while workers with new names register',
    leavesMs: REQUEST_TTL_MS,
    async run(stage) {
      const peer = await stage.open('mdp');
      for await (const round of stage.rounds(2000)) {
        await peer.write(request(`unserved-${round % stage.size(2000, 20_000)}`, 'x'));
        if (round === stage.size(2000, 100_000)) await stage.hold();
      }
    },
  },
  {
    name: 'mdp/ready-and-disconnect',
    does: 'READY and DISCONNECT in a loop, on one connection and on many',
    async run(stage) {
      const peer = await stage.open('mdp');
      for await (const round of stage.rounds(60)) {
        for (let turn = 0; turn < 50; turn++) await peer.write(ready(`here-and-gone-${turn}`), GOODBYE);
        const other = await stage.open('mdp');
        await other.write(ready('gone'), GOODBYE);
        if (round % 2 === 0) other.destroy();
      }
    },
  },
  {
    name: 'mdp/many-workers',
    does: 'thousands of connections that register one service each',
    async run(stage) {
      for await (const round of stage.rounds(4)) {
        const peers = await stage.openMany(50, 'mdp', { reads: false });
        await Promise.all(peers.map((peer, index) => peer.write(ready(`many-${round * 50 + index}`))));
        if (round === stage.size(4, 60)) await stage.hold();
      }
    },
  },
  {
    name: 'mdp/flood-of-each-command',
    does: 'every command of 0.2 and 0.1, each on its own connection, as fast as possible',
    leavesMs: REQUEST_TTL_MS,
    async run(stage) {
      const address = Buffer.from([0, 0, 0, 0, 1]);
      const commands: readonly (readonly (string | Uint8Array)[])[] = [
        ['MDPC02', '\x01', 'nobody', 'x'],
        ['MDPC02', '\x01', 'mmi.service', 'honest'],
        ['MDPC02', '\x02', 'honest', 'x'],
        ['MDPC02', '\x03', 'honest', 'x'],
        ['MDPW02', '\x01', 'nobody'],
        ['MDPW02', '\x02', address, '', 'x'],
        ['MDPW02', '\x03', address, '', 'x'],
        ['MDPW02', '\x04', address, '', 'x'],
        ['MDPW02', '\x05'],
        ['MDPW02', '\x06'],
        ['', 'MDPC01', 'nobody', 'x'],
        ['', 'MDPW01', '\x01', 'nobody'],
        ['', 'MDPW01', '\x03', address, '', 'x'],
        ['', 'MDPW01', '\x04'],
        ['', 'MDPW01', '\x05'],
      ];
      const peers = await stage.openMany(commands.length, 'mdp');
      const floods = commands.map((frames) => Buffer.concat(new Array<Buffer>(200).fill(message(frames))));
      await Promise.all(peers.map((peer, index) => stage.flood([peer], 3, () => floods[index]!)));
    },
  },
  {
    name: 'mdp/spoofed-replies',
    does: 'a worker that answers clients that never asked it, by every possible routing id',
    missesOnZmq: IN_TURN_ON_ZMQ,
    async run(stage) {
      const peer = await stage.open('mdp');
      await peer.write(ready('spoof'));
      for await (const round of stage.rounds(40)) {
        const replies = Array.from({ length: 100 }, (_, index) => {
          const address = Buffer.alloc(5);
          address.writeUInt32BE(round * 100 + index, 1);
          return message(['MDPW02', '\x04', address, '', 'spoofed']);
        });
        await peer.write(Buffer.concat(replies));
      }
    },
  },
  {
    name: 'mdp/prototype-names',
    does: 'services and routing ids named like built-in properties of objects',
    missesOnZmq: IN_TURN_AND_KEPT,
    async run(stage) {
      const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'length', 'mmi.__proto__'];
      for await (const round of stage.rounds(names.length * 2)) {
        const name = names[round % names.length]!;
        const peer = await stage.open('mdp', { identity: name });
        await peer.write(request(name, name), request('mmi.service', name), ready(name), HEARTBEAT, GOODBYE);
        if (round % 2 === 0) peer.destroy();
      }
    },
  },
];
