/** CURVE: who may talk to whom, and what is reported about refused peers. */
import { ROUTER_PEER } from '../port.js';
import type { CurveKeys, PortOptions } from '../port.js';
import { check, equal, failure, PortRig } from './rig.js';
import type { PortSubject, PortPeer } from './rig.js';
import type { Cases } from './suite.js';

/** What the CURVE cases need from an implementation. */
export interface CurveSubject extends PortSubject {
  /** A new pair of X25519 keys. */
  generateKeys(): CurveKeys;
}

/** The sockets of one case, and the keys of a server, a client and a stranger. */
export class CurveRig extends PortRig {
  readonly server: CurveKeys;
  readonly client: CurveKeys;
  readonly stranger: CurveKeys;

  constructor(subject: CurveSubject) {
    super(subject);
    this.server = subject.generateKeys();
    this.client = subject.generateKeys();
    this.stranger = subject.generateKeys();
  }

  serving(authorize?: (publicKey: Uint8Array) => boolean): PortOptions {
    return { curve: { role: 'server', keys: this.server, ...(authorize === undefined ? {} : { authorize }) } };
  }

  calling(keys = this.client, serverKey = this.server.publicKey): PortOptions {
    return { curve: { role: 'client', keys, serverKey } };
  }

  readonly isClient = (publicKey: Uint8Array): boolean => hex(publicKey) === hex(this.client.publicKey);
}

const LARGE = new Uint8Array(3_000_000).fill(7);
/** Number of awaited refusals: the second shows that attempts continue. */
const ATTEMPTS = 2;

/** The cases. */
export const CURVE: Cases<CurveRig> = {
  async 'curve: a client with the right keys talks to the server, whatever the size of the messages'(rig) {
    const router = await rig.router(rig.serving());
    const { dealer, peer } = await rig.met(router, rig.calling());
    router.port.send(peer, [LARGE, new Uint8Array(0), LARGE]);
    await dealer.received(1);

    equal(
      dealer.messages[0]?.frames.map((frame) => [frame.length, frame.at(-1)]),
      [
        [LARGE.length, 7],
        [0, undefined],
        [LARGE.length, 7],
      ],
      'frames',
    );
    equal([router.refused, dealer.refused], [[], []], 'refusals');
  },
  async 'curve: authorize is asked once per connection, for the key of the client'(rig) {
    const asked: string[] = [];
    const router = await rig.router(rig.serving((key) => asked.push(hex(key)) > 0));
    const { dealer, peer } = await rig.met(router, rig.calling());
    router.say(peer, 'one', 'two');
    await dealer.received(2);

    equal(asked, [hex(rig.client.publicKey)], 'keys asked for');
  },
  async 'curve: a client that authorize refuses gets no message through, and both sides are told'(rig) {
    const router = await rig.router(rig.serving(rig.isClient));
    const stranger = await knocking(rig, router, rig.calling(rig.stranger));
    await router.until(() => router.refused.length >= ATTEMPTS);
    await stranger.until(() => stranger.refused.length > 0);
    await rig.met(router, rig.calling());

    equal(router.texts, [], 'messages of the stranger');
    for (const { reason, publicKey } of router.refused)
      equal([reason, hex(publicKey)], ['key', hex(rig.stranger.publicKey)], 'refusal');
  },
  async 'curve: a client that is authorized later comes in on the same socket'(rig) {
    let isOpen = false;
    const router = await rig.router(rig.serving(() => isOpen));
    const dealer = await knocking(rig, router, rig.calling());
    await router.until(() => router.refused.length > 0);
    isOpen = true;
    await rig.repeat(
      () => {
        dealer.say(ROUTER_PEER, 'again');
      },
      () => router.messages.length > 0,
    );

    check(router.refused.length > 0, 'the first attempt was not refused');
  },
  async 'curve: a client whose key is taken off the list is cut, and others are not, where the transport can'(rig) {
    const removed = new Set<string>();
    const listeners = new Set<() => void>();
    const router = await rig.router({
      curve: {
        role: 'server',
        keys: rig.server,
        authorize: (key) => !removed.has(hex(key)),
        onAuthorizeChange: (listener) => {
          listeners.add(listener);
          return () => {
            listeners.delete(listener);
          };
        },
      },
    });
    const { peer } = await rig.met(router, rig.calling());
    const other = await rig.met(router, rig.calling(rig.stranger));
    removed.add(hex(rig.client.publicKey));
    for (const listener of listeners) listener();
    if (router.port.recheck !== undefined)
      await router.until(() => router.gone.some(({ id }) => hex(id) === hex(peer.id)));
    router.port.send(other.peer, [new Uint8Array(1)]);
    await other.dealer.received(1);
    await router.port.close();

    equal(listeners.size, 0, 'listeners of a port that is closed');
  },
  async 'curve: a client that expects another server never connects, and both sides are told'(rig) {
    const asked: string[] = [];
    const router = await rig.router(rig.serving((key) => asked.push(hex(key)) > 0));
    const dealer = await knocking(rig, router, rig.calling(rig.stranger, rig.stranger.publicKey));
    await router.until(() => router.refused.length >= ATTEMPTS);
    await dealer.until(() => dealer.refused.length > 0);
    await rig.met(router, rig.calling());

    equal(router.texts, [], 'messages');
    equal(asked, [hex(rig.client.publicKey)], 'keys asked for');
    for (const { reason } of router.refused) equal(reason, 'handshake', 'reason');
  },
  async 'curve: a client without CURVE never talks to a server with it, which is told'(rig) {
    const router = await rig.router(rig.serving());
    await knocking(rig, router, {});
    await router.until(() => router.refused.length > 0);
    await rig.met(router, rig.calling());

    equal(router.texts, [], 'messages');
    equal(router.refused[0]?.reason, 'handshake', 'reason');
  },
  async 'curve: a client with CURVE never talks to a server without it, and is told'(rig) {
    const router = await rig.router();
    const dealer = await knocking(rig, router, rig.calling());
    await dealer.until(() => dealer.refused.length > 0);
    await rig.met(router);

    equal([router.texts, dealer.texts], [[], []], 'messages');
    equal(dealer.refused[0]?.reason, 'handshake', 'reason');
  },
  async 'curve: two clients do not talk'(rig) {
    const bound = await rig.router(rig.calling());
    await knocking(rig, bound, rig.calling());
    await bound.until(() => bound.refused.length > 0);
    await rig.met(bound, rig.serving());

    equal(bound.texts, [], 'messages');
  },
  async 'curve: a dealer that binds can be the server of a router that connects'(rig) {
    const dealer = await rig.boundDealer(rig.serving(rig.isClient));
    const router = await rig.connectedRouter([dealer], rig.calling());
    dealer.say(ROUTER_PEER, 'hello');
    await router.received(1);
    router.say(router.messages[0]?.peer ?? ROUTER_PEER, 'reply');
    await dealer.received(1);

    equal([router.texts, dealer.texts], [['hello'], ['reply']], 'messages');
  },
  async 'curve: a server may connect, to a client that is bound'(rig) {
    const router = await rig.router(rig.calling());
    const { dealer, peer } = await rig.met(router, rig.serving(rig.isClient));
    router.say(peer, 'reply');
    await dealer.received(1);

    equal(dealer.texts, ['reply'], 'messages');
  },
  async 'curve: sockets of one transport have lists of their own'(rig) {
    const everybody = await rig.router(rig.serving());
    const nobody = await rig.router(rig.serving(() => false));
    await knocking(rig, nobody, rig.calling());
    await nobody.until(() => nobody.refused.length > 0);
    await rig.met(everybody, rig.calling());

    equal([nobody.texts, everybody.refused], [[], []], 'messages at one, refusals at the other');
  },
  async 'curve: clients come back to a server that was restarted with its keys'(rig) {
    const endpoint = await rig.ownEndpoint();
    const first = await rig.router(rig.serving(rig.isClient), endpoint);
    const { dealer } = await rig.met(first, rig.calling());
    await first.port.close();
    const second = await rig.router(rig.serving(rig.isClient), first.endpoint);
    await rig.repeat(
      () => {
        dealer.say(ROUTER_PEER, 'back');
      },
      () => second.messages.length > 0,
    );

    equal(second.texts[0], 'back', 'message');
  },
  async 'curve: nothing is told once close was called'(rig) {
    const router = await rig.router(rig.serving(() => false));
    const dealer = await knocking(rig, router, rig.calling());
    await router.until(() => router.refused.length > 0);
    const told = () => [router.refused.length, dealer.refused.length];
    const closing = [router.port.close(), dealer.port.close()];
    const before = told();
    await Promise.all(closing);

    equal(told(), before, 'refusals');
  },
  async 'curve: keys of another length than 32 bytes are refused when the socket is made'(rig) {
    const short = { ...rig.server, secretKey: rig.server.secretKey.subarray(1) };
    const error = await failure(() => rig.bareRouter({ curve: { role: 'server', keys: short } }));

    equal((error as { code?: unknown }).code, 'OPTIONS_INVALID', 'code');
  },
};

/** A dealer with a message that is not expected to arrive. */
async function knocking(rig: PortRig, router: PortPeer, options: PortOptions): Promise<PortPeer> {
  const dealer = await rig.dealer(router, options);
  dealer.say(ROUTER_PEER, 'let me in');
  return dealer;
}

function hex(key: Uint8Array | undefined): string {
  return Array.from(key ?? [], (byte) => byte.toString(16).padStart(2, '0')).join('');
}
