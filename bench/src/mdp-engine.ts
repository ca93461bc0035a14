/** The Majordomo engine alone, with encode and decode and without sockets: what the protocol itself costs. */
import { MdpBrokerEngine, mdpBrokerOptions } from '@proj/broker';
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import type { Peer } from '@proj/transport';

/** A peer with a routing id of the automatic form: a zero byte and four more. */
function peer(number: number): Peer {
  const id = Buffer.from([0, 1 + (number >>> 24), number >>> 16, number >>> 8, number]);
  return { key: id.toString('latin1'), id };
}

/**
 * Request-reply round trips per second of one core: client frames decoded, stepped, worker frames encoded, worker's answer
 * decoded, stepped, client frames encoded. `workers` are registered, one request is under way at a time, `queued` more wait
 * for a service without workers.
 */
export function mdpEngineRate(workers: number, queued: number, requests: number): number {
  const engine = new MdpBrokerEngine(
    mdpBrokerOptions.parse({ requestQueueMax: 2_000_000, clientRequestsMax: 2_000_000, requestQueueMaxBytes: 2 ** 40 }),
  );
  const client = peer(0);
  const peers = new Map<string, Peer>();
  let now = 0;
  const service = Buffer.from('echo');
  for (let n = 1; n <= workers; n++) {
    const worker = peer(n);
    peers.set(worker.key, worker);
    engine.step(
      { kind: 'message', peer: worker, command: { kind: 'worker-ready', version: '0.2', service: 'echo' } },
      now,
    );
  }
  const header = { client: Buffer.from('MDPC02'), worker: Buffer.from('MDPW02') };
  const request = [header.client, Buffer.from([1]), service, Buffer.alloc(64, 7)];
  for (let n = 0; n < queued; n++) {
    engine.step(
      {
        kind: 'message',
        peer: client,
        command: { kind: 'client-request', version: '0.2', service: 'absent', body: [service] },
      },
      now,
    );
  }
  const final = Buffer.from([4]);
  const startedAt = performance.now();
  for (let n = 0; n < requests; n++) {
    now += 0.001;
    for (const effect of engine.step({ kind: 'message', peer: client, command: decodeMdpAtBroker(request) }, now)) {
      if (effect.kind !== 'send') continue;
      const frames = encodeMdp(effect.command);
      const reply = [header.worker, final, ...frames.slice(2)];
      const answers = engine.step({ kind: 'message', peer: effect.peer, command: decodeMdpAtBroker(reply) }, now);
      for (const answer of answers) if (answer.kind === 'send') encodeMdp(answer.command);
    }
  }
  return requests / ((performance.now() - startedAt) / 1000);
}
