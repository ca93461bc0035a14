/** Several servers on one store: no message is with two of them. */
import type { SharedLeases } from '../store.js';
import { ALL, equal, message, NOW, numbered, seqsOf, textOf } from './rig.js';
import type { OpenStore } from './rig.js';
import type { Cases } from './suite.js';

/** Longer than any case. */
const LONG_MS = 3_600_000;

function leases({ store }: OpenStore): SharedLeases {
  if (store.leases === undefined) throw new Error('the store has no leases');
  return store.leases;
}

/** Leases up to `limit` messages for a long time; returns their sequences. */
async function take(queue: OpenStore, limit = ALL, leaseMs = LONG_MS): Promise<number[]> {
  return seqsOf(await leases(queue).take(limit, ALL, leaseMs));
}

/** Asks until there is something. */
async function takeLater(queue: OpenStore): Promise<number[]> {
  for (;;) {
    const seqs = await take(queue);
    if (seqs.length > 0) return seqs;
  }
}

const sorted = (seqs: readonly number[]): number[] => [...seqs].sort((a, b) => a - b);

export const LEASES: Cases = {
  async 'lets several servers at one store, with one epoch and joint counts'(rig) {
    const place = await rig.place();
    const [one, other] = [await rig.store(place), await rig.store(place)];
    equal(one.opened.epoch, other.opened.epoch, 'epoch');
    const [first = 0] = await one.put('a', 'bb');
    await other.put('ccc');
    const { counts, removed } = await other.remove(first);
    equal([counts.messages, counts.bytes, removed], [2, 5, [true]], 'counts');
    const buried = await other.commit({
      buries: (await other.ready()).map(({ seq }) => ({ seq, reason: 'expired', diedMicros: NOW })),
    });
    equal([buried.counts.messages, buried.counts.bytes, buried.counts.dead], [0, 0, 2], 'counts afterwards');
  },
  async 'gives what is ready by sequence, no more than was asked for and one at least'(rig) {
    const queue = await rig.store();
    const seqs = await queue.put(...numbered(10).map((text) => text.repeat(100)));
    equal(await take(queue, 3), seqs.slice(0, 3), 'the first three');
    const some = await leases(queue).take(ALL, 250, LONG_MS);
    equal(seqsOf(some), seqs.slice(3, 5), 'those of 250 bytes');
    equal(
      some.map(textOf),
      ['3', '4'].map((text) => text.repeat(100)),
      'bodies',
    );
    equal(seqsOf(await leases(queue).take(ALL, 1, LONG_MS)), seqs.slice(5, 6), 'those of one byte');
    equal(await take(queue), seqs.slice(6), 'the rest');
    equal(await take(queue), [], 'nothing');
  },
  async 'never lets two servers hold one message at once'(rig) {
    const place = await rig.place();
    const servers = await Promise.all(numbered(4).map(() => rig.store(place)));
    const seqs = (await Promise.all(servers.map((server) => server.put(...numbered(500))))).flat();
    const taken: number[] = [];
    await Promise.all(
      servers.map(async (server) => {
        for (let some = [0]; some.length > 0;) taken.push(...(some = await take(server, 16)));
      }),
    );
    // A server skips messages that another one is about to take, so one of them must try again.
    taken.push(...(await take(servers[0] as OpenStore)));
    equal(sorted(taken), sorted(seqs), 'taken');
  },
  async 'gives a message to somebody else when its lease is over, and once more the same way'(rig) {
    const place = await rig.place();
    const [one, other] = [await rig.store(place), await rig.store(place)];
    const [seq] = await one.put('one');
    equal(await take(one, ALL, 50), [seq], 'taken');
    equal(await takeLater(other), [seq], 'taken by the other');
    equal(await take(one), [], 'left');
  },
  async 'gives back what is released, in its old place, to anybody'(rig) {
    const place = await rig.place();
    const [one, other] = [await rig.store(place), await rig.store(place)];
    const seqs = await one.put('0', '1', '2', '3');
    const [first = 0, second = 0] = seqs;
    equal(await take(one, 3), seqs.slice(0, 3), 'taken');
    await leases(one).release([second, first, 10_000], 0);
    equal(await take(other), [first, second, seqs[3]], 'taken by the other');
  },
  async 'holds back what is released with a delay until it is over'(rig) {
    const queue = await rig.store();
    const [first = 0, second = 0] = await queue.put('0', '1');
    await take(queue);
    await leases(queue).release([first], LONG_MS);
    equal(await take(queue), [], 'taken at once');
    await leases(queue).release([second], 50);
    equal(await takeLater(queue), [second], 'taken later');
  },
  async 'keeps an extended lease, of which the first term is over'(rig) {
    const place = await rig.place();
    const [one, other] = [await rig.store(place), await rig.store(place)];
    const [first = 0, second = 0] = await one.put('0', '1');
    await take(one, ALL, 300);
    await leases(one).extend([first], LONG_MS);
    equal(await takeLater(other), [second], 'taken by the other');
  },
  async 'removes what another server holds, and extends or releases nothing of it then'(rig) {
    const place = await rig.place();
    const [one, other] = [await rig.store(place), await rig.store(place)];
    const [seq = 0] = await one.put('one');
    await take(one);
    equal((await other.remove(seq)).removed, [true], 'removed');
    await leases(one).extend([seq], LONG_MS);
    await leases(one).release([seq], 0);
    equal(await take(one), [], 'left');
  },
  async 'stores an id once, whichever server it comes to'(rig) {
    const place = await rig.place();
    const servers = await Promise.all(numbered(4).map(() => rig.store(place)));
    const dedupe = { id: Buffer.from('id'), untilMicros: NOW + 1000 };
    const seqs = await Promise.all(servers.map((server) => server.putOne({ dedupe })));
    equal(seqs.filter((seq) => seq > 0).length, 1, 'stored');
    equal((await (servers[0] as OpenStore).ready()).length, 1, 'messages');
  },
  async 'gives delayed messages when their time has come, by its own clock, and expired ones as any other'(rig) {
    const queue = await rig.store();
    const { seqs, counts } = await queue.commit({
      puts: [
        message('not yet', { readyMicros: 2 * NOW }),
        message('was delayed', { readyMicros: 1 }),
        message('expired', { expiresMicros: 1 }),
      ],
    });
    equal(counts.messages, 3, 'messages');
    equal(await take(queue), seqs.slice(1), 'taken');
    equal((await queue.remove(...seqs)).counts.messages, 0, 'messages afterwards');
  },
};
