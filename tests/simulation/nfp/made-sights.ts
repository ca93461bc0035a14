/** Sights as tests of checkers need them: one client `c`, one service, and workers by name. */
import { fromLatin1 } from '@proj/frames';
import { encodeNfpJson } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { Checker, JobRecord, ResultRecord, Sight } from './sight.js';

const service = 'echo';
const form = 'ascii';
const header = 'NFPB01';
const peer = (name: string): Peer => ({ key: name, id: fromLatin1(name) });
const at = (kind: 'sent' | 'received', name: string, command: object) =>
  ({ kind, peer: peer(name), command: { form, header, ...command } }) as Sight;
export const ready = (worker: string): Sight => ({ kind: 'worker-ready', peer: peer(worker), service });
export const lost = (worker: string, reason = 'expired'): Sight => ({
  kind: 'worker-lost',
  peer: peer(worker),
  service,
  reason,
});

export const asks = (uuid: string, target = 'any', command = 'post') =>
  at('received', 'c', { kind: 'client-call', command, service, target, uuid, body: [] });
export const tells = (
  uuid: string,
  status: number,
  workers: string[] | null,
  target = 'any',
  errors: string[] = [],
) => {
  const word = workers === null ? 'FAILED' : 'DISPATCHED';
  const body = encodeNfpJson({ workers, uuid, target, service, status: word, errors });
  return at('sent', 'c', { kind: 'client-answer', command: 'response', service, uuid, status, body });
};
export const waits = (uuid: string) => {
  const body = encodeNfpJson({ workers: [], uuid, target: 'any', service, status: 'PENDING' });
  return at('sent', 'c', { kind: 'client-answer', command: 'response', service, uuid, status: 300, body });
};
export const puts = (worker: string, uuid: string, command = 'post') =>
  at('sent', worker, { kind: 'worker-call', command, client: peer('c').id, uuid, body: [] });
export const works = (worker: string, uuid: string, text = 'x', status = 201) =>
  at('received', worker, {
    kind: 'worker-answer',
    command: 'response',
    client: peer('c').id,
    uuid,
    status,
    body: [fromLatin1(text)],
  });
export const passes = (uuid: string, text = 'x', client = 'c', status = 201) =>
  at('sent', client, {
    kind: 'client-answer',
    command: 'response',
    service,
    uuid,
    status,
    body: [fromLatin1(text)],
  });
export const late = (uuid: string, worker: string) =>
  at('sent', 'c', {
    kind: 'client-answer',
    command: 'response',
    service,
    uuid,
    status: 408,
    body: encodeNfpJson({ worker, uuid, status: 'FAILED', service, errors: [] }),
  });
export const news = (uuid: string) =>
  at('sent', 'c', {
    kind: 'client-answer',
    command: 'event',
    service,
    uuid,
    status: 200,
    body: encodeNfpJson({ worker: 'w', status: 'worker-lost' }),
  });
export const beats = (kind: 'sent' | 'received', worker: string) =>
  at(kind, worker, { kind: kind === 'sent' ? 'broker-keepalive' : 'worker-keepalive', service });
export const ends = (worker: string) => at('sent', worker, { kind: 'broker-disconnect', service, body: [] });

export const stored = (uuid: string, state: JobRecord['state'], seq = 1, runs = 0): Sight => ({
  kind: 'stored',
  worker: 'w',
  uuid,
  job: { seq, state, runs },
});
export const accepts = (uuid: string, status = 'ACCEPTED') =>
  ({
    kind: 'said',
    worker: 'w',
    command: {
      kind: 'worker-answer',
      command: 'response',
      uuid,
      status: status === 'ACCEPTED' ? 201 : 404,
      body: encodeNfpJson({ status }),
    },
  }) as unknown as Sight;
export const deletes = (uuid: string) =>
  ({ kind: 'told', worker: 'w', command: { kind: 'worker-call', command: 'delete', uuid } }) as unknown as Sight;
export const result = (uuid: string, status: ResultRecord['status'], errors: string[] = [], juuid = uuid): Sight => ({
  kind: 'result',
  worker: 'w',
  uuid,
  result: { juuid, status, errors, result: null },
});
export const begun = (uuid: string, run = 1): Sight => ({ kind: 'begun', worker: 'w', uuid, run });
export const ended = (uuid: string, well = true): Sight => ({ kind: 'ended', worker: 'w', uuid, well });
export const removed = (uuid: string): Sight => ({ kind: 'removed', worker: 'w', uuid });
export const restarts = (worker: string) => at('received', worker, { kind: 'worker-ready', service });
export const crashed = (process: string): Sight => ({ kind: 'crashed', process });

/** What the checker complains about, or `fine`. */
export function check(checker: Checker, ...sights: readonly Sight[]): string {
  try {
    for (const sight of sights) checker.onSight(sight);
    return 'fine';
  } catch (error) {
    return (error as Error).message;
  }
}
