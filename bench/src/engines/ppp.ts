/** Paranoid Pirate: a request and its reply. */
import { PppQueueEngine, pppQueueOptions } from '@proj/broker/ppp';
import type { PppQueueEffect } from '@proj/broker/ppp';
import { decodePppAtFrontend, decodePppAtQueue, encodePpp } from '@proj/frames/ppp';
import type { Peer } from '@proj/transport';
import { body, client, clock, sentBy, text, workers } from './round.js';
import type { Round, Sent } from './round.js';

function encode(effect: PppQueueEffect): Sent | undefined {
  return effect.kind === 'send' ? { peer: effect.peer, frames: encodePpp(effect.command) } : undefined;
}

/** See {@link Round}. */
export function ppp(): Round {
  const engine = new PppQueueEngine(pppQueueOptions.parse({}));
  const now = clock();
  const atBackend = (peer: Peer, frames: Uint8Array[]): Sent[] =>
    sentBy(engine.step({ kind: 'message', socket: 'backend', peer, command: decodePppAtQueue(frames) }, now()), encode);
  const atFrontend = (peer: Peer, frames: Uint8Array[]): Sent[] => {
    const command = decodePppAtFrontend(frames);
    return sentBy(engine.step({ kind: 'message', socket: 'frontend', peer, command }, now()), encode);
  };
  for (const worker of workers) atBackend(worker, text('\x01'));
  const request = [...text(''), body];
  return () => {
    let answers = 0;
    for (const { peer, frames } of atFrontend(client, request)) answers += atBackend(peer, frames).length;
    return answers;
  };
}
