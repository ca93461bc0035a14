/** Commits survive a reopen, a crash, and writes that failed. */
import { readTranscript } from './killed.js';
import { ALL, check, equal, message, NOW, numbered, rejects, seqsOf, textOf } from './rig.js';
import type { StoreCapabilities } from './rig.js';
import type { Cases } from './suite.js';

export const DURABILITY: Partial<Record<keyof StoreCapabilities, Cases>> = {
  durable: {
    async 'finds everything again after a reopen'(rig) {
      const place = await rig.place();
      const first = await rig.store(place);
      const dedupe = { id: Buffer.from('id'), untilMicros: NOW + 1000 };
      const { seqs } = await first.commit({
        puts: [
          message('gone'),
          message('counted'),
          message('dead'),
          message('expiring', { expiresMicros: NOW + 30, dedupe }),
        ],
      });
      const [gone = 0, counted = 0, dead = 0, expiring = 0] = seqs;
      const { counts } = await first.commit({
        removes: [{ seq: gone, storedMicros: NOW }],
        deliveries: [{ seq: counted, deliveries: 2 }],
        buries: [{ seq: dead, reason: 'max-deliveries', diedMicros: NOW + 1 }],
      });
      const second = await rig.again(place, first);
      equal(second.opened.epoch, first.opened.epoch, 'epoch');
      equal({ ...second.opened.counts, storeBytes: 0 }, { ...counts, storeBytes: 0 }, 'counts');
      check(second.opened.lastSeq >= expiring, `the last sequence is ${second.opened.lastSeq}`);
      equal(
        (await second.ready()).map(({ seq, deliveries, expiresMicros }) => [seq, deliveries, expiresMicros]),
        [
          [counted, 2, 0],
          [expiring, 0, NOW + 30],
        ],
        'messages',
      );
      equal(
        (await second.store.dead(0, ALL, ALL)).map(({ seq, reason, diedMicros }) => [seq, reason, diedMicros]),
        [[dead, 'max-deliveries', NOW + 1]],
        'dead letters',
      );
      equal((await second.commit({ puts: [message('again', { dedupe })] })).seqs, [0], 'sequence of a known id');
    },
    async 'never gives a sequence twice, and keeps its epoch, when it was emptied before a reopen'(rig) {
      const place = await rig.place();
      const first = await rig.store(place);
      const seqs = await first.put(...numbered(10));
      await first.remove(...seqs);
      const second = await rig.again(place, first);
      equal([second.opened.epoch, second.opened.counts.messages], [first.opened.epoch, 0], 'what open says');
      const [seq = 0] = await second.put('new');
      check(seq > Math.max(...seqs), `sequence ${seq} was given before`);
    },
    async 'has another epoch at another place'(rig) {
      const [one, other] = [await rig.store(), await rig.store()];
      check(one.opened.epoch !== other.opened.epoch, 'the epochs are the same');
    },
    async 'keeps 100,000 messages over a reopen'(rig) {
      const place = await rig.place();
      const first = await rig.store(place);
      const total = 100_000;
      const texts = numbered(5000);
      for (let done = 0; done < total; done += texts.length) await first.put(...texts);
      const second = await rig.again(place, first);
      equal(second.opened.counts.messages, total, 'messages');
      let [after, found] = [0, 0];
      for (let more = true; more;) {
        const messages = await second.store.scan(after, 10_000, ALL);
        for (const { seq } of messages) {
          check(seq > after, `${seq} follows ${after}`);
          after = seq;
        }
        found += messages.length;
        more = messages.length > 0;
      }
      equal(found, total, 'messages found');
    },
  },
  moments: {
    async 'finds delayed messages and their moments again after a reopen'(rig) {
      const place = await rig.place();
      const first = await rig.store(place);
      const seq = await first.putOne({ readyMicros: NOW + 10, expiresMicros: NOW + 30 });
      const { capabilities } = rig;
      const second = capabilities.durable ? await rig.again(place, first) : first;
      equal([(await second.ready()).length, (await second.store.due(NOW + 9, ALL)).ready.length], [0, 0], 'early');
      equal(seqsOf((await second.store.due(NOW + 10, ALL)).ready), [seq], 'ready');
      equal(seqsOf((await second.store.due(NOW + 30, ALL)).expired), [seq], 'expired');
    },
  },
  killable: {
    async 'keeps what was committed when the process is killed, forgets what was removed, and holds batches whole or not at all'(
      rig,
    ) {
      const place = await rig.place();
      const { kept, removed, inDoubt, untold, puts } = readTranscript((await place.killWriter?.()) ?? []);
      check(kept.length > 0 && removed.length > 0, 'the writer was killed before it had done anything');
      const { store, opened } = await rig.store(place);
      const messages = await store.scan(0, ALL, ALL);
      const found = new Set(seqsOf(messages));
      const isThere = (seq: number): boolean => found.has(seq);
      const isGone = (seq: number): boolean => !found.has(seq);
      equal(opened.counts.messages, messages.length, 'count of messages');
      equal(kept.filter(isGone), [], 'lost');
      equal(removed.filter(isThere), [], 'back from the dead');
      const last = messages.filter((one) => textOf(one) === untold).length;
      check(last === 0 || last === puts, `${last} of ${puts} messages of the last batch are there`);
      equal(inDoubt.filter(last === 0 ? isGone : isThere), [], 'half of the last batch');
    },
  },
  exclusive: {
    async 'is refused to a second one while it is open, naming the holder, and free after close'(rig) {
      const place = await rig.place();
      const first = await rig.store(place);
      await first.put('one');
      const { message: text } = await rejects(rig.bare(place).open(), 'UNAVAILABLE');
      check(text.includes(process.pid.toString()), `"${text}" does not name the process`);
      await first.put('two');
      equal(await first.texts(), ['one', 'two'], 'contents');
      const second = await rig.again(place, first);
      equal(await second.texts(), ['one', 'two'], 'contents for the second');
    },
  },
  breakable: {
    async 'rejects a commit that cannot be written with WRITE_FAILED and its code, is as before, and writes again later'(
      rig,
    ) {
      const place = await rig.place();
      const queue = await rig.store(place);
      const [first = 0, second = 0] = await queue.put('first', 'second');
      const heal = await place.breakWrites?.();
      const large = message('', { body: [Buffer.alloc(8 * 2 ** 20, 7)] });
      const failing = queue.commit({
        puts: [large, message('small')],
        removes: [{ seq: first, storedMicros: NOW }],
        buries: [{ seq: second, reason: 'expired', diedMicros: NOW }],
      });
      const { details } = await rejects(failing, 'WRITE_FAILED');
      check(typeof (details as { code?: unknown }).code === 'string', 'there is no code');
      equal(await queue.texts(), ['first', 'second'], 'contents while writes fail');
      equal(await queue.store.dead(0, ALL, ALL), [], 'dead letters while writes fail');
      await heal?.();
      await queue.store.probe();
      const { counts } = await queue.commit({
        puts: [message('third')],
        removes: [{ seq: first, storedMicros: NOW }],
      });
      equal([counts.messages, counts.bytes, counts.dead], [2, 11, 0], 'counts');
      equal(await queue.texts(), ['second', 'third'], 'contents afterwards');
    },
  },
};
