import { describe, expect, it } from 'vitest';
import { ConsumerRig } from '../../../test/pzq/consumer-rig.js';

describe('handing out', () => {
  it('rule 24: messages go to readers in the order of both', () => {
    const rig = new ConsumerRig();
    expect(rig.deliver('x')).toEqual([]);
    expect(rig.deliver('y')).toEqual([]);
    expect(rig.demand()).toEqual(['hand x']);
    expect(rig.demand(2)).toEqual(['hand y']);
    expect(rig.deliver('z')).toEqual(['hand z', 'pause']);
  });

  it('a reader that has left gets nothing', () => {
    const rig = new ConsumerRig();
    rig.demand();
    rig.step({ kind: 'waive' });
    expect(rig.deliver('x')).toEqual([]);
    expect(rig.session.stats).toMatchObject({ waiting: 1, unsettled: 0 });
  });

  it('rule 24: extra headers are ignored, the body begins behind the first blank from frame 4 on', () => {
    const rig = new ConsumerRig();
    rig.demand();
    expect(rig.receive('Q', 'x', '1795199729632593', '5000000', 'H:1', '', 'a', '', 'b')).toEqual(['hand x']);
    expect(rig.handed.get('x')?.delivery.body.map(({ length }) => length)).toEqual([1, 0, 1]);
  });

  it.each([
    ['without key', ['', '1', '1', '', 'x'], 'delivery-malformed'],
    ['without body', ['x', '1', '1', ''], 'delivery-malformed'],
    ['without anything', [], 'no-frames'],
  ])('an invalid delivery (%s) is dropped and counted, noted once a minute', (_, frames, reason) => {
    const rig = new ConsumerRig();
    rig.demand();
    expect(rig.receive('Q', ...frames)).toEqual([`note message-dropped ${reason}`]);
    expect(rig.receive('Q', ...frames)).toEqual([]);
    expect(rig.session.stats.dropped).toEqual({ [reason]: 2 });
  });

  it('counts messages over the limits of the socket, and undeliverable ones', () => {
    const rig = new ConsumerRig();
    expect(rig.step({ kind: 'rejected', reason: 'too-large' })).toEqual(['note message-dropped too-large']);
    expect(rig.step({ kind: 'undeliverable' })).toEqual(['note ack-undeliverable']);
    expect(rig.step({ kind: 'undeliverable' })).toEqual([]);
    expect(rig.session.stats).toMatchObject({ dropped: { 'too-large': 1 }, acksUndeliverable: 2 });
  });
});

describe('the bound', () => {
  it('rule 24: with prefetch messages in hand, waiting or handed out, nothing is read', () => {
    const rig = new ConsumerRig();
    rig.demand();
    expect([...rig.deliver('x'), ...rig.deliver('y')]).toEqual(['hand x']);
    expect(rig.deliver('z')).toEqual(['pause']);
    expect(rig.settle('x', 'ack')).toEqual(['Q +x', 'resume']);
  });

  it('accepts the one that was on its way when it paused', () => {
    const rig = new ConsumerRig({ prefetch: 1 });
    expect(rig.deliver('x')).toEqual(['pause']);
    expect(rig.deliver('y')).toEqual([]);
    rig.demand();
    expect(rig.settle('x', 'ack')).toEqual(['Q +x']);
    expect(rig.demand()).toEqual(['hand y']);
    expect(rig.settle('y', 'ack')).toEqual(['Q +y', 'resume']);
  });

  it('a message without a verdict frees its place when its lease has ended', () => {
    const rig = new ConsumerRig({ prefetch: 1 });
    rig.demand();
    rig.deliver('x');
    expect(rig.advance(4999)).toEqual([]);
    expect(rig.advance(1)).toEqual(['resume']);
    expect(rig.session.stats).toMatchObject({ leasesLost: 1, unsettled: 0 });
    expect(rig.session.deadline).toBe(Infinity);
  });

  it('an extension restarts its lease', () => {
    const rig = new ConsumerRig({ prefetch: 1 });
    rig.demand();
    rig.deliver('x');
    rig.advance(4000);
    expect(rig.step({ kind: 'extend', handed: rig.handed.get('x')! })).toEqual(['Q x']);
    expect(rig.advance(4999)).toEqual([]);
    expect(rig.advance(1)).toEqual(['resume']);
    expect(rig.step({ kind: 'extend', handed: rig.handed.get('x')! })).toEqual([]);
    expect(rig.session.stats.extended).toBe(1);
  });
});

describe('verdicts', () => {
  it('rule 24: 1 for done, 0 for not done, nothing for left; to the queue it came from', () => {
    const rig = new ConsumerRig();
    rig.demand(3);
    for (const [key, from] of [
      ['x', 'P'],
      ['y', 'Q'],
      ['z', 'R'],
    ] as const)
      rig.deliver(key, { from });
    expect(rig.settle('x', 'ack')).toEqual(['P +x', 'resume']);
    expect(rig.settle('y', 'nack')).toEqual(['Q -y']);
    expect(rig.settle('z', 'leave')).toEqual([]);
    expect(rig.session.stats).toMatchObject({ acked: 1, nacked: 1, left: 1, unsettled: 0 });
  });

  it('rule 14: are sent even if late', () => {
    const rig = new ConsumerRig();
    rig.demand(2);
    rig.deliver('x');
    rig.deliver('y');
    rig.advance(6000);
    expect([...rig.settle('x', 'ack'), ...rig.settle('y', 'nack')]).toEqual(['Q +x', 'Q -y']);
  });

  it('rule 24: a redelivery of an acknowledged key is acknowledged and not handed out', () => {
    const rig = new ConsumerRig();
    rig.demand(2);
    rig.deliver('x');
    rig.settle('x', 'ack');
    expect(rig.deliver('x')).toEqual(['Q +x']);
    expect(rig.session.stats).toMatchObject({ repeated: 1, handedOut: 1 });
  });

  it('rule 24: a redelivery of any other key is handed out again', () => {
    const rig = new ConsumerRig();
    rig.demand(4);
    for (const verdict of ['nack', 'leave'] as const) {
      expect(rig.deliver(verdict)).toEqual([`hand ${verdict}`]);
      rig.settle(verdict, verdict);
      expect(rig.deliver(verdict)).toEqual([`hand ${verdict}`]);
    }
  });

  it('rule 24: only the last dedupeMax keys are remembered, none with 0', () => {
    const rig = new ConsumerRig({ dedupeMax: 2 });
    rig.demand(9);
    for (const key of ['x', 'y', 'z']) {
      rig.deliver(key);
      rig.settle(key, 'ack');
    }
    expect([...rig.deliver('z'), ...rig.deliver('y'), ...rig.deliver('x')]).toEqual(['Q +z', 'Q +y', 'hand x']);
    const forgetful = new ConsumerRig({ dedupeMax: 0 });
    forgetful.demand(2);
    forgetful.deliver('x');
    forgetful.settle('x', 'ack');
    expect(forgetful.deliver('x')).toEqual(['hand x']);
  });
});

describe('a message that comes again while it is in hand', () => {
  it('is not handed out a second time, and gets a new lease', () => {
    const rig = new ConsumerRig();
    rig.demand(2);
    rig.deliver('x');
    rig.advance(4900);
    expect(rig.deliver('x')).toEqual(['note message-dropped in-hand']);
    expect(rig.advance(4999)).toEqual([]);
    expect(rig.settle('x', 'ack')).toEqual(['Q +x']);
    expect(rig.session.stats).toMatchObject({ leasesLost: 0, handedOut: 1, dropped: { 'in-hand': 1 } });
  });

  it('keeps its turn while it waits, with the time of the last delivery', () => {
    const rig = new ConsumerRig();
    rig.deliver('x');
    rig.deliver('y');
    rig.now = 6000;
    rig.deliver('x');
    expect(rig.demand(2)).toEqual(['hand x', 'note message-dropped expired']);
  });

  it('after its lease: a late ack takes back the copy that no reader has started', () => {
    const rig = new ConsumerRig();
    rig.demand();
    rig.deliver('x');
    rig.advance(5000);
    rig.deliver('x');
    expect(rig.settle('x', 'ack')).toEqual(['Q +x']);
    expect(rig.demand()).toEqual([]);
    expect(rig.session.stats).toMatchObject({ waiting: 0, handedOut: 1 });
  });

  it('after its lease: a late nack does not take it from its new reader', () => {
    const rig = new ConsumerRig();
    rig.demand(2);
    rig.deliver('x');
    const first = rig.handed.get('x')!;
    rig.advance(5000);
    rig.deliver('x');
    expect(rig.settle('x', 'nack', first)).toEqual([]);
    expect(rig.session.stats.unsettled).toBe(1);
    expect(rig.settle('x', 'ack')).toEqual(['Q +x']);
  });
});

describe('deliveries that are too old', () => {
  it('rule 24: are dropped without an answer when their turn comes, and counted', () => {
    const rig = new ConsumerRig();
    rig.deliver('x');
    rig.deliver('y', { agoMs: -3000 });
    rig.now = 5001;
    expect(rig.demand()).toEqual(['note message-dropped expired', 'hand y']);
    expect(rig.session.stats.dropped).toEqual({ expired: 1 });
  });

  it('rule 24: are handed out at the very end of their time, and later with dropExpired off', () => {
    const rig = new ConsumerRig();
    rig.demand();
    expect(rig.deliver('x', { agoMs: 5000 })).toEqual(['hand x']);
    const lenient = new ConsumerRig({ dropExpired: false });
    lenient.demand();
    expect(lenient.deliver('x', { agoMs: 50_000 })).toEqual(['hand x']);
  });

  it('free their places', () => {
    const rig = new ConsumerRig({ prefetch: 1 });
    rig.deliver('x');
    rig.now = 6000;
    expect(rig.demand()).toEqual(['note message-dropped expired', 'resume']);
  });

  it('rule 24: after 20 in a row the clocks are suspected, once, and no reader starves', () => {
    const rig = new ConsumerRig({ prefetch: 99 });
    rig.skewMs = 60_000;
    rig.demand(3);
    const lines = Array.from({ length: 22 }, (_, i) => rig.deliver(`k${i}`)).flat();
    expect(lines).toEqual(['note message-dropped expired', 'clock-skew 60000', 'hand k19', 'hand k20', 'hand k21']);
  });

  it('rule 24: while the clocks are suspected, the age of a delivery is its time here', () => {
    const rig = new ConsumerRig({ prefetch: 99 });
    rig.skewMs = 60_000;
    rig.demand();
    for (let i = 0; i < 20; i++) rig.deliver(`k${i}`);
    // The last of them was handed out.
    rig.deliver('x');
    rig.now = 4000;
    rig.deliver('y');
    rig.now = 5001;
    expect(rig.demand()).toEqual(['hand y']);
    expect(rig.session.stats).toMatchObject({ handedOut: 2, dropped: { expired: 20 } });
  });

  it('rule 24: one plausible delivery ends the suspicion, and 20 in a row raise it again', () => {
    const rig = new ConsumerRig({ prefetch: 99 });
    const day = { agoMs: 86_400_000 };
    rig.demand(99);
    const skews = (prefix: string) =>
      Array.from({ length: 20 }, (_, i) => rig.deliver(`${prefix}${i}`, day))
        .flat()
        .filter((line) => line.startsWith('clock-skew'));
    expect(skews('a')).toEqual(['clock-skew 86400000']);
    expect(rig.deliver('good')).toEqual(['hand good']);
    expect(rig.deliver('late', day)).toEqual([]);
    expect(skews('b')).toEqual(['clock-skew 86400000']);
  });

  it('rule 24: deliveries that may have waited in the connection while nothing was read say nothing about the clocks', () => {
    const rig = new ConsumerRig({ prefetch: 1 });
    rig.demand();
    rig.deliver('x');
    rig.now = 6000;
    rig.settle('x', 'ack');
    rig.demand();
    const lines = Array.from({ length: 50 }, (_, i) => rig.deliver(`k${i}`, { agoMs: 6000 })).flat();
    expect(lines).toEqual(['note message-dropped expired']);
  });

  it('rule 24: a good one among any 20 clears the clocks', () => {
    const rig = new ConsumerRig();
    rig.demand(99);
    for (let i = 0; i < 50; i++)
      expect(rig.deliver(`k${i}`, { agoMs: i % 20 === 19 ? 0 : 9000 })).not.toContainEqual(
        expect.stringMatching('clock'),
      );
  });
});

describe('draining', () => {
  it('hands out and reads no more, ends with the last verdict, and the close returns what waits', () => {
    const rig = new ConsumerRig();
    rig.demand(2);
    rig.deliver('x');
    expect(rig.step({ kind: 'drain' })).toEqual(['pause']);
    expect(rig.deliver('y')).toEqual([]);
    expect(rig.settle('x', 'ack')).toEqual(['Q +x', 'drained']);
    expect(rig.step({ kind: 'close' })).toEqual(['Q -y']);
  });

  it('a close without a drain leaves handed-out messages', () => {
    const rig = new ConsumerRig();
    rig.demand();
    for (const key of ['x', 'y']) rig.deliver(key);
    expect(rig.step({ kind: 'close' })).toEqual(['Q -y', 'pause']);
  });

  it('ends at once if nothing is handed out, and with the last lease', () => {
    expect(new ConsumerRig().step({ kind: 'drain' })).toEqual(['pause', 'drained']);
    const rig = new ConsumerRig();
    rig.demand(2);
    rig.deliver('x');
    rig.step({ kind: 'drain' });
    expect(rig.advance(5000)).toEqual(['drained']);
  });
});
