/** Stored data comes back unchanged: order, bodies, removals, counts, ids and dead letters. */
import { ALL, check, equal, message, NOW, numbered, rejects, seqsOf } from './rig.js';
import type { Cases } from './suite.js';

const MIB = 2 ** 20;
const NOTHING = { messages: 0, bytes: 0, delayed: 0, dead: 0 };

/** Bodies that a careless store would join, cut, or lose. */
function bodies(): readonly (readonly Uint8Array[])[] {
  const allBytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  // The period is prime, so a shifted copy differs.
  const large = Buffer.alloc(16 * MIB, allBytes.subarray(0, 251));
  const blank = new Uint8Array(0);
  return [
    [blank],
    [blank, blank, allBytes, blank],
    [allBytes, allBytes.subarray(128), allBytes.subarray(0, 129)],
    numbered(1024).map((text) => Buffer.from(text)),
    [large],
    [large.subarray(1, 5000), blank, large.subarray(7)],
  ];
}

function same(a: readonly Uint8Array[], b: readonly Uint8Array[] = []): boolean {
  return a.length === b.length && a.every((frame, index) => Buffer.compare(frame, b[index] ?? Buffer.alloc(0)) === 0);
}

export const CONTENTS: Cases = {
  async 'is empty at first, with an epoch of 60 bits'(rig) {
    const { opened } = await rig.store();
    const { storeBytes, nextDueMicros, ...sizes } = opened.counts;
    equal([opened.lastSeq, sizes, nextDueMicros], [0, NOTHING, Infinity], 'what open says');
    check(storeBytes >= 0, 'the size is negative');
    check(opened.epoch >= 0n && opened.epoch < 1n << 60n, `epoch ${opened.epoch.toString(16)}`);
  },
  async 'gives ascending sequences in the order of the puts, and scans in that order'(rig) {
    const queue = await rig.store();
    const texts = numbered(1000);
    const seqs: number[] = [];
    for (let at = 0; at < texts.length; at += 250) seqs.push(...(await queue.put(...texts.slice(at, at + 250))));
    check((seqs[0] ?? 0) >= 1, `the first sequence is ${String(seqs[0])}`);
    check(
      seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? seq)),
      'the sequences do not ascend',
    );
    equal(seqsOf(await queue.ready()), seqs, 'sequences');
    equal(await queue.texts(), texts, 'order');
  },
  async 'scans behind a sequence, no more than was asked for and one at least'(rig) {
    const queue = await rig.store();
    const seqs = await queue.put(...numbered(10).map((text) => text.repeat(100)));
    const scan = async (after: number, limit: number, maxBytes: number) =>
      seqsOf(await queue.store.scan(after, limit, maxBytes));
    equal(await scan(0, 4, ALL), seqs.slice(0, 4), 'the first four');
    equal(await scan(seqs[3] ?? 0, ALL, ALL), seqs.slice(4), 'the rest');
    equal(await scan(seqs[9] ?? 0, ALL, ALL), [], 'behind the last');
    equal(await scan(0, ALL, 350), seqs.slice(0, 3), 'those of 350 bytes');
    equal(await scan(0, ALL, 1), seqs.slice(0, 1), 'those of one byte');
  },
  async 'keeps bodies as they were: blank frames, any bytes, a thousand frames, 16 MiB'(rig) {
    const queue = await rig.store();
    await queue.commit({ puts: bodies().map((body) => message('', { body })) });
    const stored = await queue.ready();
    for (const [index, body] of bodies().entries()) {
      const bytes = body.reduce((sum, { length }) => sum + length, 0);
      check(same(body, stored[index]?.body), `body ${index} is another one`);
      equal(stored[index]?.bytes, bytes, `bytes of body ${index}`);
    }
  },
  async 'tells of a message when it was stored and when it expires'(rig) {
    const queue = await rig.store();
    const seq = await queue.putOne({ storedMicros: NOW + 7, expiresMicros: NOW + 9e9 });
    const { body: _body, ...told } = (await queue.ready())[0] ?? { body: [] };
    const expected = { seq, storedMicros: NOW + 7, bytes: 3, deliveries: 0, expiresMicros: NOW + 9e9 };
    equal(Object.entries(told).sort(), Object.entries(expected).sort(), 'message');
  },
  async 'removes in any order, twice without harm, and says which were there'(rig) {
    const queue = await rig.store();
    const seqs = await queue.put(...numbered(6));
    const [zero = 0, one = 0, , three = 0, , five = 0] = seqs;
    equal((await queue.remove(five, one, one)).removed, [true, true, false], 'first removals');
    equal((await queue.remove(one, three, five + 1000)).removed, [false, true, false], 'second removals');
    equal(await queue.texts(), ['0', '2', '4'], 'left');
    equal((await queue.remove(zero)).removed, [true], 'third removal');
    equal(await queue.texts(), ['2', '4'], 'left after it');
  },
  async 'removes nothing for a key of another message: the time of storing must fit'(rig) {
    const queue = await rig.store();
    const seq = await queue.putOne({});
    const { removed } = await queue.commit({ removes: [{ seq, storedMicros: NOW + 1 }] });
    equal([removed, (await queue.ready()).length], [[false], 1], 'removed');
  },
  async 'counts messages, bytes and dead letters'(rig) {
    const queue = await rig.store();
    const { seqs, counts } = await queue.commit({ puts: ['a', 'bb', 'ccc'].map((text) => message(text)) });
    const [first = 0, second = 0] = seqs;
    equal([counts.messages, counts.bytes, counts.dead], [3, 6, 0], 'after three puts');
    const removed = await queue.remove(first, first);
    equal([removed.counts.messages, removed.counts.bytes], [2, 5], 'after a removal');
    const buried = await queue.commit({ buries: [{ seq: second, reason: 'expired', diedMicros: NOW }] });
    equal([buried.counts.messages, buried.counts.bytes, buried.counts.dead], [1, 3, 1], 'after a burial');
  },
  async 'performs all fields of a batch, in their order'(rig) {
    const queue = await rig.store();
    const [removed = 0, counted = 0, buried = 0] = await queue.put('removed', 'counted', 'buried');
    const { seqs } = await queue.commit({
      puts: [message('new')],
      removes: [{ seq: removed, storedMicros: NOW }],
      deliveries: [
        { seq: removed, deliveries: 5 },
        { seq: counted, deliveries: 2 },
        { seq: buried, deliveries: 3 },
      ],
      buries: [
        { seq: removed, reason: 'expired', diedMicros: NOW },
        { seq: buried, reason: 'max-deliveries', diedMicros: NOW + 5 },
      ],
    });
    const left = await queue.ready();
    equal(
      left.map(({ seq, deliveries }) => [seq, deliveries]),
      [
        [counted, 2],
        [seqs[0], 0],
      ],
      'left',
    );
    const dead = await queue.store.dead(0, ALL, ALL);
    equal(
      dead.map(({ seq, deliveries, reason, diedMicros }) => [seq, deliveries, reason, diedMicros]),
      [[buried, 3, 'max-deliveries', NOW + 5]],
      'dead letters',
    );
  },
  async 'buries and revives in one batch as in two'(rig) {
    const queue = await rig.store();
    const [seq = 0, other = 0] = await queue.put('one', 'other');
    const { counts } = await queue.commit({
      deliveries: [{ seq, deliveries: 9 }],
      buries: [seq, other].map((one) => ({ seq: one, reason: 'max-deliveries', diedMicros: NOW })),
      revives: [seq],
    });
    equal([counts.messages, counts.bytes, counts.dead], [1, 3, 1], 'counts');
    equal(
      (await queue.ready()).map((one) => [one.seq, one.deliveries]),
      [[seq, 0]],
      'ready',
    );
  },
  async 'remembers counts of deliveries until the message is gone'(rig) {
    const queue = await rig.store();
    const [seq = 0, other = 0] = await queue.put('one', 'other');
    await queue.commit({ deliveries: [{ seq, deliveries: 1 }] });
    await queue.commit({ deliveries: [{ seq, deliveries: 4_000_000_000 }] });
    equal(
      (await queue.ready()).map(({ deliveries }) => deliveries),
      [4_000_000_000, 0],
      'counts',
    );
    await queue.remove(seq);
    await queue.commit({ deliveries: [{ seq, deliveries: 5 }] });
    equal(seqsOf(await queue.ready()), [other], 'left');
  },
  async 'keeps dead letters apart, and revives them in their old places with nothing counted and no expiry'(rig) {
    const queue = await rig.store();
    const seqs = await queue.put('0', '1', '2', '3');
    const expiring = await queue.putOne({ expiresMicros: NOW + 1e9 });
    const [zero = 0, one = 0, two = 0] = seqs;
    await queue.commit({
      deliveries: [{ seq: one, deliveries: 3 }],
      buries: [one, two, expiring].map((seq) => ({ seq, reason: 'max-deliveries', diedMicros: NOW })),
    });
    const dead = async (after: number, limit: number, maxBytes = ALL) =>
      (await queue.store.dead(after, limit, maxBytes)).map(({ seq }) => seq);
    equal(await dead(0, ALL), [one, two, expiring], 'dead letters');
    equal(await dead(one, 1), [two], 'the second');
    equal(await dead(0, ALL, 1), [one], 'those of one byte');
    equal(await queue.texts(), ['0', '3'], 'ready');
    const { counts } = await queue.commit({ revives: [two, one, expiring, zero, 10_000] });
    equal([counts.messages, counts.dead, counts.nextDueMicros], [5, 0, Infinity], 'counts');
    equal(
      (await queue.ready()).map(({ seq, deliveries, expiresMicros }) => [seq, deliveries, expiresMicros]),
      [...seqs, expiring].map((seq) => [seq, 0, 0]),
      'revived',
    );
  },
  async 'removes dead letters too'(rig) {
    const queue = await rig.store();
    const seq = await queue.putOne({});
    await queue.commit({ buries: [{ seq, reason: 'expired', diedMicros: NOW }] });
    const { removed, counts } = await queue.remove(seq);
    equal([removed, counts.dead, counts.messages, counts.bytes], [[true], 0, 0, 0], 'removal');
    equal(await queue.store.dead(0, ALL, ALL), [], 'dead letters');
  },
  async 'stores an id once within its window: in one batch, in another, and when the message is gone'(rig) {
    const queue = await rig.store();
    const put = (text: string, id: string, atMicros: number) =>
      message(text, {
        storedMicros: atMicros,
        dedupe: { id: Buffer.from(id, 'latin1'), untilMicros: atMicros + 1000 },
      });
    const seen = async (...puts: ReturnType<typeof put>[]) => (await queue.commit({ puts })).seqs.map((seq) => seq > 0);
    equal(await seen(put('a', '\0\xff', NOW), put('b', '\0\xff', NOW), put('c', '\0', NOW)), [true, false, true], '1');
    equal(await seen(put('d', '\0\xff', NOW + 999), message('e'), message('f')), [false, true, true], '2');
    const [first] = await queue.ready();
    await queue.remove(first?.seq ?? 0);
    equal(await seen(put('g', '\0\xff', NOW + 999)), [false], '3: after the removal');
    equal(await seen(put('h', '\0\xff', NOW + 1000)), [true], '4: after the window');
    equal(await seen(put('i', '\0\xff', NOW + 1999), put('j', 'x'.repeat(255), NOW)), [false, true], '5');
    equal(await queue.texts(), ['c', 'e', 'f', 'h', 'j'], 'stored');
  },
  async 'can be probed'(rig) {
    const queue = await rig.store();
    await queue.put('one');
    await queue.store.probe();
    equal(await queue.texts(), ['one'], 'contents');
  },
  async 'says CLOSED before open and after close, which may be called twice'(rig) {
    const place = await rig.place();
    await rejects(rig.bare(place).scan(0, 1, 1), 'CLOSED');
    const queue = await rig.store(place);
    await queue.store.close();
    await queue.store.close();
    await rejects(queue.put('late'), 'CLOSED');
    await rejects(queue.ready(), 'CLOSED');
    await rejects(queue.store.dead(0, 1, 1), 'CLOSED');
    await rejects(queue.store.due(NOW, 1), 'CLOSED');
    await rejects(queue.store.probe(), 'CLOSED');
  },
  async 'finishes the commit under way when it is closed'(rig) {
    const queue = await rig.store();
    const commit = queue.put(...numbered(100));
    await queue.store.close();
    equal((await commit).length, 100, 'sequences');
  },
  async 'reads while a commit is under way: all of it or nothing'(rig) {
    const queue = await rig.store();
    await queue.put('before');
    const commit = queue.put(...numbered(500));
    const during = await queue.ready();
    check([1, 501].includes(during.length), `read ${during.length} messages`);
    await commit;
    equal((await queue.ready()).length, 501, 'messages afterwards');
    equal((await queue.texts())[0], 'before', 'first');
  },
};
