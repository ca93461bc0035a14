/** Served names do not keep out requested names, nor the reverse, and no client keeps out another. */
import { describe, expect, it } from 'vitest';
import { peerNamed } from '../../test/keyed.js';
import { type Name, Names, sharerOf } from './names.js';

function ask(names: Names, asker: string): Name[] {
  const all: Name[] = [];
  while (names.mayAsk(asker)) all.push(names.add(asker));
  return all;
}

describe('names', () => {
  it('may be served although no more may be requested', () => {
    const names = new Names(2);
    const [first] = ask(names, 'c1');
    expect([names.asked, names.mayAsk(), names.mayServe(2), names.mayServe(3)]).toEqual([2, false, true, false]);
    names.serve(first!);
    names.serve(first!);
    expect([names.served, names.asked, names.mayServe(1), names.mayServe(2)]).toEqual([1, 1, true, false]);
  });

  it.each([
    [20, 16],
    [200, 19],
    [1000, 91],
  ])('of %i one client may request %i, and another one can still request more', (max, share) => {
    const names = new Names(max);
    expect(ask(names, 'c1')).toHaveLength(share);
    expect([names.mayAsk('c1'), names.mayAsk('c2'), names.mayAsk()]).toEqual([false, true, true]);
  });

  it('are left for newcomers, however many have taken their shares', () => {
    const names = new Names(10_000);
    for (let client = 0; client < 40; client++) ask(names, `c${client}`);
    expect(ask(names, 'newcomer')).toHaveLength(20);
  });

  it('are part of a share until they are served or forgotten', () => {
    const names = new Names(1000);
    const all = ask(names, 'c1');
    names.serve(all[0]!);
    expect(names.mayAsk('c1')).toBe(true);
    names.desert(all[0]!);
    names.desert(all[0]!);
    expect(names.asked).toBe(91);
    all.push(names.add('c1'));
    expect(names.mayAsk('c1')).toBe(false);
    names.remove(all.pop()!);
    expect(names.mayAsk('c1')).toBe(true);
    names.assertInvariants(all);
    for (const name of all) names.remove(name);
    names.assertInvariants([]);
  });

  it.each([
    ['names are counted', [{ isServed: true, asker: undefined }]],
    [
      'names are counted',
      [
        { isServed: true, asker: undefined },
        { isServed: false, asker: 'c1' },
      ],
    ],
    ['part of no share', [{ isServed: true, asker: 'c1' }]],
    [
      'without names',
      [
        { isServed: false, asker: undefined },
        { isServed: false, asker: undefined },
      ],
    ],
    [
      'shares are counted',
      [
        { isServed: false, asker: 'c2' },
        { isServed: false, asker: undefined },
      ],
    ],
  ])('counters that disagree are found: %s', (what, wrong) => {
    const names = new Names(10);
    names.add('c1');
    if (wrong.length > 1) names.add();
    expect(() => names.assertInvariants(wrong)).toThrow(what);
  });

  it('count against the share of a key, or of a connection, or of the peer itself', () => {
    const [ada, again] = [peerNamed('c1@ada'), peerNamed('c2@ada')];
    expect(sharerOf(again)).toBe(sharerOf(ada));
    expect(sharerOf(peerNamed('c1@bob'))).not.toBe(sharerOf(ada));
    const [one, other] = [peerNamed('c1'), peerNamed('c2')];
    expect(sharerOf(other)).not.toBe(sharerOf(one));
    expect(sharerOf({ ...other, carrier: '7' })).toBe(sharerOf({ ...one, carrier: '7' }));
    const forged = peerNamed('carrier 7');
    expect(sharerOf(forged)).not.toBe(sharerOf({ ...one, carrier: '7' }));
  });

  it('beyond the bound are detected', () => {
    const names = new Names(0);
    const name = names.add();
    names.serve(name);
    expect(() => names.assertInvariants([name])).toThrow('bounded');
  });
});
