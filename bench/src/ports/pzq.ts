/** PZQ: the ports, and their largest messages. */
import { decodePzqAtMonitor, decodePzqAtReceive, decodePzqAtSend, encodePzq } from '@proj/frames/pzq';
import { MemoryStore, PzqEngine, pzqServerOptions } from '@proj/pzq';
import type { PzqEvent } from '@proj/pzq/engine';
import * as arbitraries from '@proj/testkit/arbitraries';
import type { Peer } from '@proj/transport';
import { body, entropy, many, stepper, text } from './port.js';
import type { Frames, Port, Step } from './port.js';

function server(port: 'receive' | 'send' | 'monitor'): Step {
  const counts = { messages: 0, bytes: 0, delayed: 0, dead: 0, nextDueMicros: Infinity, storeBytes: 0 };
  const info = { name: 'memory', epoch: 1n, lastSeq: 0, counts, shared: false } as const;
  const settings = { ...pzqServerOptions.parse({ store: new MemoryStore() }), version: '', deadLetterSend: false };
  const engine = new PzqEngine(settings, info, entropy);
  engine.step({ kind: 'start' }, 0);
  const eventOf = (peer: Peer, frames: Frames): PzqEvent => {
    switch (port) {
      case 'receive':
        return { kind: 'produce', peer, command: decodePzqAtReceive(frames), acksWaiting: 0 };
      case 'send':
        return { kind: 'consumer', outlet: 'queue', command: decodePzqAtSend(frames) };
      case 'monitor':
        return { kind: 'monitor', peer, command: decodePzqAtMonitor(frames) };
    }
  };
  return stepper((peer, frames, now) => engine.step(eventOf(peer, frames), now));
}

/** See {@link Port}. */
export const pzq: readonly Port[] = [
  {
    name: 'PZQ receive',
    valid: arbitraries.pzqProduce.map(encodePzq),
    open: () => server('receive'),
    largest: {
      'message of 64 MiB': text('id', '', body),
      'message of 1000 frames': text('id', '', ...many),
      'message with an id of 64 MiB': text(body, '', 'x'),
      'message with 1000 headers': text('id', ...Array.from({ length: 1000 }, (_, n) => `H${n}:${n}`), '', 'x'),
    },
  },
  {
    name: 'PZQ send',
    valid: arbitraries.pzqFromConsumer.map(encodePzq),
    open: () => server('send'),
    largest: { 'acknowledgement with a key of 64 MiB': text(body, '1') },
  },
  {
    name: 'PZQ monitor',
    valid: arbitraries.pzqMonitorRequest.map(encodePzq),
    open: () => server('monitor'),
    largest: { 'question of 64 MiB': text('MONITOR', body) },
  },
];
