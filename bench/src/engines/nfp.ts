/** NFP: a job for any worker, or for all, and the result of each. */
import { NfpBrokerEngine, nfpBrokerOptions } from '@proj/broker/nfp';
import { decodeNfpAtBroker, encodeNfp } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import { body, client, clock, newId, sentBy, text, workers } from './round.js';
import type { Round, Sent } from './round.js';

/** See {@link Round}. */
export function nfp(target: 'any' | 'all'): Round {
  const engine = new NfpBrokerEngine(nfpBrokerOptions.parse({}));
  const now = clock();
  const take = (from: Peer, frames: Uint8Array[]): Sent[] =>
    sentBy(engine.step({ kind: 'message', peer: from, command: decodeNfpAtBroker(frames) }, now()), (effect) =>
      effect.kind === 'send' ? { peer: effect.peer, frames: encodeNfp(effect.command) } : undefined,
    );
  for (const worker of workers) take(worker, text('', 'NFPW01', '0x01', 'echo'));
  const post = text('', 'NFPC01', '0x04', 'echo', target);
  const response = text('', 'NFPW01', '0x05');
  const result = [...text('200'), body];
  return () => {
    let answers = 0;
    for (const { peer, frames } of take(client, [...post, newId(), body]))
      // The client is told first which workers are asked.
      if (peer !== client) answers += take(peer, [...response, ...frames.slice(3, 6), ...result]).length;
    return answers;
  };
}
