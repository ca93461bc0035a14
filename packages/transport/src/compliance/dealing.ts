/** Dealers that bind, routers that connect, and the outcome of each message: what a queue that pushes work needs. */
import { ROUTER_PEER } from '../port.js';
import { bytesOf, check, equal, framesOf, numbered, textOf } from './rig.js';
import type { PortRig, PortPeer } from './rig.js';
import type { Cases } from './suite.js';

/** More than the kernel's buffers hold, so that a peer that does not read stays full. */
const MESSAGES = 400;
const BODY = new Uint8Array(100_000);
/** One at a time, taken or refused: nothing waits in the port. */
const ONE_AT_A_TIME = { highWaterMark: 1, peerQueueMax: 0 };
const SMALL_MARK = { highWaterMark: 10 };
/** Longer than any test takes. */
const FOR_EVER = 3_600_000;

const heads = (station: PortPeer): string[] => station.messages.map(({ frames }) => textOf(frames.slice(0, 1)));

/** Sends numbered messages until a peer is connected, has taken some and has no room for the next; returns how many it took. */
async function fill(dealer: PortPeer): Promise<number> {
  for (let taken = 0; ;) {
    const outcome = await dealer.offer([bytesOf(taken.toString()), BODY]);
    if (outcome === 'sent') taken++;
    else if (taken > 0) return taken;
  }
}

/** A bound dealer, and routers known to be connected to it. */
async function acquainted(
  rig: PortRig,
  routers: number,
  endpoint?: string,
): Promise<{ dealer: PortPeer; routers: PortPeer[] }> {
  const dealer = await rig.boundDealer({}, endpoint);
  const connected = await Promise.all(Array.from({ length: routers }, () => rig.connectedRouter([dealer])));
  await rig.repeat(
    () => {
      dealer.say(ROUTER_PEER, 'hello');
    },
    () => connected.every(({ messages }) => messages.length > 0),
  );
  return { dealer, routers: connected };
}

const DEALERS: Cases<PortRig> = {
  async 'hands the messages of a bound dealer out in turn'(rig) {
    const { dealer, routers } = await acquainted(rig, 3);
    dealer.say(ROUTER_PEER, ...numbered(30, '#'));
    const shares = routers.map((router) => () => router.texts.filter((text) => text.startsWith('#')));
    await Promise.all(routers.map((router, index) => router.until(() => shares[index]?.().length === 10)));
    const numbers = shares.map((share) => share().map((text) => Number(text.slice(1))));
    for (const share of numbers) check(inStepsOf(3, share), `not every third message in order: ${share.join()}`);
    equal(new Set(numbers.flat()).size, 30, 'messages in all');
  },
  async 'lets a bound dealer hear everybody who connects'(rig) {
    const { dealer, routers } = await acquainted(rig, 3);
    routers.forEach((router, index) => {
      const peer = router.messages[0]?.peer;
      check(peer !== undefined, 'nothing was received');
      router.say(peer, ...numbered(20, `${index}:`));
    });
    await dealer.received(60);
    const from = (index: number) => dealer.texts.filter((text) => text.startsWith(`${index}:`));
    for (const index of [0, 1, 2]) equal(from(index), numbered(20, `${index}:`), 'messages of one router');
    check(
      dealer.messages.every(({ peer }) => peer.key === ROUTER_PEER.key),
      'a dealer tells its peers apart',
    );
  },
  async 'refuses what a bound dealer sends while nobody is connected, once the wait is over'(rig) {
    const dealer = await rig.boundDealer({ ...ONE_AT_A_TIME, sendWaitMs: 20 });
    equal(await dealer.offer(framesOf('a|b')), 'congested', 'outcome');
    equal(
      dealer.undeliverable.map(({ frames }) => textOf(frames)),
      ['a|b'],
      'reported',
    );
    equal([dealer.port.pending, dealer.sent.length], [0, 0], 'left over');
  },
  async 'lets an attempt of a dealer wait for the first connection'(rig) {
    const dealer = await rig.boundDealer({ ...ONE_AT_A_TIME, sendWaitMs: FOR_EVER });
    dealer.say(ROUTER_PEER, 'early');
    equal([dealer.port.pending, dealer.sent.length], [1, 0], 'before anybody connects');
    const router = await rig.connectedRouter([dealer]);
    await router.received(1);
    await dealer.until(() => dealer.sent.length === 1);
    equal([router.texts, dealer.undeliverable.length, dealer.port.pending], [['early'], 0, 0], 'outcome');
  },
  async 'delivers each message of a bound dealer that was taken over, and none that was refused'(rig) {
    const dealer = await rig.boundDealer({ ...ONE_AT_A_TIME, sendWaitMs: 500 });
    const port = await rig.bareRouter(SMALL_MARK);
    port.connect(dealer.endpoint);
    const taken = await fill(dealer);
    const router = rig.listen(port);
    await router.received(taken);
    dealer.say(ROUTER_PEER, 'end');
    await router.received(taken + 1);
    equal(heads(router), [...numbered(taken), 'end'], 'messages');
  },
  async 'keeps messages away from a paused router, which has them all, in order, once it is resumed'(rig) {
    const dealer = await rig.boundDealer({ ...ONE_AT_A_TIME, sendWaitMs: 500 });
    const port = await rig.bareRouter(SMALL_MARK);
    port.connect(dealer.endpoint);
    const router = rig.listen(port);
    port.pause();
    port.pause();
    const taken = await fill(dealer);
    check(router.messages.length <= 1, `${router.messages.length} messages came through the pause`);
    port.resume();
    port.resume();
    await router.received(taken);
    equal(heads(router), numbered(taken), 'messages');
  },
  async 'closes a paused port'(rig) {
    const { dealer, routers } = await acquainted(rig, 1);
    const port = routers[0]?.port;
    port?.pause();
    dealer.say(ROUTER_PEER, 'unread');
    await port?.close();
    port?.resume();
  },
  async 'passes over a router that does not read while another does'(rig) {
    const dealer = await rig.boundDealer({ ...ONE_AT_A_TIME, sendWaitMs: 500 });
    const port = await rig.bareRouter(SMALL_MARK);
    port.connect(dealer.endpoint);
    const taken = await fill(dealer);
    const quick = await rig.connectedRouter([dealer]);
    // More than the slow one has room for. A message that nobody takes in time is refused, and sent again as the next one.
    const enough = dealer.sent.length + MESSAGES;
    while (dealer.sent.length < enough) await dealer.offer([bytesOf('more'), BODY]);
    const slow = rig.listen(port);
    await rig.repeat(
      () => undefined,
      () => slow.messages.length + quick.messages.length === enough,
    );
    check(slow.messages.length >= taken, 'what was taken over for the slow one is lost');
    check(quick.messages.length > 0, 'the quick one got nothing');
  },
};

const ROUTERS: Cases<PortRig> = {
  async 'names each dealer a router connects to by 0x00 and four bytes, and answers the one that is meant'(rig) {
    const dealers = [await rig.boundDealer(), await rig.boundDealer()];
    const router = await rig.connectedRouter(dealers);
    dealers.forEach((dealer, index) => {
      dealer.say(ROUTER_PEER, index.toString());
    });
    await router.received(2);
    for (const { peer, frames } of router.messages) {
      equal([peer.id.length, peer.id[0]], [5, 0], 'routing id');
      router.say(peer, `to ${textOf(frames)}`);
    }
    await Promise.all(dealers.map((dealer) => dealer.received(1)));
    equal(
      dealers.map(({ texts }) => texts),
      [['to 0'], ['to 1']],
      'answers',
    );
  },
  async 'reports a message of a connecting router to a name that nobody has as unreachable'(rig) {
    const dealer = await rig.boundDealer();
    const router = await rig.connectedRouter([dealer]);
    router.say({ key: '\0abcd', id: bytesOf('\0abcd') }, 'x');
    await router.until(() => router.undeliverable.length > 0);
    equal(router.undeliverable[0]?.reason, 'unreachable', 'reason');
  },
  async 'connects a router again when its dealer comes back, under the name it had'(rig) {
    const { dealer, routers } = await acquainted(rig, 1, await rig.ownEndpoint());
    const [router] = routers;
    const peer = router?.messages[0]?.peer;
    check(router !== undefined && peer !== undefined, 'nothing was received');
    await dealer.port.close();
    const successor = await rig.boundDealer({}, dealer.endpoint);
    // Messages already written to the ending connection are lost with it; later ones wait for the next.
    await rig.repeat(
      () => {
        router.say(peer, 'still there?');
      },
      () => successor.messages.length > 0,
    );
    const before = router.messages.length;
    successor.say(ROUTER_PEER, 'yes');
    await router.received(before + 1);
    equal(router.messages.at(-1)?.peer.key, peer.key, 'key');
    equal([router.undeliverable.length, router.gone.length], [0, 0], 'reports');
  },
};

const OUTCOMES: Cases<PortRig> = {
  async 'reports each message of a router as sent or undeliverable, once'(rig) {
    const router = await rig.router();
    const { dealer, peer } = await rig.met(router);
    router.say(peer, '1');
    router.say({ key: 'nobody', id: bytesOf('nobody') }, '2');
    router.say(peer, '3');
    await router.until(() => router.sent.length === 2);
    await dealer.received(2);
    const refused = router.undeliverable.map(({ frames }) => textOf(frames));
    equal([router.sent.map(textOf), refused], [['1', '3'], ['2']], 'outcomes');
  },
  async 'reports what had waited for a peer as sent when the transport takes it over, in order'(rig) {
    const router = await rig.router(SMALL_MARK);
    const { port, peer } = await rig.deaf(router, 'slow', SMALL_MARK);
    await rig.tried(router, peer);
    const knocks = router.sent.length;
    for (const text of numbered(MESSAGES)) router.port.send(peer, [bytesOf(text), BODY]);
    await rig.tried(router, peer);
    const parked = router.port.pendingFor(peer);
    check(parked > 0, 'nothing is parked');
    equal(router.sent.length - knocks, MESSAGES - parked, 'sent while the peer does not read');
    rig.listen(port);
    await router.until(() => router.sent.length - knocks === MESSAGES);
    equal(
      router.sent.slice(knocks).map(([head]) => textOf([head ?? BODY])),
      numbered(MESSAGES),
      'sent',
    );
  },
  async 'may be given the next message from inside the report of the last'(rig) {
    const router = await rig.router();
    const { dealer } = await rig.met(router);
    const texts = numbered(1_000);
    let next = 1;
    dealer.onEachSent = () => {
      const text = texts[next++];
      if (text !== undefined) dealer.say(ROUTER_PEER, text);
    };
    dealer.say(ROUTER_PEER, '0');
    await router.received(texts.length);
    equal(router.texts, texts, 'messages');
  },
  async 'closes within the linger while an attempt waits, and reports nothing of it'(rig) {
    for (const lingerMs of [0, 50]) {
      const dealer = await rig.boundDealer({ ...ONE_AT_A_TIME, sendWaitMs: FOR_EVER });
      dealer.say(ROUTER_PEER, 'never', 'either');
      await dealer.port.close({ lingerMs });
      equal([dealer.sent.length, dealer.undeliverable.length, dealer.port.pending], [0, 0, 0], 'reports');
    }
  },
};

/** True if each number exceeds the one before by this much. */
function inStepsOf(step: number, numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number - (numbers[index - 1] ?? 0) === step);
}

export const DEALING: Cases<PortRig> = { ...DEALERS, ...ROUTERS, ...OUTCOMES };
