/** Publishers and subscribers: which subscriber receives what. */
import type { PubSubRig } from './pubsub-rig.js';
import { bytesOf, check, equal, failure, framesOf, numbered, sameFrames } from './rig.js';
import { PUBSUB_LIMITS } from './pubsub-limits.js';
import type { Cases } from './suite.js';

const KIB = 1024;

const DELIVERY: Cases<PubSubRig> = {
  async 'delivers what begins with a prefix, in order, and nothing else'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['a', 'bc']);
    await rig.known(publisher, reader, 'bc');
    publisher.publish('a|1', 'b|2', 'bc|3', 'c|4', 'abc|5', '|6', 'bcd|7');
    await rig.flushed(publisher, reader, 'a');
    equal(reader.texts, ['a|1', 'bc|3', 'abc|5', 'bcd|7', 'a|end'], 'messages');
  },
  async 'delivers everything, an empty topic included, to whom asked for the empty prefix'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['']);
    await rig.known(publisher, reader, 'x');
    publisher.publish('', '|body', 'x', 'y|z');
    await rig.flushed(publisher, reader, 'x');
    equal(reader.texts, ['', '|body', 'x', 'y|z', 'x|end'], 'messages');
  },
  async 'compares prefixes byte by byte'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['\0\x01', '\xff', 'é']);
    await rig.known(publisher, reader, 'é');
    publisher.publish('\0|1', '\0\x01\0|2', '\xff\xfe|3', '\xfe|4', 'é|5', '\xc3\xa9|6');
    await rig.flushed(publisher, reader, '\0\x01');
    equal(reader.texts, ['\0\x01\0|2', '\xff\xfe|3', 'é|5', '\0\x01|end'], 'messages');
  },
  async 'delivers a message once, however many prefixes fit'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['', 'a', 'ab', 'ab']);
    await rig.known(publisher, reader, 'ab');
    publisher.publish('ab|1');
    await rig.flushed(publisher, reader, 'ab');
    equal(reader.texts, ['ab|1', 'ab|end'], 'messages');
  },
  async 'delivers messages whole: empty frames, all bytes, a mebibyte, 500 frames'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['']);
    await rig.known(publisher, reader, 'x');
    const large = Uint8Array.from({ length: KIB * KIB }, (_, index) => (index * 31 + (index >> 8)) & 0xff);
    const messages = [framesOf('|'), framesOf('a||b'), [bytesOf('x'), large], [large], numbered(500).map(bytesOf)];
    for (const message of messages) publisher.port.publish(message);
    await rig.flushed(publisher, reader, 'x');
    const heard = reader.messages.slice(-messages.length - 1, -1);
    for (const [index, message] of messages.entries()) {
      check(sameFrames(message, heard[index] ?? []), `message ${index} differs`);
    }
  },
  async 'keeps from a subscriber what it may not hear'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['a']);
    await rig.known(publisher, reader, 'a');
    let asked = 0;
    const say = (may: boolean) => () => {
      asked++;
      return may;
    };
    publisher.port.publish(framesOf('a|1'), say(true));
    publisher.port.publish(framesOf('a|2'), say(false));
    equal(asked, 2, 'questions');
    await rig.flushed(publisher, reader, 'a');
    equal(reader.texts, ['a|1', 'a|end'], 'messages');
  },
  async 'delivers to every subscriber what it asked for'(rig) {
    const publisher = await rig.publisher();
    const first = await rig.subscriber([publisher], ['a']);
    const second = await rig.subscriber([publisher], ['a', 'b']);
    await rig.known(publisher, first, 'a');
    await rig.known(publisher, second, 'b');
    publisher.publish('a|1', 'b|2');
    await rig.flushed(publisher, first, 'a');
    await second.heard('a|end');
    equal(
      [first.texts, second.texts],
      [
        ['a|1', 'a|end'],
        ['a|1', 'b|2', 'a|end'],
      ],
      'messages',
    );
  },
  async 'lets one subscriber hear several publishers'(rig) {
    const [one, two] = [await rig.publisher(), await rig.publisher()];
    const reader = await rig.subscriber([one, two], ['1', '2']);
    await rig.known(one, reader, '1');
    await rig.known(two, reader, '2');
    one.publish('1|one');
    two.publish('2|two');
    await reader.until(() => reader.texts.length === 2);
    equal([...reader.texts].sort(), ['1|one', '2|two'], 'messages');
  },
  async 'throws for anything but Uint8Arrays, and sends none of it'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['']);
    await rig.known(publisher, reader, 'x');
    for (const frames of [[], ['text'], [undefined], [null], [7], [bytesOf('good'), 'bad']]) {
      const error = await failure(() => {
        publisher.port.publish(frames as Uint8Array[]);
      });
      check(error instanceof TypeError, `${JSON.stringify(frames)} threw ${String(error)}`);
    }
    await rig.flushed(publisher, reader, 'x');
    equal(reader.texts, ['x|end'], 'messages');
  },
};

const SUBSCRIPTIONS: Cases<PubSubRig> = {
  async 'tells of the first subscriber of a prefix and of the last, if asked to'(rig) {
    const publisher = await rig.publisher({ tellsSubscriptions: true });
    const first = await rig.subscriber([publisher], ['a', '']);
    await publisher.changed(2);
    const second = await rig.subscriber([publisher], ['a', 'b\xff']);
    await publisher.changed(3);
    // The one that closes first is not its only subscriber.
    await rig.known(publisher, second, 'a');
    first.port.unsubscribe(bytesOf(''));
    await publisher.changed(4);
    await first.port.close();
    second.port.unsubscribe(bytesOf('b\xff'));
    await publisher.changed(5);
    await second.port.close();
    await publisher.changed(6);
    const changes = publisher.changes;
    equal([...changes.slice(0, 2)].sort(), ['+', '+a'], 'the first subscriber');
    equal(changes.slice(2), ['+b\xff', '-', '-b\xff', '-a'], 'what follows');
  },
  async 'tells nothing of subscriptions unless asked to'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['a']);
    await rig.known(publisher, reader, 'a');
    equal(publisher.changes, [], 'changes');
  },
  async 'takes subscriptions before it is connected, and while it runs'(rig) {
    const publisher = await rig.publisher();
    const port = await rig.bareSubscriber();
    port.subscribe(bytesOf('early'));
    port.connect(publisher.endpoint);
    const reader = rig.listen(port);
    await rig.known(publisher, reader, 'early');
    reader.subscribe('late');
    await rig.known(publisher, reader, 'late');
    publisher.publish('early|1', 'late|2');
    await rig.flushed(publisher, reader, 'late');
    equal(reader.texts, ['early|1', 'late|2', 'late|end'], 'messages');
  },
  async 'hears nothing more of a prefix from the moment it is taken back'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['a', 'b']);
    await rig.known(publisher, reader, 'b');
    publisher.publish('a|1');
    await rig.flushed(publisher, reader, 'b');
    reader.port.unsubscribe(bytesOf('a'));
    publisher.publish('a|2', 'b|3');
    await reader.heard('b|3');
    equal(reader.texts, ['a|1', 'b|end', 'b|3'], 'messages');
  },
  async 'leaves a prefix that was asked for twice when it is taken back twice, and ignores what nobody asked for'(rig) {
    const publisher = await rig.publisher();
    const reader = await rig.subscriber([publisher], ['a', 'a', 'b']);
    await rig.known(publisher, reader, 'b');
    reader.port.unsubscribe(bytesOf('never'));
    reader.port.unsubscribe(bytesOf('a'));
    publisher.publish('a|1');
    await reader.heard('a|1');
    reader.port.unsubscribe(bytesOf('a'));
    publisher.publish('a|2', 'b|3');
    await reader.heard('b|3');
    equal(reader.texts, ['a|1', 'b|3'], 'messages');
  },
  async 'loses none of many subscriptions'(rig) {
    const publisher = await rig.publisher();
    const prefixes = numbered(3_000, 'topic-').map((topic) => `${topic}.`);
    const reader = await rig.subscriber([publisher], prefixes, { highWaterMark: 10, receiveHighWaterMark: 1_000 });
    await rig.known(publisher, reader, 'topic-2999.');
    const asked = ['topic-0.', 'topic-10.', 'topic-1500.', 'topic-2999.'];
    publisher.publish(...asked, 'topic-3000.');
    await rig.flushed(publisher, reader, 'topic-7.');
    equal(reader.texts, [...asked, 'topic-7.|end'], 'messages');
  },
  async 'comes back with all its subscriptions when its publisher does'(rig) {
    const first = await rig.publisher({}, await rig.ownEndpoint());
    const reader = await rig.subscriber([first], ['a', 'b']);
    await rig.known(first, reader, 'b');
    reader.port.unsubscribe(bytesOf('a'));
    reader.subscribe('c');
    await first.port.close();
    const second = await rig.publisher({}, first.endpoint);
    await rig.known(second, reader, 'b');
    await rig.known(second, reader, 'c');
    second.publish('a|1', 'b|2', 'c|3');
    await rig.flushed(second, reader, 'c');
    equal(reader.texts, ['b|2', 'c|3', 'c|end'], 'messages');
  },
};

export const PUBSUB: Cases<PubSubRig> = { ...DELIVERY, ...SUBSCRIPTIONS, ...PUBSUB_LIMITS };
