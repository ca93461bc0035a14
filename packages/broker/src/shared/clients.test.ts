import { describe, expect, it } from 'vitest';
import { ClientRecord, ClientTable } from './clients.js';

const peer = { key: 'c1', id: new Uint8Array(1) };

describe('ClientTable', () => {
  it('remembers a client until it is told that it has no open requests', () => {
    const clients = new ClientTable(ClientRecord);
    const client = clients.add(peer);
    expect([clients.find('c1'), ...clients.values()]).toEqual([client, client]);
    clients.rest(client);
    expect(clients.find('c1')).toBeUndefined();
    expect(clients.size).toBe(0);
  });

  it('takes a client that left and returned for a new one', () => {
    const clients = new ClientTable(ClientRecord);
    const before = clients.add(peer);
    clients.leave(before);
    expect(before.gone).toBe(true);
    const after = clients.add(peer);
    clients.rest(before);
    expect(clients.find('c1')).toBe(after);
    expect([...clients.values()]).toEqual([after]);
  });

  it('hides a client without open requests, and recognizes it by its current peer when it asks again', () => {
    const clients = new ClientTable(ClientRecord);
    clients.rest(clients.add(peer));
    expect([clients.find('c1'), ...clients.values()]).toEqual([undefined]);
    const again = { ...peer };
    expect(clients.add(again).peer).toBe(again);
    expect(clients.find('c1')?.peer).toBe(again);
    expect(clients.size).toBe(1);
  });

  it('keeps the records of the last 1024 clients without open requests, and no more', () => {
    const clients = new ClientTable(ClientRecord);
    const known = Array.from({ length: 1025 }, (_, index) => clients.add({ ...peer, key: `c${index}` }));
    for (const client of known) clients.rest(client);
    expect(clients.size).toBe(0);
    expect(clients.add({ ...peer, key: 'c1' })).toBe(known[1]);
    expect(clients.add({ ...peer, key: 'c0' })).not.toBe(known[0]);
  });
});
