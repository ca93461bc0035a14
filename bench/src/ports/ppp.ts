/** Paranoid Pirate: the ports, and their largest messages. */
import { PppQueueEngine, pppQueueOptions } from '@proj/broker/ppp';
import type { PppQueueEvent } from '@proj/broker/ppp';
import { decodePppAtFrontend, decodePppAtQueue, encodePpp } from '@proj/frames/ppp';
import * as arbitraries from '@proj/testkit/arbitraries';
import type { Peer } from '@proj/transport';
import { body, many, stepper, text } from './port.js';
import type { Frames, Port, Step } from './port.js';

function server(socket: 'frontend' | 'backend'): Step {
  const engine = new PppQueueEngine(pppQueueOptions.parse({}));
  const eventOf = (peer: Peer, frames: Frames): PppQueueEvent =>
    socket === 'backend'
      ? { kind: 'message', socket, peer, command: decodePppAtQueue(frames) }
      : { kind: 'message', socket, peer, command: decodePppAtFrontend(frames) };
  return stepper(
    (peer, frames, now) => engine.step(eventOf(peer, frames), now),
    (effect) => effect.kind === 'send' && void encodePpp(effect.command),
  );
}

/** See {@link Port}. */
export const ppp: readonly Port[] = [
  {
    name: 'PPP frontend',
    valid: arbitraries.pppClientRequest.map(encodePpp),
    open: () => server('frontend'),
    largest: {
      'request of 64 MiB': text('', body),
      'request of 1000 frames': text('', ...many),
      'request with 1000 addresses': text(...Array.from({ length: 1000 }, () => 'hop'), '', 'x'),
    },
  },
  {
    name: 'PPP backend',
    valid: arbitraries.pppToQueue.map(encodePpp),
    open: () => server('backend'),
    largest: { 'reply of 64 MiB': text('client', '', body), 'reply of 1000 frames': text('client', '', ...many) },
  },
];
