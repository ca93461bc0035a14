/** Moments: delayed messages and expiries, in a store whose caller handles them. */
import { ALL, equal, message, NOW, seqsOf } from './rig.js';
import type { OpenStore } from './rig.js';
import type { Cases } from './suite.js';

/** What is due, as sequences. */
async function due({ store }: OpenStore, nowMicros: number, limit = ALL) {
  const { ready, expired } = await store.due(nowMicros, limit);
  return { ready: seqsOf(ready), expired: seqsOf(expired) };
}

const NONE = { ready: [], expired: [] };

export const MOMENTS: Cases = {
  async 'holds delayed messages back until their moment has passed, then they take their places by sequence'(rig) {
    const queue = await rig.store();
    const { seqs, counts } = await queue.commit({
      puts: [message('later', { readyMicros: NOW + 20 }), message('now'), message('soon', { readyMicros: NOW + 10 })],
    });
    const [later = 0, now = 0, soon = 0] = seqs;
    equal([counts.messages, counts.delayed, counts.nextDueMicros], [3, 2, NOW + 10], 'counts');
    equal(await queue.texts(), ['now'], 'ready');
    equal(await due(queue, NOW + 9), NONE, 'due early');
    equal(await due(queue, NOW + 10), { ready: [soon], expired: [] }, 'due after 10');
    equal(await due(queue, NOW + 20), { ready: [soon, later], expired: [] }, 'due after 20');
    equal(await due(queue, NOW + 20, 1), { ready: [soon], expired: [] }, 'one of them');
    const passed = await queue.commit({ passed: [later, soon] });
    equal([passed.counts.delayed, passed.counts.nextDueMicros], [0, Infinity], 'counts afterwards');
    equal(seqsOf(await queue.ready()), [later, now, soon], 'ready afterwards');
    equal(await due(queue, ALL), NONE, 'due afterwards');
  },
  async 'tells of a delayed message all that it holds'(rig) {
    const queue = await rig.store();
    await queue.putOne({ readyMicros: NOW + 1, expiresMicros: NOW + 9 });
    const { ready } = await queue.store.due(NOW + 1, ALL);
    equal(
      ready.map(({ body, bytes, deliveries, expiresMicros, storedMicros }) => [
        body.map((frame) => Buffer.from(frame).toString()),
        [bytes, deliveries, expiresMicros, storedMicros],
      ]),
      [[['one'], [3, 0, NOW + 9, NOW]]],
      'message',
    );
  },
  async 'tells what has expired until it is buried, removed or passed; what passed keeps its expiry'(rig) {
    const queue = await rig.store();
    const { seqs, counts } = await queue.commit({
      puts: [3, 1, 2, 4].map((micros) => message('one', { expiresMicros: NOW + micros })),
    });
    const [buried = 0, removed = 0, passed = 0, later = 0] = seqs;
    equal(counts.nextDueMicros, NOW + 1, 'first moment');
    equal(await due(queue, NOW + 3), { ready: [], expired: [removed, passed, buried] }, 'expired');
    const after = await queue.commit({
      removes: [{ seq: removed, storedMicros: NOW }],
      buries: [{ seq: buried, reason: 'expired', diedMicros: NOW + 3 }],
      passed: [passed],
    });
    equal(after.counts.nextDueMicros, NOW + 4, 'next moment');
    equal(await due(queue, NOW + 4), { ready: [], expired: [later] }, 'expired later');
    equal(
      (await queue.ready()).map(({ seq, expiresMicros }) => [seq, expiresMicros - NOW]),
      [
        [passed, 2],
        [later, 4],
      ],
      'left',
    );
  },
  async 'tells a delayed message as expired, and only so, when both moments have come'(rig) {
    const queue = await rig.store();
    const seq = await queue.putOne({ readyMicros: NOW + 5, expiresMicros: NOW + 8 });
    equal(await due(queue, NOW + 7), { ready: [seq], expired: [] }, 'before the expiry');
    equal(await due(queue, NOW + 8), { ready: [], expired: [seq] }, 'at the expiry');
    const { counts } = await queue.commit({ buries: [{ seq, reason: 'expired', diedMicros: NOW + 8 }] });
    equal([counts.messages, counts.delayed, counts.dead, counts.nextDueMicros], [0, 0, 1, Infinity], 'counts');
  },
  async 'forgets the moments of what is removed while it is delayed'(rig) {
    const queue = await rig.store();
    const seq = await queue.putOne({ readyMicros: NOW + 5, expiresMicros: NOW + 5 });
    const { removed, counts } = await queue.remove(seq);
    equal([removed, counts.delayed, counts.bytes, counts.nextDueMicros], [[true], 0, 0, Infinity], 'removal');
    equal(await due(queue, ALL), NONE, 'due');
  },
};
