/** Attacks on programs with other settings: with CURVE and a list of keys, with a log that nobody reads, and with little memory. */
import { MdpClient } from '@proj/client';
import { isProjError } from '@proj/transport';
import { MdpWorker } from '@proj/worker';
import { zmtpTransport } from '@proj/zmtp';
import { KEPT_ON_ZMQ, REQUEST_TTL_MS } from '../attack.js';
import type { Attack, Stage } from '../attack.js';
import type { Swap } from '../keyring.js';
import { longHeader, message } from '../wire.js';

const MB = 1_000_000;
const MIB = 2 ** 20;
const KIB = 1024;
/** As much as a container may have. */
const SMALL = {
  variant: 'small',
  flags: { 'memory-max': 256 * MIB },
  onZmq: 'the memory budget does not cover what libzmq holds',
} as const;
/** A key removed from the list is locked out after at most this long. */
const OUT_MS = 5000;
const ASK_MS = 250;
/** A key added to it is admitted within this time, even if other processes leave this one little of the CPU. */
const IN_MS = 30_000;

/** Resolves with whether the client got no answer in time. */
async function isLockedOut(stage: Stage, client: MdpClient): Promise<boolean> {
  const end = performance.now() + OUT_MS;
  while (await isAnswered(client, ASK_MS)) if (stage.isOver || performance.now() > end) return stage.isOver;
  return true;
}

/** Whether the broker answers. */
async function isAnswered(client: MdpClient, timeoutMs: number): Promise<boolean> {
  try {
    await client.request('mmi.service', 'honest', { timeoutMs, tries: 1 });
    return true;
  } catch (error) {
    if (isProjError(error)) return false;
    throw error;
  }
}

/** Attacks that need an {@link Attack.variant}. */
export const VARIANTS: readonly Attack[] = [
  {
    name: 'mdp/encrypted-answers-of-100-mb',
    does: 'with CURVE: two clients that request answers of 100 MB, one after the other',
    variant: 'encrypted',
    flags: { 'mdp-max-message-bytes': 128 * MIB },
    missesOnZmq: `p99: it enciphers a message in one go; ${KEPT_ON_ZMQ}`,
    async run(stage) {
      const connection = {
        transport: zmtpTransport(),
        endpoints: [stage.endpoint('mdp')],
        curve: await stage.keyring.curve('attacker'),
        maxMessageBytes: 128 * MIB,
      };
      const body = Buffer.alloc(stage.size(2 * MB, 100 * MB));
      await using worker = new MdpWorker({ ...connection, service: 'large', handler: () => body });
      await worker.start();
      await using client = new MdpClient({ ...connection, timeoutMs: 60_000 });
      const ask = async (): Promise<void> => {
        for await (const _ of stage.rounds(2)) {
          const answer = client.request('large', 'x').then(
            ([{ length } = Buffer.alloc(0)]) => length,
            () => body.length,
          );
          if ((await Promise.race([answer, stage.hold().then(() => body.length)])) !== body.length)
            stage.broken('an answer was cut');
        }
      };
      await Promise.all([ask(), ask()]);
    },
  },
  {
    name: 'mdp/keys-swapped',
    does: 'with CURVE: the list of keys is replaced by swapping a link and by `mv`, and a key removed from it keeps sending requests',
    variant: 'encrypted',
    onZmq: 'libzmq closes no connection: a key removed from the list stays until it disconnects',
    async run(stage) {
      const ways: readonly Swap[] = ['link', 'folder', 'folder', 'link'];
      const client = new MdpClient({
        transport: zmtpTransport(),
        endpoints: [stage.endpoint('mdp')],
        curve: await stage.keyring.curve('attacker'),
      });
      const { keyring } = stage;
      if (!(await isAnswered(client, IN_MS))) stage.broken('a key on the list is not admitted');
      for await (const round of stage.rounds(2)) {
        const how = ways[round % ways.length]!;
        await keyring.put('honest', how);
        if (!(await isLockedOut(stage, client)))
          stage.broken(`a key removed from the list is still served (swap of a ${how})`);
        await keyring.put('all', how);
        if (!(await isAnswered(client, IN_MS))) stage.broken(`a key is not admitted again (swap of a ${how})`);
      }
      await client.close();
    },
  },
  {
    name: 'mdp/unread-log',
    does: 'every message is logged into a pipe that nobody reads, while workers join and leave in a loop',
    variant: 'unread',
    async run(stage) {
      const peers = await stage.openMany(4, 'mdp');
      const hello = message(['MDPW02', '\x01', 'logged']);
      const goodbye = message(['MDPW02', '\x06']);
      const some = Buffer.concat(Array.from({ length: 100 }, () => [hello, goodbye]).flat());
      await stage.flood(peers, 20, () => some);
    },
  },
  {
    ...SMALL,
    name: 'mdp/half-messages-in-256-mib',
    does: 'with --memory-max 256 MiB: 12 connections with 60 MiB of unfinished messages each',
    async run(stage) {
      const peers = await stage.openMany(12, 'mdp');
      const body = Buffer.alloc(60 * MIB - 1);
      // A peer that is cut, or no longer read, has been refused clearly enough.
      const sent = peers.map((peer) => peer.write(longHeader(0, BigInt(60 * MIB)), body));
      await Promise.race([Promise.all(sent), stage.pause(stage.size(1000, 10_000))]);
      await stage.hold();
    },
  },
  {
    ...SMALL,
    name: 'mdp/full-queues-in-256-mib',
    does: 'with --memory-max 256 MiB: requests of 256 KiB for a service without workers, on 8 connections',
    leavesMs: REQUEST_TTL_MS,
    async run(stage) {
      const peers = await stage.openMany(8, 'mdp');
      const request = message(['MDPC02', '\x01', 'nobody', Buffer.alloc(256 * KIB)]);
      await stage.flood(peers, 1000, () => request);
    },
  },
];
