import { latin1 } from '@proj/frames';
import { decodePzqKey } from '@proj/frames/pzq';
import { beforeEach, describe, expect, it } from 'vitest';
import { EPOCH_MICROS, peerNamed, QueueUnderTest } from '../../test/queue-under-test.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest();
});

const bodies = () => [...queue.store.rows.values()].map(({ message }) => message.body.map(latin1));

describe('rule 1: what is kept', () => {
  it('rule 1: exactly the body frames, including blank ones', () => {
    queue.produceFrames('p', ['id', '', 'a', '', 'b']);
    queue.produceFrames('p', ['id', '', '']);
    expect(bodies()).toEqual([['a', '', 'b'], ['']]);
  });

  it('rule 1: headers are dropped and counted, REPLICA: like any other', () => {
    queue.produceFrames('p', ['id', 'REPLICA:x', 'PZQ-DELAY-MS:500', '', 'body']);
    queue.accept(1);
    expect([bodies(), queue.delivered]).toEqual([[['body']], ['body']]);
    expect(queue.stats.counters.headersDropped).toBe(2);
  });

  it('rule 1: a repeated id gives two messages, two answers, two keys', () => {
    expect([queue.produce('p', 'same', 'a'), queue.produce('p', 'same', 'a')]).toEqual([
      ['-> p "same" 1'],
      ['-> p "same" 1'],
    ]);
    queue.accept(2);
    expect(new Set(queue.deliveries.map(({ command }) => latin1(command.key))).size).toBe(2);
  });

  it('rule 1: a message without a blank or a body, or of one frame, is not kept', () => {
    expect(queue.produceFrames('p', ['id', 'body'])).toContain(
      '-> p "id" 0 Malformed message, no delimiter found or missing message parts',
    );
    expect(queue.produceFrames('p', ['id', ''])).toContain('-> p "id" 0 Trying to save empty message');
    expect(queue.produceFrames('p', [''])).toEqual(['note message-dropped produce-one-frame receive p']);
    expect(queue.store.rows.size).toBe(0);
    expect(queue.dropped).toEqual({ 'no-delimiter': 1, 'no-body': 1, 'produce-one-frame': 1 });
  });
});

describe('rules 2 and 3: answers', () => {
  it('rule 2: 1 comes after the commit, not before', () => {
    queue.storeHeld = true;
    expect(queue.produce('p', 'a', 'x')).toEqual([]);
    expect(queue.answerStore()).toEqual(['-> p "a" 1']);
  });

  it('rule 3: an id comes back byte for byte, including empty and binary ones', () => {
    expect(queue.produce('p', '', 'x')).toEqual(['-> p "" 1']);
    expect(queue.produce('p', '\x00\xff|', 'x')).toEqual([`-> p ${JSON.stringify('\x00\xff|')} 1`]);
  });

  it('rule 3: an id comes back byte for byte however many wait, and the body is stored so', () => {
    queue = new QueueUnderTest({ batchMax: 1 });
    queue.storeHeld = true;
    const texts = ['', 'a', '\x00\xff|', '\x80', '', 'b', '\x00\xff|', '\x80'];
    for (const text of texts) queue.produce('p', text, text);
    const answers = texts.flatMap(() => queue.answerStore());
    expect(answers).toEqual(texts.map((text) => `-> p ${JSON.stringify(text)} 1`));
    expect(bodies()).toEqual(texts.map((text) => [text]));
  });

  it('rule 3: each producer is answered in the order of its messages, including refusals', () => {
    queue.storeHeld = true;
    queue.produce('p', 'a', 'x');
    queue.produceFrames('p', ['b', '']);
    queue.produce('q', 'c', 'x');
    queue.produce('p', 'd', 'x');
    queue.produceFrames('p', ['e', '']);
    const answers = () => queue.answerStore().filter((line) => line.startsWith('->'));
    expect(answers()).toEqual(['-> p "a" 1', '-> p "b" 0 Trying to save empty message']);
    expect(answers()).toEqual(['-> p "d" 1', '-> p "e" 0 Trying to save empty message', '-> q "c" 1']);
  });

  it('rule 3: a refusal does not wait for the commit of another producer', () => {
    queue.storeHeld = true;
    queue.produce('p', 'a', 'x');
    expect(queue.produceFrames('q', ['b', ''])).toContain('-> q "b" 0 Trying to save empty message');
  });

  it('rule 3: thousands of refusals of one producer are answered in several steps, in order', () => {
    queue = new QueueUnderTest({ intakeMax: 4000, producerAckMax: 4000 });
    queue.storeHeld = true;
    queue.produce('p', 'first', 'x');
    for (let n = 0; n < 2000; n++) queue.produceFrames('p', [`${n}`, '']);
    const steps: string[][] = [];
    for (let step = queue.answerStore(1); step.length > 0; step = queue.answerStore(1))
      steps.push(step.filter((line) => line.startsWith('->')));
    expect(Math.max(...steps.map(({ length }) => length))).toBeLessThanOrEqual(1024);
    expect(steps.flat().map((line) => line.split('"')[1])).toEqual([
      'first',
      ...Array.from({ length: 2000 }, (_, n) => `${n}`),
    ]);
  });

  it('rule 3: refusals that wait for a pending commit are answered with it', () => {
    queue.storeHeld = true;
    queue.produce('p', 'a', 'x');
    expect(queue.produceFrames('p', ['b', ''])).toEqual([]);
    expect(queue.answerStore(1)).toEqual([
      '-> p "a" 1',
      '-> p "b" 0 Trying to save empty message',
      'note message-refused no-body p',
    ]);
    expect(queue.asked).toEqual([]);
  });
});

describe('rule 4: a producer that does not read', () => {
  it('rule 4: has its further messages dropped, neither stored nor answered, at producerAckMax', () => {
    expect(queue.produceFrames('p', ['a', '', 'x'], 49)).toEqual(['-> p "a" 1']);
    expect(queue.produceFrames('p', ['b', '', 'x'], 50)).toEqual(['note message-dropped producer-stalled receive p']);
    expect(queue.produceFrames('q', ['c', '', 'x'])).toEqual(['-> q "c" 1']);
    expect([bodies().length, queue.dropped]).toEqual([2, { 'producer-stalled': 1 }]);
  });

  it('rule 4: messages waiting for their commit count as well', () => {
    queue.storeHeld = true;
    for (let i = 0; i < 60; i++) queue.produceFrames('p', [`${i}`, '', 'x'], 20);
    expect([queue.stats.producerAcksPending, queue.dropped]).toEqual([30, { 'producer-stalled': 30 }]);
  });

  it('rule 4: ids are bounded in bytes', () => {
    const id = 'i'.repeat(900);
    expect(queue.produceFrames('p', [id, '', 'x'], 9)).toHaveLength(1);
    expect(queue.produceFrames('p', [id, '', 'x'], 12)).toEqual(['note message-dropped producer-stalled receive p']);
    expect(queue.produceFrames('q', ['i'.repeat(20_000), '', 'x'])).toHaveLength(1);
  });

  it('rule 4: an answer to a vanished producer is counted; the message stays', () => {
    queue.produce('p', 'a', 'x');
    const lost = queue.step({ kind: 'ack-undeliverable', peer: peerNamed('p'), reason: 'unreachable' });
    expect(lost).toEqual(['note ack-undeliverable unreachable p']);
    queue.step({ kind: 'ack-undeliverable', peer: peerNamed('p'), reason: 'unreachable', others: 7 });
    expect([queue.stats.messages, queue.dropped]).toEqual([1, { 'ack-undeliverable': 9 }]);
  });
});

describe('rules 5 and 18: limits', () => {
  const refused = (lines: string[]) => lines.filter((line) => line.startsWith('->'));

  it('rules 5 and 18: more messages than maxMessages are refused until some are gone', () => {
    queue = new QueueUnderTest({ maxMessages: 2 });
    for (const id of ['a', 'b']) queue.produce('p', id, 'x');
    expect(refused(queue.produce('p', 'c', 'x'))).toEqual(['-> p "c" 0 Queue is full (messages)']);
    queue.accept(1);
    expect(refused(queue.produce('p', 'd', 'x'))).toEqual(['-> p "d" 0 Queue is full (messages)']);
    queue.ack(1);
    expect(queue.produce('p', 'e', 'x')).toEqual(['-> p "e" 1']);
  });

  it('rule 18: messages that wait for their commit count, too', () => {
    queue = new QueueUnderTest({ maxMessages: 2 });
    queue.storeHeld = true;
    for (const id of ['a', 'b', 'c']) queue.produce('p', id, 'x');
    queue.answerStore();
    queue.answerStore();
    expect([queue.store.rows.size, queue.dropped]).toEqual([2, { 'queue-full-messages': 1 }]);
  });

  it('rules 5 and 18: more bytes than maxBytes are refused', () => {
    queue = new QueueUnderTest({ maxBytes: 10 });
    expect(queue.produce('p', 'a', '12345678')).toEqual(['-> p "a" 1']);
    expect(refused(queue.produce('p', 'b', '123'))).toEqual(['-> p "b" 0 Queue is full (bytes)']);
    expect(queue.produce('p', 'c', '12')).toEqual(['-> p "c" 1']);
  });

  it('rules 5 and 18: a message that is too large or has too many parts is refused', () => {
    expect(refused(queue.produce('p', 'a', 'x'.repeat(1001)))).toEqual(['-> p "a" 0 Message is too large']);
    expect(queue.produce('p', 'b', 'x'.repeat(1000))).toEqual(['-> p "b" 1']);
    const parts = Array.from({ length: 11 }, () => '');
    expect(refused(queue.produce('p', 'c', ...parts))).toEqual(['-> p "c" 0 Too many message parts']);
    expect(queue.produce('p', 'd', ...parts.slice(1))).toEqual(['-> p "d" 1']);
  });

  it('rule 18: messages waiting for a commit are bounded in number and bytes', () => {
    queue = new QueueUnderTest({ intakeMax: 3 });
    queue.storeHeld = true;
    for (const id of ['a', 'b', 'c', 'd']) queue.produce(id, id, 'x');
    expect(queue.dropped).toEqual({ 'queue-full-messages': 1 });
    queue = new QueueUnderTest({ intakeMaxBytes: 1000 });
    queue.storeHeld = true;
    for (const id of ['a', 'b', 'c']) queue.produce(id, id, 'x'.repeat(400));
    expect(queue.dropped).toEqual({ 'queue-full-bytes': 1 });
  });

  it('rule 5: one note per reason and producer a minute; counters count every refusal', () => {
    queue = new QueueUnderTest({ maxMessages: 1 });
    queue.produce('p', 'a', 'x');
    expect(queue.produce('p', 'b', 'x')).toContain('note message-refused queue-full-messages p');
    expect(queue.produce('p', 'c', 'x')).toEqual(['-> p "c" 0 Queue is full (messages)']);
    expect(queue.stats.counters).toMatchObject({ refused: 2, notesWithheld: 1 });
  });
});

describe('rule 6: deduplication', () => {
  it('rule 6: is off by default', () => {
    queue.produce('p', 'a', 'x');
    queue.produce('p', 'a', 'x');
    expect(queue.store.rows.size).toBe(2);
  });

  it('rule 6: acknowledges an id seen within the window without a second copy', () => {
    queue = new QueueUnderTest({ dedupeWindowMs: 500 });
    expect(queue.produce('p', 'a', 'x')).toEqual(['-> p "a" 1']);
    expect(queue.produce('q', 'a', 'x')).toEqual(['-> q "a" 1']);
    expect([queue.store.rows.size, queue.stats.counters]).toMatchObject([1, { stored: 1, deduplicated: 1 }]);
    queue.advance(500);
    queue.produce('p', 'a', 'x');
    expect(queue.store.rows.size).toBe(2);
  });

  it('rule 6: survives a restart', () => {
    queue = new QueueUnderTest({ dedupeWindowMs: 500 });
    queue.produce('p', 'a', 'x');
    queue.restart();
    queue.produce('p', 'a', 'x');
    expect(queue.store.rows.size).toBe(1);
  });

  it('rule 6: never applies to an empty id', () => {
    queue = new QueueUnderTest({ dedupeWindowMs: 500 });
    for (let i = 0; i < 2; i++) queue.produce('p', '', 'x');
    expect(queue.store.rows.size).toBe(2);
  });

  it('rule 6: a second copy waits for the outcome of the first', () => {
    queue = new QueueUnderTest({ dedupeWindowMs: 500 });
    queue.storeHeld = true;
    queue.produce('p', 'a', 'x');
    expect(queue.produce('p', 'a', 'x')).toEqual([]);
    queue.store.failing = 'ENOSPC';
    expect(queue.answerStore().filter((line) => line.startsWith('->'))).toEqual([
      '-> p "a" 0 Store is unavailable: ENOSPC',
      '-> p "a" 0 Store is unavailable: ENOSPC',
    ]);
  });
});

describe('rule 7: producers take turns', () => {
  const stored = (lines: readonly string[]) => lines.filter((line) => line.endsWith(' 1'));

  it('rule 7: one with many waiting messages delays another by one commit', () => {
    queue.storeHeld = true;
    for (let n = 0; n < 40; n++) queue.produce('flood', `${n}`, 'x');
    queue.produce('p', 'first', 'x');
    queue.produce('p', 'second', 'x');
    queue.answerStore(1);
    expect(stored(queue.answerStore(1))).toEqual([
      '-> flood "1" 1',
      '-> p "first" 1',
      '-> flood "2" 1',
      '-> p "second" 1',
      '-> flood "3" 1',
    ]);
  });

  it('rule 7: while several send, none has more than a quarter of a commit', () => {
    const ids = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}`);
    const commit = () => stored(queue.answerStore(1)).map((line) => line.split('"')[1]);
    queue = new QueueUnderTest({ batchMax: 12, windowMax: 1000 });
    queue.storeHeld = true;
    for (const id of ids(60, 'f')) queue.produce('flood', id, 'x');
    expect(commit()).toEqual(['f0']);
    // One alone has all of it.
    expect(commit()).toEqual(ids(13, 'f').slice(1));
    for (const name of ['p', 'q', 'r', 's']) queue.produce(name, name, 'x');
    expect(commit()).toHaveLength(12);
    expect(commit()).toEqual(['f25', 'p', 'q', 'r', 's', 'f26', 'f27']);
    // The next one is assembled when this one is answered.
    queue.now += 999;
    expect(commit()).toEqual(['f28', 'f29', 'f30']);
    queue.now += 1;
    expect(commit()).toEqual(['f31', 'f32', 'f33']);
    expect(commit()).toEqual(ids(46, 'f').slice(34));
  });

  it('rule 7: a turn for which a commit had no room is the first of the next', () => {
    queue = new QueueUnderTest({ batchMax: 1 });
    queue.storeHeld = true;
    for (const id of ['a', 'b', 'c']) queue.produce('p', id, 'x');
    for (const id of ['d', 'e']) queue.produce('q', id, 'x');
    const order = Array.from({ length: 5 }, () => stored(queue.answerStore(1))[0]?.split('"')[1]);
    expect(order).toEqual(['a', 'b', 'd', 'c', 'e']);
  });

  it('rule 18: a producer with as many waiting as there is room left is refused, and others are not', () => {
    queue = new QueueUnderTest({ intakeMax: 40 });
    queue.storeHeld = true;
    for (let n = 0; n < 30; n++) queue.produce('flood', `${n}`, 'x');
    for (let n = 0; n < 20; n++) queue.produce('second', `${n}`, 'x');
    queue.produce('p', 'a', 'x');
    queue.storeHeld = false;
    queue.answerStore();
    expect([queue.dropped, queue.stats.counters.stored]).toEqual([{ 'queue-full-messages': 20 }, 31]);
  });

  it('rule 18: a producer has no more waiting than producerIntakeMax, and others go on', () => {
    queue = new QueueUnderTest({ producerIntakeMax: 5 });
    queue.storeHeld = true;
    for (let n = 0; n < 8; n++) queue.produce('flood', `${n}`, 'x');
    queue.produce('p', 'a', 'x');
    queue.storeHeld = false;
    queue.answerStore();
    expect([queue.dropped, queue.stats.counters.stored]).toEqual([{ 'queue-full-messages': 3 }, 6]);
  });

  it('rule 18: the same for bytes', () => {
    queue = new QueueUnderTest({ intakeMaxBytes: 1000 });
    queue.storeHeld = true;
    for (let n = 0; n < 10; n++) queue.produce('flood', `${n}`, 'x'.repeat(100));
    queue.produce('p', 'a', 'x'.repeat(400));
    queue.storeHeld = false;
    queue.answerStore();
    expect([queue.dropped, queue.stats.counters.stored]).toEqual([{ 'queue-full-bytes': 5 }, 6]);
  });

  it('rule 4: waiting answers are shared the same way', () => {
    queue = new QueueUnderTest({ intakeMax: 20, producerAckMax: 1000 });
    queue.storeHeld = true;
    queue.produce('flood', 'first', 'x');
    for (let n = 0; n < 60; n++) queue.produceFrames('flood', [`${n}`, '']);
    expect(queue.dropped).toEqual({ 'producer-stalled': 41 });
    queue.produce('p', 'a', 'x');
    expect([queue.dropped, queue.stats.producerAcksPending]).toEqual([{ 'producer-stalled': 41 }, 21]);
  });
});

it('rule 27: the key of a delivery contains the time of storing, the epoch and the sequence', () => {
  queue.now = 5;
  queue.produce('p', 'a', 'x');
  queue.now = 50;
  queue.block();
  queue.advance(50);
  queue.accept(1);
  const { key, sentMicros, ackTimeoutMicros } = queue.deliveries[0]!.command;
  expect(decodePzqKey(key)).toEqual({ storedMicros: EPOCH_MICROS + 5000, epoch: queue.store.epoch, seq: 1 });
  expect([sentMicros, ackTimeoutMicros]).toEqual([EPOCH_MICROS + 55_000, 1_000_000]);
});
