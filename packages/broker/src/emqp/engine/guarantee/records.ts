/** EventMQ broker, rule 35: a guaranteed job as two records of a store: its head and its body. */
import { fromLatin1, latin1 } from '@proj/frames';
import type { EmqpRequest } from '@proj/frames/emqp';
import type { EmqpParty } from '../events.js';
import type { Job } from '../jobs/job.js';

/** Prefix of all keys. */
export const RECORDS_PREFIX = 'emqp/guaranteed/';

const FORMAT = 1;
const BODY = '/body';
/** Digits of a number, padded so that keys sort in the order of arrival. */
const DIGITS = 16;

/** A guaranteed job that an earlier broker left in the store. */
export interface EmqpKeptJob {
  readonly record: number;
  readonly client: EmqpParty;
  readonly request: EmqpRequest;
  /** Number of workers it was lost with. */
  readonly attempts: number;
}

interface Head {
  readonly format: number;
  readonly port: string;
  /** The client's routing id, one character per byte. */
  readonly client: string;
  /** Its public key, likewise; absent without CURVE. */
  readonly key?: string;
  readonly id: string;
  readonly queue: string;
  readonly headers: string;
  readonly attempts: number;
}

type Put = readonly [key: string, value: Uint8Array];

/** Key of a job's head. */
export function keyOf(record: number): string {
  return RECORDS_PREFIX + String(record).padStart(DIGITS, '0');
}

/** Key of a job's body. */
export function bodyKeyOf(record: number): string {
  return bodyKey(keyOf(record));
}

/** Key of the body that belongs to the head with this key. */
export function bodyKey(key: string): string {
  return key + BODY;
}

/** The records of a job, which must have a number and its request. The body is not copied. */
export function recordOf({ record = 0, client, request, attempts }: Job): [head: Put, body: Put] {
  const { id, queue, headers, body } = request as EmqpRequest;
  const { port, peer } = client;
  const key = peer.publicKey === undefined ? {} : { key: latin1(peer.publicKey) };
  const head: Head = { format: FORMAT, port, client: peer.key, ...key, id, queue, headers: latin1(headers), attempts };
  return [
    [keyOf(record), new TextEncoder().encode(JSON.stringify(head))],
    [bodyKeyOf(record), body],
  ];
}

/** Decodes a head and a body; `undefined` if they are neither, or of a later version. */
export function readRecord(key: string, value: Uint8Array, body: Uint8Array): EmqpKeptJob | undefined {
  try {
    const head = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value)) as Partial<Head>;
    const { format, port, client, key: publicKey = '', id, queue, headers, attempts } = head;
    const record = Number(key.slice(RECORDS_PREFIX.length));
    const texts = [client, publicKey, id, queue, headers].every((text) => typeof text === 'string');
    const numbers = [record, attempts].every((number) => Number.isSafeInteger(number) && (number as number) >= 0);
    if (format !== FORMAT || (port !== 'frontend' && port !== 'backend') || !texts || !numbers) return undefined;
    const keyed = publicKey === '' ? {} : { publicKey: fromLatin1(publicKey) };
    const { client: peerKey, ...request } = { client, id, queue, headers } as Head;
    return {
      record,
      client: { port, peer: { key: peerKey, id: fromLatin1(peerKey), ...keyed } },
      request: { kind: 'request', id: request.id, queue: request.queue, headers: fromLatin1(request.headers), body },
      attempts: attempts as number,
    };
  } catch {
    return undefined;
  }
}
