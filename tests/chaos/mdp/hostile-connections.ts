/** Hostile peers: whatever they send, the broker still serves others, its memory does not grow, and it counts what it drops. */
import { MdpClient } from '@proj/client';
import { decodeMdpAtClient, encodeMdp } from '@proj/frames/mdp';
import type { PeerProcess, PeerSpec } from '@proj/testkit';
import { SeededRandom } from '@proj/transport/virtual';
import { expect } from 'vitest';
import { program, script } from '../programs.js';
import { transport } from '../../transport.js';
import { dropReason, hostileMessage } from './hostile.js';
import { RawPeer } from './raw-peer.js';

export const SEED = 20_250_101;
const AT_A_TIME = 4;
const MESSAGES_EACH = 1000;
/**
 * How much memory may exceed that after the warm-up without counting as growth: 20 bytes per message would exceed it.
 */
const HEAP_RATIO_MAX = 1.2;
/** Resident memory also depends on when the garbage of large frames was collected. */
const RSS_RATIO_MAX = 1.5;
/** Messages that may wait in the sender before it lets others run. */
const PENDING_MAX = 100;
/** No message of a hostile peer names it, so that none can take its requests by registering for it. */
const SERVICE = 'honest';

interface Report {
  readonly rss: number;
  readonly heapUsed: number;
  readonly openRequests: number;
  readonly counters: { readonly requests: number; readonly dropped: Readonly<Record<string, number>> };
}

async function report(broker: PeerProcess): Promise<Report> {
  const said = broker.next('report');
  broker.tell({});
  return (await said) as unknown as Report;
}

/** What the attacks share. */
interface Siege {
  readonly endpoint: string;
  /** Messages that the broker has to drop, by reason: each attack adds its own. */
  readonly expected: Map<string, number>;
  /** Sends one more request of an honest client and awaits the answer. */
  readonly serve: () => Promise<void>;
}

/** Sends its share of hostile messages and leaves when the broker has read the last of them. */
async function storm({ endpoint, expected }: Siege, random: SeededRandom): Promise<void> {
  let answered: () => void;
  const seen = new Promise<void>((resolve) => {
    answered = resolve;
  });
  await using peer = await RawPeer.connect(endpoint, (frames) => {
    const reply = decodeMdpAtClient(frames);
    if (reply.kind === 'client-final' && reply.service === 'mmi.last') answered();
  });
  for (let sent = 0; sent < MESSAGES_EACH; sent++) {
    const frames = hostileMessage(random);
    const reason = dropReason(frames);
    if (reason !== undefined) expected.set(reason, (expected.get(reason) ?? 0) + 1);
    peer.send(frames);
    while (peer.pending > PENDING_MAX) await new Promise((resolve) => setImmediate(resolve));
  }
  peer.send(encodeMdp({ kind: 'client-request', version: '0.2', service: 'mmi.last', body: [Buffer.from('?')] }));
  await seen;
  expect(peer.undelivered).toBe(0);
}

/** One connection of a hostile peer, while others are served from its beginning to its end. */
async function attack(siege: Siege, random: SeededRandom): Promise<void> {
  let isOver = false;
  const others = async () => {
    do await siege.serve();
    while (!isOver);
  };
  await Promise.all([storm(siege, random).finally(() => (isOver = true)), others()]);
}

/** Runs attacks, several at a time, each with its own messages. */
async function attackAll(siege: Siege, first: number, last: number): Promise<void> {
  let next = first;
  const attacker = async () => {
    while (next < last) await attack(siege, new SeededRandom(`${SEED}/${next++}`));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, attacker));
}

/**
 * This many connections open and close, several at a time, with a thousand messages each. `warmUp` are those before the
 * first measurement, until code is compiled and buffers have their size.
 */
export async function withstand(
  launch: (spec: PeerSpec) => PeerProcess,
  connections: number,
  warmUp: number,
): Promise<void> {
  const broker = launch(script('mdp/fixtures/measured-broker.mjs', ['--expose-gc']));
  const endpoint = (await broker.line('listening'))['endpoint'] as string;
  const worker = launch(
    program('worker', { connect: endpoint, service: SERVICE, handler: 'echo', 'heartbeat-ms': 100, liveness: 100 }),
  );
  // Registered, not only started: requests for a service without workers expire soon here.
  await Promise.race([broker.line('first-worker'), worker.lost()]);
  await using client = new MdpClient({ transport, endpoints: [endpoint], timeoutMs: 600_000, tries: 1 });

  const expected = new Map<string, number>();
  let served = 0;
  // One at a time, so that none waits for the worker: it would soon expire at the broker.
  let line = Promise.resolve();
  const serve = () =>
    (line = line.then(async () => {
      const text = `request ${served++}`;
      expect(String(await client.request(SERVICE, text))).toBe(text);
    }));
  const siege = { endpoint, expected, serve };
  await Promise.race([attackAll(siege, 0, warmUp), broker.lost()]);
  const before = await report(broker);
  await Promise.race([attackAll(siege, warmUp, warmUp + connections), broker.lost()]);
  let after = await report(broker);
  // Requests to unserved services live for their TTL; the honest worker's heartbeats continue meanwhile.
  while (after.openRequests > 0) after = await report(broker);

  const [heap, rss] = (['heapUsed', 'rss'] as const).map((key) => after[key] / before[key]) as [number, number];
  console.log(
    `${served} requests of others served meanwhile; heap ${heap.toFixed(2)}, resident ${rss.toFixed(2)} times`,
  );
  expect(worker.lines('lost')).toEqual([]);
  const { dropped } = after.counters;
  const counted = [...expected.keys()].map((reason) => [reason, dropped[reason]]);
  expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(expected));
  expect(heap).toBeLessThan(HEAP_RATIO_MAX);
  expect(rss).toBeLessThan(RSS_RATIO_MAX);
}
