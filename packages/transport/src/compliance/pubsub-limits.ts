/** Publishers and subscribers at their limits: what slow subscribers miss, and how both come and go. */
import { isProjError } from '../errors.js';
import type { PubSubRig } from './pubsub-rig.js';
import { bytesOf, check, equal, failure, numbered } from './rig.js';
import type { Cases } from './suite.js';

const KIB = 1024;

const CONGESTION: Cases<PubSubRig> = {
  async 'never waits, and loses what nobody asked for'(rig) {
    const publisher = await rig.publisher();
    publisher.publish(...numbered(10_000));
    const reader = await rig.subscriber([publisher], ['a']);
    await rig.known(publisher, reader, 'a');
    publisher.publish(...numbered(10_000));
    await rig.flushed(publisher, reader, 'a');
    equal(reader.texts, ['a|end'], 'messages');
  },
  async 'loses what a subscriber does not read, beyond the high-water marks, while others go on'(rig) {
    const publisher = await rig.publisher({ highWaterMark: 10 });
    const marks = { receiveHighWaterMark: 10 };
    const slow = await rig.subscriber([publisher], ['a'], marks);
    const quick = await rig.subscriber([publisher], ['a'], marks);
    await rig.known(publisher, slow, 'a');
    await rig.known(publisher, quick, 'a');
    slow.port.pause();
    const body = new Uint8Array(256 * KIB);
    const count = 200;
    for (let index = 0; index < count; index++) {
      const message = [bytesOf('a'), bytesOf(index.toString()), body];
      const heard = () => quick.messages.some((frames) => isNumber(frames, index));
      await rig.repeat(() => publisher.port.publish(message), heard);
    }
    slow.port.resume();
    await rig.known(publisher, slow, 'a');
    const heard = slow.messages.filter((frames) => frames.length === 3).map((frames) => Number(numberOf(frames)));
    const distinct = new Set(heard).size;
    // On a slow transport the first ones are repeated until they arrive elsewhere.
    check(heard.length >= 10 && distinct < count, `${heard.length} were heard, ${distinct} of ${count}`);
    equal(
      heard,
      [...heard].sort((a, b) => a - b),
      'order',
    );
  },
  async 'keeps what comes while paused for later'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['']);
    await rig.known(publisher, reader, 'x');
    reader.onEach = () => {
      // Not for another probe. The reader may have one more message in progress.
      if (reader.texts.length > 0) reader.port.pause();
    };
    publisher.publish(...numbered(50));
    await reader.until(() => reader.texts.length > 0);
    const other = await rig.subscriber([publisher], ['49']);
    await rig.known(publisher, other, '49');
    check(reader.texts.length <= 2, `${reader.texts.length} came while paused`);
    reader.onEach = undefined;
    reader.port.resume();
    await reader.until(() => reader.texts.length === 50);
    equal(reader.texts, numbered(50), 'messages');
  },
  async 'is not cut for a pause, however long, and keeps what came during it'(rig) {
    const quick = { connectionHeartbeatMs: 100, connectionTimeoutMs: 200 };
    const publisher = await rig.publisher(quick);
    const reader = await rig.subscriber([publisher], [''], quick);
    await rig.known(publisher, reader, 'x');
    reader.port.pause();
    publisher.publish(...numbered(50));
    await rig.pass(1_500);
    reader.port.resume();
    await rig.flushed(publisher, reader, 'x');
    equal(reader.texts.slice(0, 50), numbered(50), 'messages');
  },
};

const LIMITS: Cases<PubSubRig> = {
  async 'drops what is over the limits and tells the subscriber'(rig) {
    const publisher = await rig.publisher();
    const limits = { maxMessageFrames: 3, maxMessageBytes: 12 };
    const reader = await rig.subscriber([publisher], ['a'], limits);
    await rig.known(publisher, reader, 'a');
    publisher.publish('a|2|3|4', 'a|23456|7890123', 'a|2|3');
    await reader.heard('a|2|3');
    equal([reader.texts, reader.rejected], [['a|2|3'], ['too-many-frames', 'too-large']], 'outcome');
  },
  async 'never delivers a single frame over the limit, and goes on hearing'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['a'], { maxMessageBytes: 100 });
    await rig.known(publisher, reader, 'a');
    publisher.publish(`a|${'x'.repeat(1_500)}`);
    // On the same connection or the next one.
    await rig.known(publisher, reader, 'a');
    check(
      reader.messages.every((frames) => frames.every(({ length }) => length <= 100)),
      'it was delivered',
    );
  },
  async 'refuses options and endpoints as routers and dealers do'(rig) {
    const publisher = await rig.publisher();
    const second = await rig.barePublisher();
    const taken = await failure(() => second.bind(publisher.endpoint));
    check(isProjError(taken, 'ADDRESS_IN_USE'), `got ${String(taken)}`);
    const subscriber = await rig.bareSubscriber();
    for (const error of [
      await failure(() => second.bind('nonsense')),
      await failure(() => {
        subscriber.connect('nonsense');
      }),
      await failure(() => rig.barePublisher({ highWaterMark: 0 })),
      await failure(() => rig.bareSubscriber({ maxMessageFrames: 0 })),
    ])
      check(isProjError(error, 'OPTIONS_INVALID'), `got ${String(error)}`);
  },
};

const END: Cases<PubSubRig> = {
  async 'hands over what was published before it closes'(rig) {
    const publisher = await rig.publisher({ lingerMs: 10_000 });
    const reader = await rig.subscriber([publisher], ['a']);
    await rig.known(publisher, reader, 'a');
    publisher.publish(...numbered(100, 'a|'));
    await publisher.port.close();
    await reader.until(() => reader.texts.length >= 100);
    equal(reader.texts, numbered(100, 'a|'), 'messages');
  },
  async 'gives its endpoint back when it is closed, time and again'(rig) {
    const { endpoint, port } = await rig.publisher({}, await rig.ownEndpoint());
    await port.close();
    for (let round = 0; round < 10; round++) {
      const next = await rig.barePublisher();
      equal(await next.bind(endpoint), endpoint, 'endpoint');
      await next.close();
    }
  },
  async 'calls its listener no more once closed, not even from inside a call'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['']);
    const other = await rig.subscriber([publisher], ['']);
    await rig.known(publisher, reader, 'x');
    await rig.known(publisher, other, 'x');
    reader.onEach = () => {
      if (reader.texts.length === 10) void reader.port.close();
    };
    publisher.publish(...numbered(500));
    await other.heard('499');
    await reader.port.close();
    equal(reader.texts, numbered(10), 'messages');
  },
  async 'closes once, and before it was started, bound or connected, and while it binds'(rig) {
    const [publisher, subscriber] = [await rig.barePublisher(), await rig.bareSubscriber()];
    const closing = [publisher.close(), subscriber.close()];
    check(publisher.close() === closing[0] && subscriber.close() === closing[1], 'the promise is not shared');
    await Promise.all(closing);
    const port = await rig.barePublisher();
    const bound = port.bind(rig.subject.endpoint).catch(() => undefined);
    await port.close();
    await bound;
  },
  async 'ignores what it is asked after it was closed'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['a']);
    await Promise.all([publisher.port.close(), reader.port.close()]);
    publisher.publish('a|1');
    reader.subscribe('b');
    reader.port.unsubscribe(bytesOf('a'));
    reader.port.pause();
    reader.port.resume();
    equal(reader.texts, [], 'messages');
  },
};

/** The cases of congestion, limits and the end. */
export const PUBSUB_LIMITS: Cases<PubSubRig> = { ...CONGESTION, ...LIMITS, ...END };

function numberOf(frames: readonly Uint8Array[]): string {
  return String.fromCharCode(...(frames[1] ?? []));
}

function isNumber(frames: readonly Uint8Array[], index: number): boolean {
  return frames.length === 3 && numberOf(frames) === index.toString();
}
