/** NFP: the ports, and their largest messages. */
import { NfpBrokerEngine, nfpBrokerOptions } from '@proj/broker/nfp';
import { decodeNfpAtBroker, encodeNfp } from '@proj/frames/nfp';
import type { NfpCommand } from '@proj/frames/nfp';
import * as arbitraries from '@proj/testkit/arbitraries';
import { body, JSON_BOMBS, long, stepper, text, uuid } from './port.js';
import type { Port, Step } from './port.js';

function server(): Step {
  const engine = new NfpBrokerEngine(nfpBrokerOptions.parse({}));
  return stepper(
    (peer, frames, now) => engine.step({ kind: 'message', peer, command: decodeNfpAtBroker(frames) }, now),
    (effect) => effect.kind === 'send' && void encodeNfp(effect.command),
  );
}

/** See {@link Port}. */
export const nfp: readonly Port[] = [
  {
    name: 'NFP',
    valid: arbitraries.nfpToBroker.map((command) => encodeNfp(command as NfpCommand)),
    open: server,
    largest: {
      'POST of 64 MiB': text('', 'NFPC01', '0x04', 'all', 'all', uuid, body),
      'POST with a target of 64 KiB': text('', 'NFPC01', '0x04', 'all', `[${long(65_000, '"w",')}"w"]`, uuid, '{}'),
      'RESPONSE with a client of 64 MiB': text('', 'NFPW01', '0x05', body, '', uuid, '200', 'x'),
      ...Object.fromEntries(
        JSON_BOMBS.map((bomb, n) => [
          `task of 64 KiB of JSON, ${n + 1}`,
          text('', 'NFPC01', '0x11', 'mmi.service.broker', 'all', uuid, bomb),
        ]),
      ),
      'OPEN of 64 KiB of JSON': text('', 'NFPW01', '0x01', 'sample', JSON_BOMBS[2] ?? ''),
    },
  },
];
