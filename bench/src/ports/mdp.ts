/** Majordomo: the ports, and their largest messages. */
import { MdpBrokerEngine, mdpBrokerOptions } from '@proj/broker/mdp';
import { decodeMdpAtBroker, encodeMdp } from '@proj/frames/mdp';
import * as arbitraries from '@proj/testkit/arbitraries';
import { body, long, many, stepper, text } from './port.js';
import type { Port, Step } from './port.js';

function server(): Step {
  const engine = new MdpBrokerEngine(mdpBrokerOptions.parse({}));
  return stepper(
    (peer, frames, now) => engine.step({ kind: 'message', peer, command: decodeMdpAtBroker(frames) }, now),
    (effect) => effect.kind === 'send' && void encodeMdp(effect.command),
  );
}

/** See {@link Port}. */
export const mdp: readonly Port[] = [
  {
    name: 'MDP',
    valid: arbitraries.mdpToBroker.map(encodeMdp),
    open: server,
    largest: {
      'request of 64 MiB': text('MDPC02', '\x01', 'echo', body),
      'request of 1000 frames': text('MDPC02', '\x01', 'echo', ...many),
      'READY with a name of 64 KiB': text('MDPW02', '\x01', long(65_536, 'x')),
      'mmi.service with a name of 64 MiB': text('MDPC02', '\x01', 'mmi.service', body),
    },
  },
];
