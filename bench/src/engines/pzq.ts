/** PZQ: messages that are stored, delivered and removed. The store answers at once and keeps nothing. */
import { decodePzqAtReceive, decodePzqAtSend, encodePzq } from '@proj/frames/pzq';
import { MemoryStore, PzqEngine, pzqServerOptions } from '@proj/pzq';
import type { PzqEffect, PzqEvent } from '@proj/pzq/engine';
import type { Peer } from '@proj/transport';
import { body, client, clock, entropy, newId, text, workers } from './round.js';
import type { Round } from './round.js';

/** Messages of a producer that wait for one commit. */
const BURST = 16;

/** See {@link Round}. */
export function pzq(): Round {
  const settings = { ...pzqServerOptions.parse({ store: new MemoryStore() }), version: '', deadLetterSend: false };
  const counts = { messages: 0, bytes: 0, delayed: 0, dead: 0, nextDueMicros: Infinity, storeBytes: 0 };
  const engine = new PzqEngine(settings, { name: 'memory', epoch: 1n, lastSeq: 0, counts, shared: false }, entropy);
  const now = clock();
  const asked: PzqEffect[] = [];
  const step = (event: PzqEvent): void => {
    for (const effect of engine.step(event, now())) asked.push(effect);
  };
  let seq = 0;
  let stored = 0;
  const commit = ({ batch: { puts, removes } }: PzqEffect & { readonly kind: 'commit' }): PzqEvent => {
    stored += puts.length - removes.length;
    const sizes = { ...counts, messages: stored, bytes: stored * body.length };
    return {
      kind: 'committed',
      result: { seqs: puts.map(() => ++seq), removed: removes.map(() => true), counts: sizes },
    };
  };
  step({ kind: 'start' });
  for (const peer of workers) step({ kind: 'consumer-came', outlet: 'queue', peer });
  const [empty, yes] = text('', '1') as [Uint8Array, Uint8Array];
  let turn = 0;
  return () => {
    for (let sent = 0; sent < BURST; sent++)
      step({ kind: 'produce', peer: client, command: decodePzqAtReceive([newId(), empty, body]), acksWaiting: 0 });
    let answers = 0;
    for (let effect = asked.shift(); effect !== undefined; effect = asked.shift()) {
      if (effect.kind === 'send-ack') encodePzq(effect.command);
      if (effect.kind === 'commit') step(commit(effect));
      if (effect.kind !== 'deliver') continue;
      const peer = workers[turn++ % workers.length] as Peer;
      const [key] = encodePzq(effect.command) as [Uint8Array];
      step({ kind: 'delivered', outlet: 'queue', peer });
      step({ kind: 'consumer', outlet: 'queue', peer, command: decodePzqAtSend([key, yes]) });
      answers++;
    }
    return answers;
  };
}
