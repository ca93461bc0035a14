/** The NFP engine alone, with encoding and decoding but without sockets: the cost for each worker of a job for all. */
import { NfpBrokerEngine, nfpBrokerOptions } from '@proj/broker/nfp';
import { decodeNfpAtBroker, encodeNfp } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import { median } from './statistics.js';
import type { Report } from './statistics.js';

const SERVICES = 100;
const ROUNDS = 11;

function peer(name: string): Peer {
  return { key: name, id: Buffer.from(name) };
}

/** Messages that are sent repeatedly. */
const empty = Buffer.alloc(0);
const header = { client: Buffer.from('NFPC01'), worker: Buffer.from('NFPW01') };
const command = { ready: Buffer.from('0x01'), post: Buffer.from('0x04'), response: Buffer.from('0x05') };
const all = Buffer.from('all');
const accepted = Buffer.from('201');
const body = Buffer.alloc(64, 7);
const asker = peer('client');

/** A broker with this many workers. */
function crowd(workers: number): NfpBrokerEngine {
  const engine = new NfpBrokerEngine(nfpBrokerOptions.parse({}));
  for (let n = 0; n < workers; n++) {
    const ready = [empty, header.worker, command.ready, Buffer.from(`service-${n % SERVICES}`)];
    engine.step({ kind: 'message', peer: peer(`worker-${n}`), command: decodeNfpAtBroker(ready) }, 0);
  }
  return engine;
}

/** A POST to all workers, and all their answers. Returns how many answers there were. */
function broadcast(engine: NfpBrokerEngine, uuid: Buffer): number {
  const call = [empty, header.client, command.post, all, all, uuid, body];
  let answered = 0;
  for (const effect of engine.step({ kind: 'message', peer: asker, command: decodeNfpAtBroker(call) }, 0)) {
    if (effect.kind !== 'send') continue;
    const frames = encodeNfp(effect.command);
    if (effect.command.kind !== 'worker-call') continue;
    const answer = [empty, header.worker, command.response, ...frames.slice(3, 6), accepted, body] as Uint8Array[];
    for (const back of engine.step({ kind: 'message', peer: effect.peer, command: decodeNfpAtBroker(answer) }, 0)) {
      if (back.kind !== 'send') continue;
      encodeNfp(back.command);
      answered++;
    }
  }
  return answered;
}

/**
 * Microseconds for each worker of a POST to the workers of all 100 services: its share of the 202, the forwarded POST, and the forwarded
 * answer, including encoding and decoding. `crowds` brokers of `workers` each take turns, so that costs can be compared with equal memory.
 */
function broadcastMicros(workers: number, crowds: number, rounds: number): number {
  const engines = Array.from({ length: crowds }, () => crowd(workers));
  let answered = 0;
  const startedAt = performance.now();
  for (let round = 0; round < rounds; round++) {
    const uuid = Buffer.from(round.toString(16).padStart(32, '0'));
    for (const engine of engines) answered += broadcast(engine, uuid);
  }
  const elapsed = performance.now() - startedAt;
  if (answered !== rounds * crowds * workers) throw new Error(`${answered} answers`);
  return (1000 * elapsed) / answered;
}

/**
 * Jobs for all workers: the cost per worker does not depend on their number. A hundred workers alone fit into a core's caches, so
 * the limit applies to one broker of 10,000 over a hundred brokers of 100, which take as much memory.
 */
export function measureNfpBroadcasts(report: Report): void {
  const rounds = Array.from({ length: ROUNDS }, () => ({
    alone: broadcastMicros(100, 1, 1000),
    few: broadcastMicros(100, 100, 10),
    many: broadcastMicros(10_000, 1, 10),
  }));
  const measured = median(rounds.map(({ many }) => many));
  report({ what: 'NFP engine with codec, job for 10,000 workers of 100 services', measured, unit: 'us/worker' });
  const growth = median(rounds.map(({ few, many }) => many / few));
  report({ what: 'the same over 100 workers, caches as cold', measured: growth, unit: 'x', limit: { atMost: 1.3 } });
  const cached = median(rounds.map(({ alone, many }) => many / alone));
  report({ what: 'the same over 100 workers that fit into the caches', measured: cached, unit: 'x' });
}
