import { expect, it } from 'vitest';
import { RefusedPeers } from './refused-peers.js';

const peer = (name: string) => ({ key: name, id: Buffer.from(name, 'latin1') });

it('counts refusals of a peer by reason', () => {
  const refused = new RefusedPeers();
  for (const reason of ['envelope', 'no-body', 'envelope']) refused.add(peer('a'), reason);
  expect([refused.of('a'), refused.of('b')]).toEqual([{ envelope: 2, 'no-body': 1 }, {}]);
});

it('remembers 256 peers, those refused most come last', () => {
  const refused = new RefusedPeers();
  for (let i = 0; i < 1000; i++) refused.add(peer(`once ${i}`), 'envelope');
  for (let i = 0; i < 9; i++) refused.add(peer('nine'), 'envelope');
  const all = [...refused.entries()];
  expect([all.length, all.at(-1)?.[0].key]).toEqual([256, 'nine']);
});

it.each([1, 4, 20, 100])('remembers %i flooders among 20,000 peers refused once', (flooders) => {
  const refused = new RefusedPeers();
  const EACH = 400;
  const total = Math.max(20_000, flooders * EACH);
  for (let i = 0, next = 0; i < total; i++) {
    refused.add(peer(`once ${i}`), 'envelope');
    // Spread over the whole time, in turn.
    for (; next < ((i + 1) / total) * flooders * EACH; next++)
      refused.add(peer(`flooder ${next % flooders}`), 'no-header');
  }
  const heaviest = [...refused.entries()].slice(-flooders).map(([{ key }]) => key);
  expect(heaviest.sort()).toEqual(Array.from({ length: flooders }, (_, n) => `flooder ${n}`).sort());
});

it('keeps its counts exact for a peer that it has not forgotten', () => {
  const refused = new RefusedPeers();
  for (let i = 0; i < 10_000; i++) {
    refused.add(peer(`once ${i}`), 'envelope');
    for (let flooder = 0; flooder < 4; flooder++) if (i % 10 === 0) refused.add(peer(`f${flooder}`), 'no-header');
  }
  for (let flooder = 0; flooder < 4; flooder++) expect(refused.of(`f${flooder}`)).toEqual({ 'no-header': 1000 });
});

it('keeps its entries in the order of their counts', () => {
  const refused = new RefusedPeers();
  let random = 1;
  for (let i = 0; i < 20_000; i++) {
    random = (random * 48_271) % 2_147_483_647;
    refused.add(peer(String(Math.floor((random % 1000) ** 2 / 1000))), 'x');
  }
  const counts = [...refused.entries()].map(([{ key }]) => refused.of(key)['x'] ?? 0);
  // Each count by reason is at most the count of the entry, so the heaviest are at the end.
  expect(Math.max(...counts)).toBe(Math.max(...counts.slice(-5)));
});

it('shows them as clients with their refusals', () => {
  const refused = new RefusedPeers();
  refused.add({ ...peer('a'), publicKey: new Uint8Array(32) }, 'envelope');
  refused.add(peer('b'), 'envelope');
  expect(refused.clients(({ key }) => key === 'b')).toEqual([
    { id: 'a', key: '0'.repeat(40), open: 0, refused: { envelope: 1 } },
  ]);
});
