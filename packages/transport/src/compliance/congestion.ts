/** A peer that does not read: its messages wait, those of others do not, and a full queue is reported. */
import { ROUTER_PEER } from '../port.js';
import type { PortOptions, SocketPort } from '../port.js';
import { bytesOf, check, equal, numbered, textOf } from './rig.js';
import type { PortRig, PortPeer } from './rig.js';
import type { Cases } from './suite.js';

/** More than the kernel's buffers hold, so that the peer stays congested until it reads. */
const MESSAGES = 400;
const BODY = new Uint8Array(100_000);
const SMALL_MARK = { highWaterMark: 10 };

/** Short enough to pass within a test; and how long nobody reads: many times the tolerated silence. */
const QUICK_HEARTBEATS = { connectionHeartbeatMs: 300, connectionTimeoutMs: 700 };
const LONG_MS = 2_500;

function heads(station: PortPeer): string[] {
  return station.messages.map(({ frames }) => textOf(frames.slice(0, 1)));
}

/** A router that has sent {@link MESSAGES} numbered messages to a dealer that does not read. */
async function congested(rig: PortRig, options: PortOptions = {}) {
  const router = await rig.router({ ...SMALL_MARK, ...options });
  const { port, peer } = await rig.deaf(router, 'slow', SMALL_MARK);
  for (const text of numbered(MESSAGES)) router.port.send(peer, [bytesOf(text), BODY]);
  await rig.tried(router, peer);
  return { router, slow: port, peer };
}

async function readAll(rig: PortRig, slow: SocketPort, count: number): Promise<PortPeer> {
  const station = rig.listen(slow);
  await station.received(count + 1);
  equal(heads(station)[0], 'knock', 'first message');
  return station;
}

export const CONGESTION: Cases<PortRig> = {
  async 'parks the messages of a peer that does not read, and delivers all in order once it does'(rig) {
    const { router, slow, peer } = await congested(rig);
    const { dealer: other, peer: otherPeer } = await rig.met(router);
    check(router.port.pendingFor(peer) > 0, 'nothing is parked');
    check(router.port.pending >= router.port.pendingFor(peer), 'pending is less than what is parked');
    equal(router.port.pendingFor(otherPeer), 0, 'parked for the other peer');
    const station = await readAll(rig, slow, MESSAGES);
    equal(heads(station).slice(1), numbered(MESSAGES), 'messages');
    equal([router.port.pending, router.undeliverable.length, other.messages.length], [0, 0, 0], 'left over');
  },
  async 'does not take a peer for silent that reads nothing for long, and loses nothing of what counted as sent'(rig) {
    const router = await rig.router({ ...SMALL_MARK, ...QUICK_HEARTBEATS });
    const { port, peer } = await rig.deaf(router, 'slow', { ...SMALL_MARK, ...QUICK_HEARTBEATS });
    for (const text of numbered(MESSAGES)) router.port.send(peer, [bytesOf(text), BODY]);
    await rig.tried(router, peer);
    await rig.pass(LONG_MS);
    equal(heads(await readAll(rig, port, MESSAGES)).slice(1), numbered(MESSAGES), 'messages');
    equal([router.gone.length, router.undeliverable.length], [0, 0], 'reports');
  },
  async 'does not seem silent to its peers while it is paused for long, and takes none of them for silent'(rig) {
    const router = await rig.router(QUICK_HEARTBEATS);
    const { dealer: busy } = await rig.met(router, QUICK_HEARTBEATS);
    const { dealer: quiet } = await rig.met(router, QUICK_HEARTBEATS);
    router.port.pause();
    for (const text of numbered(MESSAGES)) busy.port.send(ROUTER_PEER, [bytesOf(text), BODY]);
    await rig.pass(LONG_MS);
    quiet.say(ROUTER_PEER, 'still here');
    router.port.resume();
    await router.received(MESSAGES + 1);
    equal(
      heads(router).filter((head) => head !== 'still here'),
      numbered(MESSAGES),
      'messages',
    );
    equal(
      [router.gone.length, busy.gone.length, quiet.gone.length, busy.undeliverable.length],
      [0, 0, 0, 0],
      'reports',
    );
  },
  async 'does not delay other peers meanwhile'(rig) {
    const { router, peer } = await congested(rig);
    const { dealer: other, peer: otherPeer } = await rig.met(router);
    const texts = numbered(5);
    router.say(otherPeer, ...texts);
    await other.received(texts.length);
    equal(other.texts, texts, 'messages');
    check(router.port.pendingFor(peer) > 0, 'the slow peer was not congested');
  },
  async 'reports everything parked for a peer as congested, oldest first, when one message more than fits comes'(rig) {
    const { router, slow } = await congested(rig, { peerQueueMax: 20 });
    const reported = router.undeliverable.map(({ frames }) => Number(textOf(frames.slice(0, 1))));
    check(reported.length > 20, 'nothing overflowed');
    check(
      reported.every((number, index) => index === 0 || number > (reported[index - 1] ?? 0)),
      'the reports are out of order',
    );
    equal(new Set(router.undeliverable.map(({ reason }) => reason)).size, 1, 'number of reasons');
    equal(router.undeliverable[0]?.reason, 'congested', 'reason');
    // Everything not reported arrives, once each and in order: nothing is lost silently.
    const lost = new Set(reported.map(String));
    const kept = numbered(MESSAGES).filter((text) => !lost.has(text));
    const station = await readAll(rig, slow, kept.length);
    equal(heads(station).slice(1), kept, 'messages');
  },
  async 'counts what a lost peer leaves behind in the last report allowed'(rig) {
    const { router, slow } = await congested(rig, { peerQueueMax: 20, peerReportsMax: 2 });
    const counts = router.undeliverable.map(({ others }) => others);
    check(counts[0] === 0 && (counts[1] ?? 0) > 10, 'the second report does not count the rest');
    // What is neither reported nor counted arrives.
    const lost = counts.reduce((sum, others) => sum + 1 + others, 0);
    equal((await readAll(rig, slow, MESSAGES - lost)).messages.length, MESSAGES - lost + 1, 'messages');
  },
  async 'bounds what is parked for a peer by bytes too'(rig) {
    const { router, peer } = await congested(rig, { peerQueueMaxBytes: 20 * BODY.length });
    check(router.undeliverable.length >= 20, 'nothing overflowed');
    check(router.port.pendingFor(peer) < 20, 'more is parked than the bytes allow');
  },
  async 'waits for a congested peer no longer than the linger when it closes, and reports nothing then'(rig) {
    const { router, peer } = await congested(rig);
    check(router.port.pendingFor(peer) > 0, 'nothing is parked');
    await router.port.close({ lingerMs: 50 });
    equal([router.port.pending, router.undeliverable.length], [0, 0], 'left over');
  },
};

/** For implementations that tell when a peer is gone. */
export const CONGESTION_END: Cases<PortRig> = {
  async 'reports what is parked for a peer as unreachable when the peer leaves, and then that it left'(rig) {
    const { router, slow, peer } = await congested(rig);
    const parked = router.port.pendingFor(peer);
    check(parked > 0, 'nothing is parked');
    let reportedBefore = -1;
    const gone = router.until(() => {
      if (router.gone.length > 0 && reportedBefore < 0) reportedBefore = router.undeliverable.length;
      return router.gone.length > 0;
    });
    await slow.close();
    await gone;
    check(reportedBefore > 0, 'the notice came first');
    equal(router.undeliverable.at(-1)?.reason, 'unreachable', 'reason');
    equal([router.port.pendingFor(peer), router.gone[0]?.key], [0, 'slow'], 'left over');
  },
};
