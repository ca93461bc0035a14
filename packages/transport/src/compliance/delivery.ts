/** Messages arrive whole, in order and at the right peer. */
import { ROUTER_PEER } from '../port.js';
import type { Peer } from '../port.js';
import { bytesOf, check, equal, failure, framesOf, numbered, sameFrames } from './rig.js';
import type { PortRig, PortPeer } from './rig.js';
import type { Cases } from './suite.js';

const MIB = 2 ** 20;

/** Frame shapes that have failed somewhere: empty ones at each position, all byte values, over the zero-copy threshold. */
function shapes(): readonly (readonly Uint8Array[])[] {
  const allBytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  const large = Uint8Array.from({ length: MIB }, (_, index) => (index * 31 + (index >> 8)) & 0xff);
  return [
    framesOf('one'),
    framesOf('two|frames'),
    framesOf(''),
    framesOf('|'),
    framesOf('|empty first'),
    framesOf('empty last|'),
    framesOf('a||b||c'),
    [allBytes, allBytes.subarray(128), allBytes.subarray(0, 129)],
    [large],
    [bytesOf('x'), large, new Uint8Array(0), large.subarray(1)],
    numbered(500).map(bytesOf),
  ];
}

/** Sends every shape one way and compares. */
async function exchange(from: PortPeer, peer: Peer, to: PortPeer): Promise<void> {
  const sent = shapes();
  for (const frames of sent) from.port.send(peer, frames);
  await to.received(sent.length);
  sent.forEach((frames, index) => {
    check(sameFrames(frames, to.messages[index]?.frames ?? []), `message ${index} arrived changed`);
  });
}

async function burst(rig: PortRig, from: 'router' | 'dealer'): Promise<void> {
  const room = { peerQueueMax: 5_000 };
  const router = await rig.router(room);
  const { dealer, peer } = await rig.met(router, room);
  const texts = numbered(5_000);
  if (from === 'router') router.say(peer, ...texts);
  else dealer.say(ROUTER_PEER, ...texts);
  const to = from === 'router' ? dealer : router;
  await to.received(texts.length);
  equal(to.texts, texts, 'messages');
  equal([router.undeliverable.length, dealer.undeliverable.length], [0, 0], 'undeliverable messages');
}

export const DELIVERY: Cases<PortRig> = {
  async 'carries any frames from a dealer to its router, unchanged'(rig) {
    const router = await rig.router();
    const { dealer } = await rig.met(router);
    await exchange(dealer, ROUTER_PEER, router);
  },
  async 'carries any frames from a router to a dealer, unchanged'(rig) {
    const router = await rig.router();
    const { dealer, peer } = await rig.met(router);
    await exchange(router, peer, dealer);
  },
  async 'keeps the order per peer, in both directions at once'(rig) {
    const router = await rig.router();
    router.onEach = (peer, frames) => {
      router.port.send(peer, frames);
    };
    const dealers = await Promise.all([rig.dealer(router), rig.dealer(router), rig.dealer(router)]);
    const texts = numbered(1_000);
    for (const dealer of dealers) dealer.say(ROUTER_PEER, ...texts);
    await Promise.all(dealers.map((dealer) => dealer.received(texts.length)));
    for (const dealer of dealers) equal(dealer.texts, texts, 'echoes');
  },
  'takes 5,000 messages in one tick from a router': (rig) => burst(rig, 'router'),
  'takes 5,000 messages in one tick from a dealer': (rig) => burst(rig, 'dealer'),
  async 'sends to the peer that is meant'(rig) {
    const router = await rig.router();
    const one = await rig.met(router);
    const two = await rig.met(router);
    check(one.peer.key !== two.peer.key, 'two dealers have one key');
    router.say(two.peer, 'for two');
    router.say(one.peer, 'for one');
    await Promise.all([one.dealer.received(1), two.dealer.received(1)]);
    equal([one.dealer.texts, two.dealer.texts], [['for one'], ['for two']], 'messages');
  },
  async 'names a peer by the bytes of its routing id, whatever they are'(rig) {
    const router = await rig.router();
    for (const id of ['w', '\xff\xfe\x00\x80', 'é\u0000', 'x'.repeat(255)]) {
      const { dealer, peer } = await rig.met(router, { routingId: bytesOf(id) });
      equal([peer.key, [...peer.id]], [id, [...bytesOf(id)]], 'peer');
      // Another value with the same key is the same peer.
      router.say({ key: id, id: bytesOf(id) }, 'back');
      await dealer.received(1);
    }
  },
  async 'gives a dealer ROUTER_PEER for its router'(rig) {
    const router = await rig.router();
    const { dealer, peer } = await rig.met(router);
    router.say(peer, 'x');
    await dealer.received(1);
    equal(dealer.messages[0]?.peer.key, ROUTER_PEER.key, 'key');
  },
  async 'sends what was sent before the connection stood'(rig) {
    const port = await rig.bareRouter();
    const endpoint = await port.bind(await rig.ownEndpoint());
    await port.close();
    const early = await rig.bareDealer();
    early.connect(endpoint);
    const dealer = rig.listen(early);
    dealer.say(ROUTER_PEER, 'early', 'bird');
    const again = await rig.bareRouter();
    await again.bind(endpoint);
    const router = rig.listen(again);
    await router.received(2);
    equal(router.texts, ['early', 'bird'], 'messages');
  },
  async 'reports a message to an unknown peer as unreachable, with its frames, and goes on'(rig) {
    const router = await rig.router();
    const { dealer, peer } = await rig.met(router);
    const lost = framesOf('lost|message');
    router.port.send({ key: 'nobody', id: bytesOf('nobody') }, lost);
    router.say(peer, 'kept');
    await router.until(() => router.undeliverable.length > 0);
    await dealer.received(1);
    const [report] = router.undeliverable;
    equal(report?.reason, 'unreachable', 'reason');
    check(sameFrames(report?.frames ?? [], lost), 'the report has other frames');
  },
  async 'throws for anything but Uint8Arrays, and sends none of it'(rig) {
    const router = await rig.router();
    const { dealer, peer } = await rig.met(router);
    for (const frames of [[], ['text'], [undefined], [null], [7], [{}], [bytesOf('good'), 'bad']]) {
      const error = await failure(() => {
        router.port.send(peer, frames as Uint8Array[]);
      });
      check(error instanceof TypeError, `${JSON.stringify(frames)} threw ${String(error)}`);
    }
    router.say(peer, 'end');
    await dealer.received(1);
    equal(dealer.texts, ['end'], 'messages');
  },
};
