/** docs/protocols/emqp.md, rules 31 and 32, and the rows about PUBLISH in section "Bad input". */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeEmqpAtPubSub, encodeEmqp } from '@proj/frames/emqp';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../test/emqp/broker-under-test.js';
import { accessFor, peerNamed } from '../../../test/keyed.js';
import { EmqpPubSubEngine } from './pubsub-engine.js';

/** The device behind its codec: frames in, frames and words out. */
class DeviceUnderTest {
  readonly engine = new EmqpPubSubEngine();

  frames(...frames: string[]): string[] {
    return this.say('p1', 0, ...frames);
  }

  say(name: string, now: number, ...frames: string[]): string[] {
    const command = decodeEmqpAtPubSub(frames.map(fromLatin1));
    const effects = this.engine.step({ kind: 'message', peer: peerNamed(name), command }, now);
    this.engine.assertInvariants();
    return effects.map((effect) => {
      if (effect.kind === 'publish') return encodeEmqp(effect.command).map(latin1).join('|');
      return effect.kind === 'note' ? `${effect.reason} by ${effect.peer.key}` : effect.kind;
    });
  }
}

describe('the pub-sub device', () => {
  it.each([
    ['6 frames', ['', VERSION, 'PUBLISH', 'm', 'news', 'hello']],
    ['7 frames, whose headers it ignores', ['', VERSION, 'PUBLISH', 'm', 'news', 'guarantee', 'hello']],
    ['lower case', ['', VERSION, 'publish', 'm', 'news', 'hello']],
    ['version 1.9', ['', 'eMQP/1.9', 'PUBLISH', 'm', 'news', 'hello']],
  ])('rule 31: publishes only topic and body of %s', (_case, frames) => {
    expect(new DeviceUnderTest().frames(...frames)).toEqual(['news|hello']);
  });

  it('rule 25: publishes bytes unchanged', () => {
    const device = new DeviceUnderTest();

    expect(device.frames('', VERSION, 'PUBLISH', 'm', '\0\xff', '\xfe|\0')).toEqual(['\0\xff|\xfe|\0']);
    expect(device.frames('', VERSION, 'PUBLISH', 'm', 't', '')).toEqual(['t|']);
  });

  it.each([
    ['PUBLISH of 5 frames', ['', VERSION, 'PUBLISH', 'm', 'topic'], 'frame-count'],
    ['PUBLISH of 8 frames', ['', VERSION, 'PUBLISH', 'm', 'topic', '', 'x', ''], 'frame-count'],
    ['PUBLISH without topic', ['', VERSION, 'PUBLISH', 'm', '', 'x'], 'topic-empty'],
    ['another command', ['', VERSION, 'REQUEST', 'm', 'q', '', 'x'], 'wrong-direction'],
    ['version 2.0', ['', 'eMQP/2.0', 'PUBLISH', 'm', 'topic', 'x'], 'version'],
    ['what a subscriber gets', ['topic', 'x'], 'too-few-frames'],
  ])('drops and counts %s', (_case, frames, reason) => {
    const device = new DeviceUnderTest();

    expect(device.frames(...frames)).toEqual([`${reason} by p1`]);
    expect(device.engine.stats()).toEqual({
      published: 0,
      handedOver: 0,
      subscriptions: 0,
      notesWithheld: 0,
      dropped: { [reason]: 1 },
    });
  });

  it('rule 34: publishes messages that their sender may publish; others are dropped, noted and counted', () => {
    const device = new DeviceUnderTest();
    const publish = (who: string, topic: string) => device.say(who, 0, '', VERSION, 'PUBLISH', 'm', topic, 'x');

    expect(publish('p1', 'news.eu')).toEqual(['news.eu|x']);
    device.engine.step({ kind: 'access', access: accessFor([{ keys: ['ada'], request: ['news.*'] }]) }, 0);
    expect(publish('p1@ada', 'news.eu')).toEqual(['news.eu|x']);
    expect(publish('p1@ada', 'sport')).toEqual(['not-allowed by p1@ada']);
    expect(publish('p1@bob', 'news.eu')).toEqual(['not-allowed by p1@bob']);
    expect(publish('p1', 'news.eu')).toEqual(['not-allowed by p1']);
    expect(device.engine.stats()).toMatchObject({ published: 2, dropped: { 'not-allowed': 3 } });
  });

  it('notes a repeated fault of the same peer once a minute, and counts each time', () => {
    const device = new DeviceUnderTest();
    const bad = ['', VERSION, 'PUBLISH', 'm', '', 'x'];
    const said = [0, 59_999, 60_000].map((now) => device.say('p1', now, ...bad).length);

    expect([said, device.say('p2', 60_000, ...bad).length]).toEqual([[1, 0, 1], 1]);
    expect(device.engine.stats()).toMatchObject({ notesWithheld: 1, dropped: { 'topic-empty': 4 } });
  });

  it('counts messages over the limits of its socket', () => {
    const { engine } = new DeviceUnderTest();
    engine.step({ kind: 'rejected', peer: peerNamed('p1'), reason: 'too-large' }, 0);

    expect(engine.stats().dropped).toEqual({ 'too-large': 1 });
  });

  it('rule 32: publishes messages from the broker in its process', () => {
    const { engine } = new DeviceUnderTest();
    const command = { topic: fromLatin1('t'), body: fromLatin1('b') };

    expect(engine.step({ kind: 'handed-over', command }, 0)).toEqual([
      { kind: 'publish', command: { kind: 'published', ...command } },
    ]);
    expect(engine.stats()).toMatchObject({ published: 1, handedOver: 1 });
  });

  it('publishes nothing once drained', () => {
    const device = new DeviceUnderTest();

    expect(device.engine.step({ kind: 'drain' }, 0)).toEqual([{ kind: 'drained' }]);
    expect(device.frames('', VERSION, 'PUBLISH', 'm', 'news', 'hello')).toEqual([]);
    expect(device.engine.stats().published).toBe(0);
  });

  it('survives any frames, and accounts for each message', () => {
    const word = fc.constantFrom('', VERSION, 'PUBLISH', 'm', 'REQUEST', 'x');
    const frames = fc.array(fc.oneof(word, fc.string({ unit: 'binary-ascii' })), { maxLength: 9 });
    fc.assert(
      fc.property(fc.array(frames), (messages) => {
        const device = new DeviceUnderTest();
        for (const message of messages) device.frames(...message);
        const { published, dropped } = device.engine.stats();
        expect(published + Object.values(dropped).reduce((sum, count) => sum + count, 0)).toBe(messages.length);
      }),
    );
  });
});
