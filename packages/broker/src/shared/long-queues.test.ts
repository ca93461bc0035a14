/** What a client leaves behind that did not read: few reports, and every message counted. */
import { fromLatin1 } from '@proj/frames';
import type { PortListener, PortOptions, Transport } from '@proj/transport';
import { settle, VirtualNetwork } from '@proj/transport/virtual';
import { expect, it } from 'vitest';
import { MdpBroker } from '../mdp/index.js';
import { NfpBroker } from '../nfp/index.js';
import { PppQueue } from '../ppp/index.js';
import { peerNamed } from '../../test/keyed.js';

const ENDPOINT = 'tcp://sim:1';

/** Remembers the options and the listener of each router. */
function watched(network: VirtualNetwork) {
  const routers: { readonly options: PortOptions | undefined; readonly listener: PortListener }[] = [];
  const transport: Transport = network.transport('broker');
  const open = transport.router.bind(transport);
  transport.router = (options) => {
    const port = open(options);
    const start = port.start.bind(port);
    port.start = (listener) => {
      routers.push({ options, listener });
      start(listener);
    };
    return port;
  };
  return { transport, routers };
}

it.each([
  [
    'MDP',
    (transport: Transport) => new MdpBroker({ transport, endpoint: ENDPOINT }),
    'reply-undeliverable',
    ['MDPC02', '\x03', 'echo', 'x'],
  ],
  [
    'NFP',
    (transport: Transport) => new NfpBroker({ transport, endpoint: ENDPOINT }),
    'unroutable',
    ['', 'NFPB01', '0x05', 'echo', 'u1', '200', '{}'],
  ],
  [
    'PPP',
    (transport: Transport) => new PppQueue({ transport, frontend: ENDPOINT, backend: 'tcp://sim:2' }),
    'reply-undeliverable',
    ['', 'x'],
  ],
])('%s: is counted by the last of a thousand reports', async (_, make, reason, frames) => {
  const network = new VirtualNetwork();
  const { transport, routers } = watched(network);
  const broker = make(transport);
  await settle<unknown>(network.clock, broker.start());
  const [front] = routers;
  front?.listener.onUndeliverable(peerNamed('c1'), frames.map(fromLatin1), 'congested', 0);
  front?.listener.onUndeliverable(peerNamed('c1'), frames.map(fromLatin1), 'unreachable', 7);
  expect(front?.options?.peerReportsMax).toBe(1000);
  expect(broker.stats().counters.dropped).toMatchObject({ [reason]: 9 });
  await settle(network.clock, broker.close());
});
