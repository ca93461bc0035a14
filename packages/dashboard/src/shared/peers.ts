/** Connections: workers and clients in one table, and the figures that several views derive from the model. */
import { totalOf } from '@proj/observe/model';
import type { ClientRow, Model, ServiceRow, WorkerRow } from '@proj/observe/model';

/** Any peer. */
export interface PeerRow {
  readonly kind: 'worker' | 'client';
  readonly protocol: string;
  readonly id: string;
  readonly key?: string;
  /** Its current work: jobs of a worker, open requests of a client. */
  readonly load: number;
  /** Its rejected messages. */
  readonly refused: number;
}

/** The key of a row with a name or an id. */
export function rowKey(row: { protocol: string; name: string } | { protocol: string; id: string }): string {
  return `${row.protocol}/${'name' in row ? row.name : row.id}`;
}

/** All peers. */
export function peersOf({ workers, clients }: Pick<Model, 'workers' | 'clients'>): readonly PeerRow[] {
  return [...Object.values(workers).map(ofWorker), ...Object.values(clients).map(ofClient)];
}

/** The workers of one service. */
export function workersOf(workers: Model['workers'], { protocol, name }: ServiceRow): readonly WorkerRow[] {
  return Object.values(workers).filter((row) => row.protocol === protocol && row.services.includes(name));
}

/** The page of a peer that a note names, if it is still connected. */
export function pathOfPeer(model: Model, protocol: string, peer: string): readonly string[] | undefined {
  const key = `${protocol}/${peer}`;
  if (key in model.workers) return ['workers', protocol, peer];
  return key in model.clients ? ['clients', protocol, peer] : undefined;
}

function ofWorker({ protocol, id, key, running, refused }: WorkerRow): PeerRow {
  return {
    kind: 'worker',
    protocol,
    id,
    load: running,
    refused: totalOf(refused),
    ...(key === undefined ? {} : { key }),
  };
}

function ofClient({ protocol, id, key, open, refused }: ClientRow): PeerRow {
  return { kind: 'client', protocol, id, load: open, refused: totalOf(refused), ...(key === undefined ? {} : { key }) };
}
