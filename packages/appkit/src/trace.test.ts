/** One line for each message, in the words of its protocol, and none if nobody reads it. */
import { fromLatin1 } from '@proj/frames';
import { encodeMdp } from '@proj/frames/mdp';
import { encodePpp } from '@proj/frames/ppp';
import { ROUTER_PEER } from '@proj/transport';
import type { PortListener } from '@proj/transport';
import { settle, VirtualNetwork } from '@proj/transport/virtual';
import { describe, expect, it } from 'vitest';
import type { ProtocolName } from './decoders.js';
import type { Logger } from './logging.js';
import { traced } from './trace.js';

const ENDPOINT = 'tcp://sim:1';

function logAt(level: string): { readonly log: Logger; readonly lines: unknown[] } {
  const lines: unknown[] = [];
  const trace = (fields: object, message: string) => void lines.push([message, fields]);
  return { log: { trace, isLevelEnabled: (asked: string) => asked === level } as unknown as Logger, lines };
}

const LISTENER: PortListener = {
  onMessage: () => undefined,
  onPeerGone: () => undefined,
  onUndeliverable: () => undefined,
  onRejected: () => undefined,
  onBroken: () => undefined,
};

/** What the log says about one message from a dealer to a broker's router, and about the answer. */
async function lines(protocol: ProtocolName, message: readonly Uint8Array[], answer: readonly Uint8Array[]) {
  const network = new VirtualNetwork({ seed: 1 });
  const { log, lines } = logAt('trace');
  const transport = traced(network.transport('sim'), log, protocol);
  const router = transport.router();
  const dealer = network.transport('peer').dealer({ routingId: fromLatin1('w1') });
  await settle(network.clock, router.bind(ENDPOINT));
  dealer.connect(ENDPOINT);
  const answered = new Promise<void>((resolve) => {
    router.start({
      ...LISTENER,
      onMessage: (peer) => {
        router.send(peer, answer);
      },
    });
    dealer.start({
      ...LISTENER,
      onMessage: () => {
        resolve();
      },
    });
  });
  dealer.send(ROUTER_PEER, message);
  await settle(network.clock, answered);
  await settle(network.clock, Promise.all([router.close(), dealer.close()]));
  return lines;
}

const body = [fromLatin1('hello')];
const client = fromLatin1('c1');
const peer = '7731';

describe('traced', () => {
  it('MDP: the client identifies a request', async () => {
    const final = encodeMdp({ kind: 'worker-final', version: '0.2', client, body });
    const request = encodeMdp({ kind: 'worker-request', version: '0.1', client, body });
    expect(await lines('mdp', final, request)).toEqual([
      ['in', { command: 'worker-final', id: '6331', peer, bytes: 14 }],
      ['out', { command: 'worker-request', id: '6331', peer, bytes: 14 }],
    ]);
    const asked = encodeMdp({ kind: 'client-request', version: '0.2', service: 'echo', body });
    const told = encodeMdp({ kind: 'client-final', version: '0.2', service: 'echo', body });
    expect(await lines('mdp', asked, told)).toEqual([
      ['in', { command: 'client-request', id: peer, peer, service: 'echo', bytes: 16 }],
      ['out', { command: 'client-final', id: peer, peer, service: 'echo', bytes: 16 }],
    ]);
  });

  it('PPP: the first socket is the frontend', async () => {
    const asked = encodePpp({ kind: 'client-request', hops: [], content: body });
    expect(await lines('ppp', asked, encodePpp({ kind: 'client-reply', hops: [], content: body }))).toEqual([
      ['in', { command: 'client-request', id: peer, peer, bytes: 5 }],
      ['out', { command: 'client-reply', id: peer, peer, bytes: 5 }],
    ]);
  });

  it('an invalid message is logged with its reason and size', async () => {
    const [received] = await lines('mdp', body, body);
    expect(received).toEqual(['in', { command: 'malformed', reason: 'unknown-header', peer, bytes: 5 }]);
  });

  it('starts and ends with the log level, which may change', async () => {
    const network = new VirtualNetwork({ seed: 1 });
    let level = 'debug';
    const { log, lines } = logAt('trace');
    const changing = { ...log, isLevelEnabled: (asked: string) => asked === level } as unknown as Logger;
    const router = traced(network.transport('sim'), changing, 'mdp').router();
    const dealer = network.transport('peer').dealer({ routingId: fromLatin1('w1') });
    await settle(network.clock, router.bind(ENDPOINT));
    dealer.connect(ENDPOINT);
    let came: () => void = () => undefined;
    router.start({
      ...LISTENER,
      onMessage: () => {
        came();
      },
    });
    dealer.start(LISTENER);
    for (level of ['debug', 'trace', 'info']) {
      const arrived = new Promise<void>((resolve) => (came = resolve));
      dealer.send(ROUTER_PEER, encodeMdp({ kind: 'heartbeat', version: '0.2' }));
      await settle(network.clock, arrived);
    }
    expect(lines).toEqual([['in', expect.objectContaining({ command: 'heartbeat' })]]);
    await settle(network.clock, Promise.all([router.close(), dealer.close()]));
  });
});
