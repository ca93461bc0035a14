/** CURVE: who may talk to whom, and what is reported about refused peers. */
import { ROUTER_PEER } from '../port.js';
import type { CurveKeys, PortOptions } from '../port.js';
import { check, equal, failure } from './rig.js';
import type { PortSubject, PortRig, PortPeer } from './rig.js';
import { bindCase } from './suite.js';
import type { ComplianceCase } from './suite.js';

/** What the CURVE cases need from an implementation. */
export interface CurveSubject extends PortSubject {
  /** A new pair of X25519 keys. */
  generateKeys(): CurveKeys;
}

/** A case with the keys of a server, a client and a stranger. */
interface CurveCase {
  readonly name: string;
  readonly run: (rig: PortRig, keys: Keys) => Promise<void>;
}

/** Options of the sockets of one case. */
class Keys {
  readonly server: CurveKeys;
  readonly client: CurveKeys;
  readonly stranger: CurveKeys;

  constructor(subject: CurveSubject) {
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
export const CURVE: readonly CurveCase[] = [
  {
    name: 'curve: a client with the right keys talks to the server, whatever the size of the messages',
    run: async (rig, keys) => {
      const router = await rig.router(keys.serving());
      const { dealer, peer } = await rig.met(router, keys.calling());
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
  },
  {
    name: 'curve: authorize is asked once per connection, for the key of the client',
    run: async (rig, keys) => {
      const asked: string[] = [];
      const router = await rig.router(keys.serving((key) => asked.push(hex(key)) > 0));
      const { dealer, peer } = await rig.met(router, keys.calling());
      router.say(peer, 'one', 'two');
      await dealer.received(2);

      equal(asked, [hex(keys.client.publicKey)], 'keys asked for');
    },
  },
  {
    name: 'curve: a client that authorize refuses gets no message through, and both sides are told',
    run: async (rig, keys) => {
      const router = await rig.router(keys.serving(keys.isClient));
      const stranger = await knocking(rig, router, keys.calling(keys.stranger));
      await router.until(() => router.refused.length >= ATTEMPTS);
      await stranger.until(() => stranger.refused.length > 0);
      await rig.met(router, keys.calling());

      equal(router.texts, [], 'messages of the stranger');
      for (const { reason, publicKey } of router.refused)
        equal([reason, hex(publicKey)], ['key', hex(keys.stranger.publicKey)], 'refusal');
    },
  },
  {
    name: 'curve: a client that is authorized later comes in on the same socket',
    run: async (rig, keys) => {
      let isOpen = false;
      const router = await rig.router(keys.serving(() => isOpen));
      const dealer = await knocking(rig, router, keys.calling());
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
  },
  {
    name: 'curve: a client whose key is taken off the list is cut, and others are not, where the transport can',
    run: async (rig, keys) => {
      const removed = new Set<string>();
      const listeners = new Set<() => void>();
      const router = await rig.router({
        curve: {
          role: 'server',
          keys: keys.server,
          authorize: (key) => !removed.has(hex(key)),
          onAuthorizeChange: (listener) => {
            listeners.add(listener);
            return () => {
              listeners.delete(listener);
            };
          },
        },
      });
      const { peer } = await rig.met(router, keys.calling());
      const other = await rig.met(router, keys.calling(keys.stranger));
      removed.add(hex(keys.client.publicKey));
      for (const listener of listeners) listener();
      if (router.port.recheck !== undefined)
        await router.until(() => router.gone.some(({ id }) => hex(id) === hex(peer.id)));
      router.port.send(other.peer, [new Uint8Array(1)]);
      await other.dealer.received(1);
      await router.port.close();

      equal(listeners.size, 0, 'listeners of a port that is closed');
    },
  },
  {
    name: 'curve: a client that expects another server never connects, and both sides are told',
    run: async (rig, keys) => {
      const asked: string[] = [];
      const router = await rig.router(keys.serving((key) => asked.push(hex(key)) > 0));
      const dealer = await knocking(rig, router, keys.calling(keys.stranger, keys.stranger.publicKey));
      await router.until(() => router.refused.length >= ATTEMPTS);
      await dealer.until(() => dealer.refused.length > 0);
      await rig.met(router, keys.calling());

      equal(router.texts, [], 'messages');
      equal(asked, [hex(keys.client.publicKey)], 'keys asked for');
      for (const { reason } of router.refused) equal(reason, 'handshake', 'reason');
    },
  },
  {
    name: 'curve: a client without CURVE never talks to a server with it, which is told',
    run: async (rig, keys) => {
      const router = await rig.router(keys.serving());
      await knocking(rig, router, {});
      await router.until(() => router.refused.length > 0);
      await rig.met(router, keys.calling());

      equal(router.texts, [], 'messages');
      equal(router.refused[0]?.reason, 'handshake', 'reason');
    },
  },
  {
    name: 'curve: a client with CURVE never talks to a server without it, and is told',
    run: async (rig, keys) => {
      const router = await rig.router();
      const dealer = await knocking(rig, router, keys.calling());
      await dealer.until(() => dealer.refused.length > 0);
      await rig.met(router);

      equal([router.texts, dealer.texts], [[], []], 'messages');
      equal(dealer.refused[0]?.reason, 'handshake', 'reason');
    },
  },
  {
    name: 'curve: two clients do not talk',
    run: async (rig, keys) => {
      const bound = await rig.router(keys.calling());
      await knocking(rig, bound, keys.calling());
      await bound.until(() => bound.refused.length > 0);
      await rig.met(bound, keys.serving());

      equal(bound.texts, [], 'messages');
    },
  },
  {
    name: 'curve: a dealer that binds can be the server of a router that connects',
    run: async (rig, keys) => {
      const dealer = await rig.boundDealer(keys.serving(keys.isClient));
      const router = await rig.connectedRouter([dealer], keys.calling());
      dealer.say(ROUTER_PEER, 'hello');
      await router.received(1);
      router.say(router.messages[0]?.peer ?? ROUTER_PEER, 'reply');
      await dealer.received(1);

      equal([router.texts, dealer.texts], [['hello'], ['reply']], 'messages');
    },
  },
  {
    name: 'curve: a server may connect, to a client that is bound',
    run: async (rig, keys) => {
      const router = await rig.router(keys.calling());
      const { dealer, peer } = await rig.met(router, keys.serving(keys.isClient));
      router.say(peer, 'reply');
      await dealer.received(1);

      equal(dealer.texts, ['reply'], 'messages');
    },
  },
  {
    name: 'curve: sockets of one transport have lists of their own',
    run: async (rig, keys) => {
      const everybody = await rig.router(keys.serving());
      const nobody = await rig.router(keys.serving(() => false));
      await knocking(rig, nobody, keys.calling());
      await nobody.until(() => nobody.refused.length > 0);
      await rig.met(everybody, keys.calling());

      equal([nobody.texts, everybody.refused], [[], []], 'messages at one, refusals at the other');
    },
  },
  {
    name: 'curve: clients come back to a server that was restarted with its keys',
    run: async (rig, keys) => {
      const endpoint = await rig.ownEndpoint();
      const first = await rig.router(keys.serving(keys.isClient), endpoint);
      const { dealer } = await rig.met(first, keys.calling());
      await first.port.close();
      const second = await rig.router(keys.serving(keys.isClient), first.endpoint);
      await rig.repeat(
        () => {
          dealer.say(ROUTER_PEER, 'back');
        },
        () => second.messages.length > 0,
      );

      equal(second.texts[0], 'back', 'message');
    },
  },
  {
    name: 'curve: nothing is told once close was called',
    run: async (rig, keys) => {
      const router = await rig.router(keys.serving(() => false));
      const dealer = await knocking(rig, router, keys.calling());
      await router.until(() => router.refused.length > 0);
      const told = () => [router.refused.length, dealer.refused.length];
      const closing = [router.port.close(), dealer.port.close()];
      const before = told();
      await Promise.all(closing);

      equal(told(), before, 'refusals');
    },
  },
  {
    name: 'curve: keys of another length than 32 bytes are refused when the socket is made',
    run: async (rig, keys) => {
      const short = { ...keys.server, secretKey: keys.server.secretKey.subarray(1) };
      const error = await failure(() => rig.bareRouter({ curve: { role: 'server', keys: short } }));

      equal((error as { code?: unknown }).code, 'OPTIONS_INVALID', 'code');
    },
  },
];

/** Binds a case to a subject, with its own keys. */
export function bindCurveCase({ name, run }: CurveCase, subject: CurveSubject): ComplianceCase {
  return bindCase({ name, run: (rig) => run(rig, new Keys(subject)) }, subject);
}

/** A dealer with a message that is not expected to arrive. */
async function knocking(rig: PortRig, router: PortPeer, options: PortOptions): Promise<PortPeer> {
  const dealer = await rig.dealer(router, options);
  dealer.say(ROUTER_PEER, 'let me in');
  return dealer;
}

function hex(key: Uint8Array | undefined): string {
  return Array.from(key ?? [], (byte) => byte.toString(16).padStart(2, '0')).join('');
}
