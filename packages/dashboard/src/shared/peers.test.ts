/** Peers of the model, and sums. */
import { describe, expect, it } from 'vitest';
import { failures } from '@proj/observe/model';
import type { Model, ServiceRow, WorkerRow } from '@proj/observe/model';
import { pathOfPeer, peersOf, rowKey, workersOf } from './peers.js';

const worker = (id: string, services: string[]) =>
  ({ protocol: 'mdp', id, services, running: 2, refused: { long: 1 } }) as unknown as WorkerRow;
const MODEL = {
  workers: { 'mdp/w': worker('w', ['echo']), 'mdp/v': worker('v', []) },
  clients: { 'mdp/c': { protocol: 'mdp', id: 'c', open: 1, refused: { full: 2, long: 3 }, key: 'k' } },
} as unknown as Model;

describe('peers', () => {
  it('are workers and clients in one table', () => {
    expect(peersOf(MODEL)).toEqual([
      { kind: 'worker', protocol: 'mdp', id: 'w', load: 2, refused: 1 },
      { kind: 'worker', protocol: 'mdp', id: 'v', load: 2, refused: 1 },
      { kind: 'client', protocol: 'mdp', id: 'c', load: 1, refused: 5, key: 'k' },
    ]);
  });

  it('have a page while they are connected', () => {
    expect(pathOfPeer(MODEL, 'mdp', 'w')).toEqual(['workers', 'mdp', 'w']);
    expect(pathOfPeer(MODEL, 'mdp', 'c')).toEqual(['clients', 'mdp', 'c']);
    expect(pathOfPeer(MODEL, 'ppp', 'w')).toBeUndefined();
  });

  it('serve a service of their own protocol', () => {
    const service = (protocol: string) => ({ protocol, name: 'echo' }) as ServiceRow;
    expect(workersOf(MODEL.workers, service('mdp')).map(rowKey)).toEqual(['mdp/w']);
    expect(workersOf(MODEL.workers, service('ppp'))).toEqual([]);
  });

  it('fail with every outcome but ok', () => {
    expect(failures({ outcomes: { ok: 5, timeout: 2, 'worker-lost': 1 } })).toBe(3);
    expect(failures({ outcomes: {} })).toBe(0);
  });
});
