/** Attacks with NORFAB commands. */
import { writeFileSync } from 'node:fs';
import { readdir, rename, symlink, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IN_TURN_AND_KEPT, IN_TURN_ON_ZMQ, ONE_THREAD_ON_ZMQ, REQUEST_TTL_MS } from '../attack.js';
import type { Attack, Stage } from '../attack.js';
import type { AttackingPeer } from '../raw-peer.js';
import { message } from '../wire.js';
import { leaveUnread } from './unread.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Content of the file beside the shared folder; see cast.ts. */
const SECRET = 'nobody may read this';
const PROTOTYPES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

let uuids = 0;
type Text = string | Uint8Array;
const call = (command: string, service: Text, target: Text, body: Text, uuid: Text = `attack-${uuids++}`): Buffer =>
  message(['', 'NFPC01', command, service, target, uuid, body]);
const work = (command: string, ...frames: readonly Text[]): Buffer => message(['', 'NFPW01', command, ...frames]);
const fetch = (url: string, task = 'fetch_file'): Buffer =>
  call('0x04', 'fss.service.broker', 'all', JSON.stringify({ task, kwargs: { url, offset: 0, chunk_size: 1000 } }));

const TASK = '{"task":"x"}';
/** How long jobs wait for a lost worker by default. */
const RETURN_MS = 10_000;

/** Workers of one service, which say nothing about their jobs. */
async function crowd(stage: Stage, count: number, reads: boolean): Promise<AttackingPeer[]> {
  const workers = await stage.openMany(count, 'nfp', { reads });
  await Promise.all(workers.map((worker) => worker.write(work('0x01', 'crowd'))));
  return workers;
}

/** Jobs for thousands of workers that nobody has named before. */
function floodWithNames(stage: Stage, peers: readonly AttackingPeer[]): Promise<void> {
  let names = 0;
  const list = (): string => JSON.stringify(Array.from({ length: 4000 }, () => `w-${names++}`));
  return stage.flood(peers, 8, () => call('0x04', 'unserved', list(), TASK));
}

const PATHS = [
  '../secret.txt',
  '/../secret.txt',
  'open.txt/../../secret.txt',
  '..%2fsecret.txt',
  '%2e%2e/secret.txt',
  '%252e%252e%252fsecret.txt',
  '..\\secret.txt',
  '....//secret.txt',
  '/etc/passwd',
  '//etc/passwd',
  'C:\\secret.txt',
  'link-out/secret.txt',
  'link-secret',
  'open.txt\0',
  '\0',
  '.',
  '..',
  '',
  '%',
  'a/'.repeat(30_000),
  'x'.repeat(5000),
];

/** The honest peers use service `honest`; worker and client announce `honest-1` and `honest-client`. */
export const NFP: readonly Attack[] = [
  {
    name: 'nfp/long-fields',
    does: 'fields of 50 MB: the client of a RESPONSE, service, target, uuid and status',
    missesOnZmq: ONE_THREAD_ON_ZMQ,
    async run(stage) {
      const long = Buffer.alloc(stage.size(MIB, 50 * MIB), 'x');
      const attempts: readonly (() => Buffer)[] = [
        () => work('0x05', long, '', 'uuid', '200', '{}'),
        () => work('0x05', 'client', '', long, '200', '{}'),
        () => work('0x05', 'client', '', 'uuid', long, '{}'),
        () => work('0x01', long),
        () => call('0x04', long, 'all', '{}'),
        () => call('0x04', 'nobody', long, '{}'),
        () => call('0x04', 'nobody', 'all', '{}', long),
        () => call('0x11', 'mmi.service.broker', 'all', long),
      ];
      for await (const round of stage.rounds(attempts.length)) {
        const peer = await stage.open('nfp');
        await peer.write(attempts[round % attempts.length]!());
      }
    },
  },
  {
    name: 'nfp/bombs-of-json',
    does: 'targets of 64 KiB and bodies of 1 MiB: nested, with many names, with prototypes',
    missesOnZmq: IN_TURN_ON_ZMQ,
    async run(stage) {
      const bytes = stage.size(64 * KIB, MIB);
      const names = Array.from({ length: 5000 }, (_, index) => `"worker-${index}"`).join(',');
      const targets = [
        `[${names.slice(0, 64 * KIB - 2)}]`,
        '['.repeat(64 * KIB),
        `[${'"__proto__",'.repeat(5000)}"x"]`,
      ];
      const bodies = [
        `{"task":"show_workers","kwargs":{"service":${'['.repeat(bytes)}}}`,
        `{"__proto__":{"task":"x"},"task":"__proto__","args":["constructor"],"kwargs":{"__proto__":{}}}`,
        `{"task":"${'\\u0061'.repeat(bytes / 6)}"}`,
      ];
      const peer = await stage.open('nfp');
      for await (const round of stage.rounds(12)) {
        await peer.write(call('0x04', 'nobody', targets[round % targets.length]!, '{}'));
        for (const service of ['mmi.service.broker', 'fss.service.broker', 'sid.service.broker'])
          await peer.write(call(round % 2 ? '0x11' : '0x04', service, 'all', bodies[round % bodies.length]!));
      }
    },
  },
  {
    name: 'nfp/prototype-names',
    does: 'services, workers, targets and uuids named like built-in properties of objects',
    missesOnZmq: IN_TURN_AND_KEPT,
    async run(stage) {
      const client = await stage.open('nfp');
      for await (const round of stage.rounds(PROTOTYPES.length * 4)) {
        const name = PROTOTYPES[round % PROTOTYPES.length]!;
        const worker = await stage.open('nfp', { identity: name });
        await worker.write(work('0x01', name), work('0x08', name, '', name, '200', '{}'));
        await client.write(call('0x04', name, name, '{}', name), call('0x06', name, 'all', '{}', name));
        if (round % 2 === 0) worker.destroy();
      }
    },
  },
  {
    name: 'nfp/flood-of-each-command',
    does: "every command of clients and workers, each on its own connection, including results of other peers' jobs",
    missesOnZmq: IN_TURN_ON_ZMQ,
    async run(stage) {
      const commands: readonly (() => Buffer)[] = [
        () => call('0x04', 'nobody', 'all', '{"task":"x"}'),
        () => call('0x06', 'nobody', 'all', '{}'),
        () => call('0x07', 'nobody', 'all', '{}'),
        () => call('0x10', 'nobody', 'all', '{}'),
        () => call('0x11', 'mmi.service.broker', 'all', '{"task":"show_workers"}'),
        () => call('0x11', 'mmi.service.broker', 'all', '{"task":"show_broker"}'),
        () => message(['', 'NFPC01', '0x00', '{}']),
        () => work('0x00', '{}'),
        () => work('0x01', 'nobody'),
        () => work('0x02', 'nobody'),
        () => work('0x03', 'nobody'),
        () => work('0x05', 'honest-client', '', 'uuid', '200', '{"honest-1":{"result":"spoofed"}}'),
        () => work('0x08', 'honest-client', '', 'uuid', '200', '{}'),
        () => work('0x09', 'honest-client', '', 'uuid', '200', 'spoofed'),
      ];
      const peers = await stage.openMany(commands.length, 'nfp');
      await Promise.all(
        peers.map((peer, index) =>
          stage.flood([peer], 3, () => Buffer.concat(Array.from({ length: 100 }, commands[index]!))),
        ),
      );
    },
  },
  {
    name: 'nfp/unread-answers',
    does: 'a client that asks about 200,000 jobs that nobody has, reads no answer and leaves, again and again',
    run: (stage) => leaveUnread(stage, 'nfp', call('0x06', 'nobody', 'all', '{}')),
  },
  {
    name: 'nfp/jobs-for-a-crowd',
    does: '400 workers that read nothing, and jobs for all of them on 4 connections, as fast as possible',
    leavesMs: RETURN_MS + REQUEST_TTL_MS,
    missesOnZmq: IN_TURN_AND_KEPT,
    async run(stage) {
      await crowd(stage, stage.size(20, 400), false);
      const clients = await stage.openMany(4, 'nfp');
      await stage.flood(clients, 8, () =>
        Buffer.concat(Array.from({ length: 50 }, () => call('0x04', 'crowd', 'all', TASK))),
      );
    },
  },
  {
    name: 'nfp/crowds-that-leave',
    does: 'the same with 200 workers, which leave as soon as they have jobs, and come again under other names',
    leavesMs: RETURN_MS + REQUEST_TTL_MS,
    missesOnZmq: `lost: clients give up what it delays by 10 s; ${IN_TURN_AND_KEPT}`,
    async run(stage) {
      for await (const _ of stage.rounds(2)) {
        const workers = await crowd(stage, stage.size(20, 200), true);
        const clients = await stage.openMany(4, 'nfp');
        for (let turn = 0; turn < stage.size(4, 40) && !stage.isOver; turn++)
          await clients[turn % 4]!.write(...Array.from({ length: 50 }, () => call('0x04', 'crowd', 'all', TASK)));
        await stage.pause(stage.size(50, 500));
        for (const peer of [...workers, ...clients]) peer.destroy();
      }
    },
  },
  {
    name: 'nfp/lists-of-names',
    does: 'jobs for 4,000 workers by name, none of which exists and none of which was named before, on 4 connections',
    leavesMs: REQUEST_TTL_MS,
    missesOnZmq: IN_TURN_AND_KEPT,
    async run(stage) {
      await floodWithNames(stage, await stage.openMany(4, 'nfp'));
    },
  },
  {
    name: 'nfp/lists-after-small-calls',
    does: 'the same, after 600 small calls on each of the connections, so that they are known for those',
    leavesMs: REQUEST_TTL_MS,
    missesOnZmq: IN_TURN_AND_KEPT,
    async run(stage) {
      const peers = await stage.openMany(4, 'nfp');
      const small = stage.size(50, 600);
      const calls = (): Buffer[] => Array.from({ length: small }, () => call('0x06', 'nobody', 'all', '{}'));
      await Promise.all(peers.map((peer) => peer.write(...calls())));
      await floodWithNames(stage, peers);
    },
  },
  {
    name: 'nfp/unread-lists',
    does: '20 clients that request lists of 1,000 workers and of a folder with 20,000 files, and read nothing',
    missesOnZmq: IN_TURN_AND_KEPT,
    async run(stage) {
      await crowd(stage, stage.size(20, 1000), false);
      const folder = join(stage.folder, 'many');
      await mkdir(folder, { recursive: true });
      // Empty ones, without waits in between: with contents it takes up to the whole time of the attack.
      for (let file = 0; file < stage.size(100, 20_000); file++) writeFileSync(join(folder, `file-${file}`), '');
      const peers = await stage.openMany(stage.size(5, 20), 'nfp', { reads: false });
      const asks = [
        call('0x04', 'mmi.service.broker', 'all', '{"task":"show_workers"}'),
        call('0x11', 'mmi.service.broker', 'all', '{"task":"show_broker"}'),
        fetch('nf://many', 'list_files'),
        fetch('nf://many', 'walk'),
      ];
      await stage.flood(peers, 20, (round) => asks[round % asks.length]!);
      await rm(folder, { recursive: true });
    },
  },
  {
    name: 'nfp/jobs-nobody-serves',
    does: 'jobs of 4 KiB for thousands of services without workers',
    async run(stage) {
      const peer = await stage.open('nfp');
      const body = `{"task":"${'x'.repeat(4 * KIB)}"}`;
      for await (const round of stage.rounds(500))
        await peer.write(call('0x04', `unserved-${round % 20_000}`, 'all', body));
    },
  },
  {
    name: 'nfp/stolen-routing-ids',
    does: 'connections that announce the routing ids of a registered worker and of a client, again and again',
    onZmq: 'libzmq gives the name to the newcomer at once, and disconnects the live peer',
    async run(stage) {
      for await (const round of stage.rounds(40)) {
        const worker = await stage.open('nfp', { identity: 'honest-1' });
        const client = await stage.open('nfp', { identity: 'honest-client' });
        await worker.write(work('0x01', 'honest'), work('0x03', 'honest'));
        await client.write(call('0x07', 'honest', 'all', '{}'));
        if (round % 4 > 0) for (const peer of [worker, client]) peer.destroy();
      }
    },
  },
  {
    name: 'nfp/subscriptions',
    does: '633,000 subscriptions at the publisher of events, then a disconnect',
    onZmq: 'removing subscriptions blocks libzmq for up to 14 s, and they take 3 GB',
    async run(stage) {
      for await (const round of stage.rounds(4)) {
        const peer = await stage.open('nfpEvents', { type: 'SUB' });
        for (let some = 0; some < stage.size(2, 633) && !stage.isOver && !peer.isClosed; some++) {
          const wanted = Array.from({ length: 1000 }, (_, index) =>
            message([`\x01job-${round}-${some * 1000 + index}`]),
          );
          await peer.write(Buffer.concat(wanted));
        }
        peer.destroy();
      }
    },
  },
  {
    name: 'nfp/paths-out-of-the-folder',
    does: 'URLs that lead out of the shared folder: dots, percent signs, links, drives, NUL',
    async run(stage) {
      await symlink('..', join(stage.folder, 'link-out')).catch(() => undefined);
      await symlink('../secret.txt', join(stage.folder, 'link-secret')).catch(() => undefined);
      const peer = await stage.open('nfp');
      let asked = 0;
      for await (const round of stage.rounds(PATHS.length)) {
        const path = PATHS[round % PATHS.length]!;
        for (const task of ['fetch_file', 'file_details', 'list_files', 'walk']) {
          await peer.write(fetch(`nf://${path}`, task));
          asked++;
        }
        // One at a time, so that none is refused because others wait.
        while (peer.heard < asked && !peer.isClosed) await peer.next().then(watch);
        peer.take().forEach(watch);
      }
      function watch(frames: readonly Buffer[] | undefined): void {
        if (frames?.some((frame) => frame.includes(SECRET) || frame.includes('root:')) === true)
          stage.broken('a file outside the folder was disclosed');
      }
    },
  },
  {
    name: 'nfp/swapped-folder',
    does: 'a folder inside the shared one is swapped with a link that leads outside, in a loop, while its file is requested',
    async run(stage) {
      const [place, inside, outside] = ['swapped', 'inside', 'outside'].map((name) => join(stage.folder, name)) as [
        string,
        string,
        string,
      ];
      await mkdir(inside, { recursive: true });
      await writeFile(join(inside, 'secret.txt'), 'anybody may read this');
      await symlink('..', outside);
      const peer = await stage.open('nfp');
      for await (const _ of stage.rounds(50)) {
        await peer.write(Buffer.concat(Array.from({ length: 20 }, () => fetch('nf://swapped/secret.txt'))));
        await rename(inside, place);
        await rename(place, inside);
        await rename(outside, place);
        await rename(place, outside);
        for (const frames of peer.take())
          if (frames.some((frame) => frame.includes(SECRET))) stage.broken('a file outside the folder was disclosed');
      }
      for (const name of await readdir(stage.folder))
        if (name !== 'open.txt') await rm(join(stage.folder, name), { recursive: true });
    },
  },
];
