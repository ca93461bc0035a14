/** Attacks with EventMQ commands. */
import { IN_TURN_AND_KEPT, IN_TURN_ON_ZMQ, KEPT_ON_ZMQ, REQUEST_TTL_MS } from '../attack.js';
import type { Attack, Port } from '../attack.js';
import { message } from '../wire.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/** The honest workers do it at once. */
const JOB = '["run",{"path":"jobs","callable":"repeat","args":["x"]}]';
const PROTOTYPES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

let ids = 0;
const say = (word: string, ...fields: readonly (string | Uint8Array)[]): Buffer =>
  message(['', 'eMQP/1.0', word, `attack-${ids++}`, ...fields]);
const inform = (queues: string, type = 'worker'): Buffer => say('INFORM', queues, type);
const schedule = (body: string | Uint8Array, interval = '60', cron = '', headers = ''): Buffer =>
  say('SCHEDULE', 'nobody', headers, interval, body, cron);

/** The honest clients use queue `honest` and topic `honest`. */
export const EMQP: readonly Attack[] = [
  {
    name: 'emqp/long-fields',
    does: 'text fields of 50 MB: queues and type of INFORM, interval and cron of SCHEDULE, headers, topics',
    async run(stage) {
      const long = 'x'.repeat(stage.size(MIB, 50 * MIB));
      const attempts: readonly (readonly [Port, () => Buffer])[] = [
        ['emqpBackend', () => inform(`[[10,"${long}"]]`)],
        ['emqpBackend', () => inform('', long)],
        ['emqpFrontend', () => schedule('{}', long)],
        ['emqpFrontend', () => schedule('{}', '-1', long)],
        ['emqpFrontend', () => say('REQUEST', 'nobody', long, '{}')],
        ['emqpFrontend', () => say('REQUEST', long, '', '{}')],
        ['emqpFrontend', () => say(long)],
        ['emqpPublish', () => say('PUBLISH', long, 'x')],
        ['emqpAdmin', () => say('STATUS', long)],
      ];
      for await (const round of stage.rounds(attempts.length)) {
        const [port, attempt] = attempts[round % attempts.length]!;
        const peer = await stage.open(port);
        await peer.write(attempt());
      }
    },
  },
  {
    name: 'emqp/bombs-of-json',
    does: 'JSON of 1 MiB in SCHEDULE and of 64 KiB in INFORM: nested, with many keys, with long numbers and escapes',
    leavesMs: REQUEST_TTL_MS,
    missesOnZmq: IN_TURN_AND_KEPT,
    async run(stage) {
      const bytes = stage.size(64 * KIB, MIB - KIB);
      const keys = Array.from({ length: bytes / 16 }, (_, index) => `"k${index}":${index % 10}`).join(',');
      const bodies = [
        '['.repeat(bytes),
        `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
        `["${'\\u0061'.repeat(bytes / 6)}"]`,
        `{${keys}}`,
        `["run",{"path":"a","callable":"b","args":[${'1,'.repeat(bytes / 2)}1]}]`,
        `["run",{"path":"a","callable":"b","kwargs":{${keys}}}]`,
        `[${'9'.repeat(bytes)}]`,
      ];
      const front = await stage.openMany(2, 'emqpFrontend');
      const back = await stage.open('emqpBackend');
      for await (const round of stage.rounds(bodies.length * 2)) {
        const body = bodies[round % bodies.length]!;
        await front[round % 2]!.write(schedule(body), say('REQUEST', 'nobody', 'guarantee', body));
        await back.write(inform(body.slice(0, 64 * KIB)));
      }
    },
  },
  {
    name: 'emqp/full-queues',
    does: 'jobs on 8 connections, some guaranteed, faster than they are done, until no more may wait',
    flags: { 'emqp-queue-max': 2000 },
    async run(stage) {
      const peers = await stage.openMany(8, 'emqpFrontend');
      const flood = (headers: string): Buffer =>
        Buffer.concat(Array.from({ length: 200 }, () => say('REQUEST', 'honest', headers, JOB)));
      const floods = peers.map((_, index) => flood(index % 4 === 0 ? 'guarantee' : ''));
      await Promise.all(peers.map((peer, index) => stage.flood([peer], 8, () => floods[index]!)));
    },
  },
  {
    name: 'emqp/prototype-names',
    does: 'queues, ids, topics and jobs named like built-in properties of objects',
    missesOnZmq: IN_TURN_AND_KEPT,
    async run(stage) {
      const front = await stage.open('emqpFrontend');
      const publisher = await stage.open('emqpPublish');
      for await (const round of stage.rounds(PROTOTYPES.length * 4)) {
        const name = PROTOTYPES[round % PROTOTYPES.length]!;
        const job = `["run",{"path":"${name}","callable":"${name}","kwargs":{"${name}":{"${name}":1}}}]`;
        const worker = await stage.open('emqpBackend', { identity: name });
        await worker.write(inform(`[[10,"${name}"]]`), message(['', 'eMQP/1.0', 'READY', name]));
        await front.write(message(['', 'eMQP/1.0', 'REQUEST', name, name, name, job]), schedule(job, '60', name));
        await publisher.write(say('PUBLISH', name, name));
        if (round % 2 === 0) worker.destroy();
      }
    },
  },
  {
    name: 'emqp/inform-and-bye',
    does: 'workers and schedulers that join and leave in a loop, on one connection and on many',
    missesOnZmq: KEPT_ON_ZMQ,
    async run(stage) {
      const peer = await stage.open('emqpBackend');
      for await (const round of stage.rounds(40)) {
        for (let turn = 0; turn < 20; turn++)
          await peer.write(inform('[[10,"nobody"]]', turn % 2 ? 'worker' : 'scheduler'), say('KBYE'));
        const other = await stage.open('emqpBackend');
        await other.write(inform('[[10,"nobody"]]'), say('READY'), say('DISCONNECT'));
        if (round % 2 === 0) other.destroy();
      }
    },
  },
  {
    name: 'emqp/flood-of-each-command',
    does: "every command at both ports, each on its own connection, including results of other peers' jobs",
    async run(stage) {
      const commands: readonly (() => Buffer)[] = [
        () => inform('[[10,"nobody"]]'),
        () => inform('', 'scheduler'),
        () => say('READY'),
        () => say('HEARTBEAT', '1.0'),
        () => say('REPLY', '{"value":"spoofed"}', 'attack-1'),
        () => say('REQUEST', 'nobody', '', '["run",{}]'),
        () => schedule('["run",{"path":"a","callable":"b"}]'),
        () => say('UNSCHEDULE', 'nobody', '', '60', '["run",{"path":"a","callable":"b"}]', ''),
        () => say('ACK', 'attack-1'),
        () => say('PUBLISH', 'x', 'x'),
        () => say('KBAI'),
        () => say('NONSENSE'),
      ];
      const ports = ['emqpFrontend', 'emqpBackend'] as const;
      const peers = await Promise.all(
        commands.flatMap((make) => ports.map(async (port) => ({ make, peer: await stage.open(port) }))),
      );
      await Promise.all(
        peers.map(({ make, peer }) => stage.flood([peer], 2, () => Buffer.concat(Array.from({ length: 100 }, make)))),
      );
    },
  },
  {
    name: 'emqp/unread-status',
    does: '20 consoles that request everything but do not read it, with many workers to report',
    missesOnZmq: IN_TURN_ON_ZMQ,
    async run(stage) {
      const workers = await stage.openMany(stage.size(20, 500), 'emqpBackend', { reads: false });
      await Promise.all(workers.map((worker, index) => worker.write(inform(`[[10,"queue-${index}"]]`), say('READY'))));
      const consoles = await stage.openMany(stage.size(5, 20), 'emqpAdmin', { reads: false });
      const words = ['STATUS', 'ROUTER_SHOW_WORKERS', 'ROUTER_SHOW_SCHEDULERS', 'HELLO'];
      await stage.flood(consoles, 100, (round) => say(words[round % words.length]!));
    },
  },
  {
    name: 'emqp/subscriptions',
    does: '633,000 subscriptions at the pub-sub device, then a disconnect',
    onZmq: 'removing subscriptions blocks libzmq for up to 14 s, and they take 3 GB',
    async run(stage) {
      for await (const round of stage.rounds(4)) {
        const peer = await stage.open('emqpSubscribe', { type: 'SUB' });
        for (let some = 0; some < stage.size(2, 633) && !stage.isOver && !peer.isClosed; some++) {
          const wanted = Array.from({ length: 1000 }, (_, index) =>
            message([`\x01topic-${round}-${some * 1000 + index}`]),
          );
          await peer.write(Buffer.concat(wanted));
        }
        peer.destroy();
      }
    },
  },
  {
    name: 'emqp/logged-subscriptions',
    does: 'the same with --emqp-xpub, which logs subscriptions: subscribed and unsubscribed in a loop',
    flags: { 'emqp-xpub': true },
    onZmq: 'removing subscriptions blocks libzmq for up to 14 s, and they take 3 GB',
    async run(stage) {
      const peer = await stage.open('emqpSubscribe', { type: 'SUB' });
      for await (const round of stage.rounds(4)) {
        const wanted = Array.from({ length: 500 }, (_, index) => [
          message([`\x01topic-${round}-${index}`]),
          message([`\x00topic-${round}-${index}`]),
        ]);
        await peer.write(Buffer.concat(wanted.flat()));
      }
    },
  },
  {
    name: 'emqp/unread-topics',
    does: '40 subscribers that do not read, and a publisher that sends 64 KiB messages as fast as possible',
    missesOnZmq: KEPT_ON_ZMQ,
    async run(stage) {
      const subscribers = await stage.openMany(stage.size(5, 40), 'emqpSubscribe', { type: 'SUB', reads: false });
      await Promise.all(subscribers.map((subscriber) => subscriber.send('\x01flood')));
      const publisher = await stage.open('emqpPublish');
      const body = Buffer.alloc(stage.size(4 * KIB, 64 * KIB));
      for await (const _ of stage.rounds(100)) await publisher.write(say('PUBLISH', 'flood', body));
    },
  },
];
