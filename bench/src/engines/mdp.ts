/** Majordomo: a request and its final reply. */
import { MdpBrokerEngine, mdpBrokerOptions } from '@proj/broker/mdp';
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import type { Peer } from '@proj/transport';
import { body, client, clock, sentBy, text, workers } from './round.js';
import type { Round, Sent } from './round.js';

/** See {@link Round}. */
export function mdp(): Round {
  const engine = new MdpBrokerEngine(mdpBrokerOptions.parse({}));
  const now = clock();
  const take = (from: Peer, frames: Uint8Array[]): Sent[] =>
    sentBy(engine.step({ kind: 'message', peer: from, command: decodeMdpAtBroker(frames) }, now()), (effect) =>
      effect.kind === 'send' ? { peer: effect.peer, frames: encodeMdp(effect.command) } : undefined,
    );
  for (const worker of workers) take(worker, text('MDPW02', '\x01', 'echo'));
  const request = [...text('MDPC02', '\x01', 'echo'), body];
  const final = text('MDPW02', '\x04');
  return () => {
    let answers = 0;
    for (const { peer, frames } of take(client, request)) answers += take(peer, [...final, ...frames.slice(2)]).length;
    return answers;
  };
}
