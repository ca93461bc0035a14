import { describe, expect, it } from 'vitest';
import { Clients } from './clients.js';
import { Link } from './linked-list.js';

const peer = { key: 'c1', id: new Uint8Array(1) };

describe('Clients', () => {
  it('remembers a client while it has open requests', () => {
    const clients = new Clients<string>();
    const client = clients.add(peer);
    const owed = new Link('request');
    client.requests.pushBack(owed);
    clients.tidy(client);
    expect(clients.find('c1')).toBe(client);
    client.requests.remove(owed);
    clients.tidy(client);
    expect(clients.size).toBe(0);
  });

  it('takes a client that left and came back for a new one', () => {
    const clients = new Clients<string>();
    const before = clients.add(peer);
    before.requests.pushBack(new Link('request'));
    clients.leave(before);
    expect(before.gone).toBe(true);
    const after = clients.add(peer);
    before.requests.shift();
    clients.tidy(before);
    expect(clients.find('c1')).toBe(after);
    expect([...clients.values()]).toEqual([after]);
  });
});
