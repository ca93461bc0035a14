/** What goes in comes out: order, bodies, removals, counts, ids and dead letters. */
import { ALL, check, equal, message, NOW, numbered, rejects, seqsOf } from './rig.js';
import type { CaseDefinition } from './suite.js';

const MIB = 2 ** 20;
const NOTHING = { messages: 0, bytes: 0, delayed: 0, dead: 0 };

/** Bodies that a careless store would join, cut, or lose. */
function bodies(): readonly (readonly Uint8Array[])[] {
  const allBytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  // The period is prime: a shifted copy is another one.
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

export const CONTENTS: readonly CaseDefinition[] = [
  {
    name: 'is empty at first, with an epoch of 60 bits',
    async run(rig) {
      const { opened } = await rig.store();
      const { storeBytes, nextDueMicros, ...sizes } = opened.counts;
      equal([opened.lastSeq, sizes, nextDueMicros], [0, NOTHING, Infinity], 'what open says');
      check(storeBytes >= 0, 'the size is negative');
      check(opened.epoch >= 0n && opened.epoch < 1n << 60n, `epoch ${opened.epoch.toString(16)}`);
    },
  },
  {
    name: 'gives ascending sequences in the order of the puts, and scans in that order',
    async run(rig) {
      const station = await rig.store();
      const texts = numbered(1000);
      const seqs: number[] = [];
      for (let at = 0; at < texts.length; at += 250) seqs.push(...(await station.put(...texts.slice(at, at + 250))));
      check((seqs[0] ?? 0) >= 1, `the first sequence is ${String(seqs[0])}`);
      check(
        seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? seq)),
        'the sequences do not ascend',
      );
      equal(seqsOf(await station.ready()), seqs, 'sequences');
      equal(await station.texts(), texts, 'order');
    },
  },
  {
    name: 'scans behind a sequence, no more than was asked for and one at least',
    async run(rig) {
      const station = await rig.store();
      const seqs = await station.put(...numbered(10).map((text) => text.repeat(100)));
      const scan = async (after: number, limit: number, maxBytes: number) =>
        seqsOf(await station.store.scan(after, limit, maxBytes));
      equal(await scan(0, 4, ALL), seqs.slice(0, 4), 'the first four');
      equal(await scan(seqs[3] ?? 0, ALL, ALL), seqs.slice(4), 'the rest');
      equal(await scan(seqs[9] ?? 0, ALL, ALL), [], 'behind the last');
      equal(await scan(0, ALL, 350), seqs.slice(0, 3), 'those of 350 bytes');
      equal(await scan(0, ALL, 1), seqs.slice(0, 1), 'those of one byte');
    },
  },
  {
    name: 'keeps bodies as they were: blank frames, any bytes, a thousand frames, 16 MiB',
    async run(rig) {
      const station = await rig.store();
      await station.commit({ puts: bodies().map((body) => message('', { body })) });
      const stored = await station.ready();
      for (const [index, body] of bodies().entries()) {
        const bytes = body.reduce((sum, { length }) => sum + length, 0);
        check(same(body, stored[index]?.body), `body ${index} is another one`);
        equal(stored[index]?.bytes, bytes, `bytes of body ${index}`);
      }
    },
  },
  {
    name: 'tells of a message when it was stored and when it expires',
    async run(rig) {
      const station = await rig.store();
      const seq = await station.putOne({ storedMicros: NOW + 7, expiresMicros: NOW + 9e9 });
      const { body: _body, ...told } = (await station.ready())[0] ?? { body: [] };
      const expected = { seq, storedMicros: NOW + 7, bytes: 3, deliveries: 0, expiresMicros: NOW + 9e9 };
      equal(Object.entries(told).sort(), Object.entries(expected).sort(), 'message');
    },
  },
  {
    name: 'removes in any order, twice without harm, and says which were there',
    async run(rig) {
      const station = await rig.store();
      const seqs = await station.put(...numbered(6));
      const [zero = 0, one = 0, , three = 0, , five = 0] = seqs;
      equal((await station.remove(five, one, one)).removed, [true, true, false], 'first removals');
      equal((await station.remove(one, three, five + 1000)).removed, [false, true, false], 'second removals');
      equal(await station.texts(), ['0', '2', '4'], 'left');
      equal((await station.remove(zero)).removed, [true], 'third removal');
      equal(await station.texts(), ['2', '4'], 'left after it');
    },
  },
  {
    name: 'removes nothing for a key of another message: the time of storing must fit',
    async run(rig) {
      const station = await rig.store();
      const seq = await station.putOne({});
      const { removed } = await station.commit({ removes: [{ seq, storedMicros: NOW + 1 }] });
      equal([removed, (await station.ready()).length], [[false], 1], 'removed');
    },
  },
  {
    name: 'counts messages, bytes and dead letters',
    async run(rig) {
      const station = await rig.store();
      const { seqs, counts } = await station.commit({ puts: ['a', 'bb', 'ccc'].map((text) => message(text)) });
      const [first = 0, second = 0] = seqs;
      equal([counts.messages, counts.bytes, counts.dead], [3, 6, 0], 'after three puts');
      const removed = await station.remove(first, first);
      equal([removed.counts.messages, removed.counts.bytes], [2, 5], 'after a removal');
      const buried = await station.commit({ buries: [{ seq: second, reason: 'expired', diedMicros: NOW }] });
      equal([buried.counts.messages, buried.counts.bytes, buried.counts.dead], [1, 3, 1], 'after a burial');
    },
  },
  {
    name: 'performs all fields of a batch, in their order',
    async run(rig) {
      const station = await rig.store();
      const [removed = 0, counted = 0, buried = 0] = await station.put('removed', 'counted', 'buried');
      const { seqs } = await station.commit({
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
      const left = await station.ready();
      equal(
        left.map(({ seq, deliveries }) => [seq, deliveries]),
        [
          [counted, 2],
          [seqs[0], 0],
        ],
        'left',
      );
      const dead = await station.store.dead(0, ALL, ALL);
      equal(
        dead.map(({ seq, deliveries, reason, diedMicros }) => [seq, deliveries, reason, diedMicros]),
        [[buried, 3, 'max-deliveries', NOW + 5]],
        'dead letters',
      );
    },
  },
  {
    name: 'buries and revives in one batch as in two',
    async run(rig) {
      const station = await rig.store();
      const [seq = 0, other = 0] = await station.put('one', 'other');
      const { counts } = await station.commit({
        deliveries: [{ seq, deliveries: 9 }],
        buries: [seq, other].map((one) => ({ seq: one, reason: 'max-deliveries', diedMicros: NOW })),
        revives: [seq],
      });
      equal([counts.messages, counts.bytes, counts.dead], [1, 3, 1], 'counts');
      equal(
        (await station.ready()).map((one) => [one.seq, one.deliveries]),
        [[seq, 0]],
        'ready',
      );
    },
  },
  {
    name: 'remembers counts of deliveries until the message is gone',
    async run(rig) {
      const station = await rig.store();
      const [seq = 0, other = 0] = await station.put('one', 'other');
      await station.commit({ deliveries: [{ seq, deliveries: 1 }] });
      await station.commit({ deliveries: [{ seq, deliveries: 4_000_000_000 }] });
      equal(
        (await station.ready()).map(({ deliveries }) => deliveries),
        [4_000_000_000, 0],
        'counts',
      );
      await station.remove(seq);
      await station.commit({ deliveries: [{ seq, deliveries: 5 }] });
      equal(seqsOf(await station.ready()), [other], 'left');
    },
  },
  {
    name: 'keeps dead letters apart, and revives them in their old places with nothing counted and no expiry',
    async run(rig) {
      const station = await rig.store();
      const seqs = await station.put('0', '1', '2', '3');
      const expiring = await station.putOne({ expiresMicros: NOW + 1e9 });
      const [zero = 0, one = 0, two = 0] = seqs;
      await station.commit({
        deliveries: [{ seq: one, deliveries: 3 }],
        buries: [one, two, expiring].map((seq) => ({ seq, reason: 'max-deliveries', diedMicros: NOW })),
      });
      const dead = async (after: number, limit: number, maxBytes = ALL) =>
        (await station.store.dead(after, limit, maxBytes)).map(({ seq }) => seq);
      equal(await dead(0, ALL), [one, two, expiring], 'dead letters');
      equal(await dead(one, 1), [two], 'the second');
      equal(await dead(0, ALL, 1), [one], 'those of one byte');
      equal(await station.texts(), ['0', '3'], 'ready');
      const { counts } = await station.commit({ revives: [two, one, expiring, zero, 10_000] });
      equal([counts.messages, counts.dead, counts.nextDueMicros], [5, 0, Infinity], 'counts');
      equal(
        (await station.ready()).map(({ seq, deliveries, expiresMicros }) => [seq, deliveries, expiresMicros]),
        [...seqs, expiring].map((seq) => [seq, 0, 0]),
        'revived',
      );
    },
  },
  {
    name: 'removes dead letters too',
    async run(rig) {
      const station = await rig.store();
      const seq = await station.putOne({});
      await station.commit({ buries: [{ seq, reason: 'expired', diedMicros: NOW }] });
      const { removed, counts } = await station.remove(seq);
      equal([removed, counts.dead, counts.messages, counts.bytes], [[true], 0, 0, 0], 'removal');
      equal(await station.store.dead(0, ALL, ALL), [], 'dead letters');
    },
  },
  {
    name: 'stores an id once within its window: in one batch, in another, and when the message is gone',
    async run(rig) {
      const station = await rig.store();
      const put = (text: string, id: string, atMicros: number) =>
        message(text, {
          storedMicros: atMicros,
          dedupe: { id: Buffer.from(id, 'latin1'), untilMicros: atMicros + 1000 },
        });
      const seen = async (...puts: ReturnType<typeof put>[]) =>
        (await station.commit({ puts })).seqs.map((seq) => seq > 0);
      equal(
        await seen(put('a', '\0\xff', NOW), put('b', '\0\xff', NOW), put('c', '\0', NOW)),
        [true, false, true],
        '1',
      );
      equal(await seen(put('d', '\0\xff', NOW + 999), message('e'), message('f')), [false, true, true], '2');
      const [first] = await station.ready();
      await station.remove(first?.seq ?? 0);
      equal(await seen(put('g', '\0\xff', NOW + 999)), [false], '3: after the removal');
      equal(await seen(put('h', '\0\xff', NOW + 1000)), [true], '4: after the window');
      equal(await seen(put('i', '\0\xff', NOW + 1999), put('j', 'x'.repeat(255), NOW)), [false, true], '5');
      equal(await station.texts(), ['c', 'e', 'f', 'h', 'j'], 'stored');
    },
  },
  {
    name: 'can be probed',
    async run(rig) {
      const station = await rig.store();
      await station.put('one');
      await station.store.probe();
      equal(await station.texts(), ['one'], 'contents');
    },
  },
  {
    name: 'says CLOSED before open and after close, which may be called twice',
    async run(rig) {
      const place = await rig.place();
      await rejects(rig.bare(place).scan(0, 1, 1), 'CLOSED');
      const station = await rig.store(place);
      await station.store.close();
      await station.store.close();
      await rejects(station.put('late'), 'CLOSED');
      await rejects(station.ready(), 'CLOSED');
      await rejects(station.store.dead(0, 1, 1), 'CLOSED');
      await rejects(station.store.due(NOW, 1), 'CLOSED');
      await rejects(station.store.probe(), 'CLOSED');
    },
  },
  {
    name: 'finishes the commit under way when it is closed',
    async run(rig) {
      const station = await rig.store();
      const commit = station.put(...numbered(100));
      await station.store.close();
      equal((await commit).length, 100, 'sequences');
    },
  },
  {
    name: 'reads while a commit is under way: all of it or nothing',
    async run(rig) {
      const station = await rig.store();
      await station.put('before');
      const commit = station.put(...numbered(500));
      const during = await station.ready();
      check([1, 501].includes(during.length), `read ${during.length} messages`);
      await commit;
      equal((await station.ready()).length, 501, 'messages afterwards');
      equal((await station.texts())[0], 'before', 'first');
    },
  },
];
