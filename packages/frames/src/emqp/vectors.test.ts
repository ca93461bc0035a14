/** Bytes of EventMQ 0.3.13: what each recorded message means, and that we write the same bytes for the same meaning. */
import { createHash } from 'node:crypto';
import { framesOf, loadVectors, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import {
  decodeEmqpAtAdmin,
  decodeEmqpAtAdminPort,
  decodeEmqpAtBroker,
  decodeEmqpAtClient,
  decodeEmqpAtPubSub,
  decodeEmqpAtScheduler,
  decodeEmqpAtWorker,
  decodeEmqpHeaders,
  emqpJobText,
  encodeEmqp,
  encodeEmqpHeaders,
} from './index.js';
import type { EmqpCommand, EmqpMalformed } from './index.js';

/** The id of the message itself is that of the vector. */
type Expected = { readonly kind: EmqpCommand['kind'] } & Readonly<Record<string, unknown>>;

const bytes = (text: string) => framesOf(text)[0]!;

function job(callable: string, args = '[]', kwargs = '{}', path = 'myjobs', construction = ['[]', '{}']): Uint8Array {
  const [classArgs = '', classKwargs = ''] = construction;
  return bytes(
    `["run", {"callable": "${callable}", "path": "${path}", "args": ${args}, "kwargs": ${kwargs}, ` +
      `"class_args": ${classArgs}, "class_kwargs": ${classKwargs}}]`,
  );
}

const request = (queue: string, headers: string, body: Uint8Array): Expected => ({
  kind: 'request',
  queue,
  headers: bytes(headers),
  body,
});

const schedule = (queue: string, headers: string, interval: string, body: Uint8Array, cron = ''): Expected => ({
  kind: 'schedule',
  queue,
  headers: bytes(headers),
  interval,
  body,
  cron,
});

const result = (text: string, of: string): Expected => ({ kind: 'result', result: bytes(text), of });

const ADD_2_3 = '8154ae0c-f803-4d20-96f3-33de37380365';
const EVERY_2_S = schedule('default', 'guarantee', '2', job('add', '[1, 2]'));
const GREET = job('hi', '[]', '{"greeting": "yo"}', 'myjobs:Greeter', ['["Bob"]', '{"punct": "?"}']);
const WORKER = 'e435c992-047a-4677-aa35-46cf10cc5456';

/** A vector that is not listed fails. */
const EXPECTED: Record<string, Expected> = {
  'inform-worker': {
    kind: 'inform-worker',
    queues: [
      { weight: 20, name: 'heavy-cpu' },
      { weight: 30, name: 'low-cpu' },
      { weight: 10, name: 'default' },
    ],
  },
  'inform-worker-one-queue': { kind: 'inform-worker', queues: [{ weight: 10, name: 'default' }] },
  'ack-worker': { kind: 'ack', of: '971101c9-fbe6-41b8-8960-fdfd3f3e9a46' },
  'inform-scheduler': { kind: 'inform-scheduler' },
  'ack-scheduler': { kind: 'ack', of: '8c4d14bc-5c62-4a66-9a1e-1801a577cc77' },
  'heartbeat-broker-to-worker': { kind: 'heartbeat', time: '1795199684.5464654' },
  'heartbeat-worker-to-broker': { kind: 'heartbeat', time: '1795199685.5540776' },
  'heartbeat-broker-to-scheduler': { kind: 'heartbeat', time: '1795199684.5477397' },
  ready: { kind: 'ready' },
  'request-plain': request('default', '', job('noop')),
  'request-guarantee': request('default', 'guarantee', job('noop')),
  'request-reply-requested': request('default', 'reply-requested', job('add', '[2, 3]')),
  'request-retry-count': request('default', 'reply-requested,retry-count:3', job('fail')),
  'request-timeout': request('default', 'reply-requested,timeout:1', job('slow', '[5]')),
  'request-all-headers': request(
    'default',
    'reply-requested,guarantee,retry-count:2,timeout:10',
    job('add', '[1]', '{"b": 4}'),
  ),
  'request-bound-method': request('default', 'reply-requested', GREET),
  'request-unknown-queue': request('nosuchqueue', '', job('noop')),
  'request-unknown-queue-forwarded': request('nosuchqueue', '', job('noop')),
  'request-forwarded': request('default', 'reply-requested', job('add', '[2, 3]')),
  'reply-accepted-to-client': { kind: 'accepted', of: ADD_2_3 },
  'reply-result-from-worker': result('{"value": 5}', ADD_2_3),
  'reply-result-null': result('{"value": null}', '56ec56cd-edfa-455f-9cbe-a0b38880072f'),
  'schedule-interval': EVERY_2_S,
  'schedule-interval-forwarded': EVERY_2_S,
  'schedule-nohaste': schedule('default', 'nohaste', '3', job('noop')),
  'schedule-run-count': schedule('default', 'guarantee,run_count:3', '1', job('add', '[7, 7]')),
  'schedule-cron': schedule('other', 'nohaste', '-1', job('add', '[9, 9]'), '* * * * *'),
  unschedule: { ...EVERY_2_S, kind: 'unschedule', interval: '-1' },
  'request-from-scheduler': request('default', 'reply-requested', job('add', '[1, 2]')),
  publish: { kind: 'publish', topic: bytes('topic'), body: bytes('["update", "1"]') },
  'disconnect-admin': { kind: 'disconnect' },
  'ack-admin-disconnect': { kind: 'ack', of: 'admin:a1e48b9d-eb4c-4199-8796-8c38f6d79393' },
  'kbye-broker-to-worker': { kind: 'bye', word: 'KBYE' },
  'kbye-broker-to-scheduler': { kind: 'bye', word: 'KBYE' },
  'kbye-worker-to-broker': { kind: 'bye', word: 'KBYE' },
  'kbye-jobmanager-after-disconnect': { kind: 'bye', word: 'KBYE' },
  'kbai-spec': { kind: 'bye', word: 'KBAI' },
  'admin-status': { kind: 'status' },
  'admin-status-reply': {
    kind: 'admin-reply',
    json:
      '{"inflight_messages_by_queue": {"default": 4}, "latency_messages_by_queue": {"default": 36298}, ' +
      '"max_latency_messages_by_queue": {"default": 50480}, "waiting_messages_by_queue": {}, ' +
      `"processed_messages_by_queue": {"default": 15}, "processed_messages_by_worker": {"${WORKER}": 15}}`,
  },
  'admin-router-show-workers': { kind: 'show-workers' },
  'admin-router-show-workers-reply': {
    kind: 'admin-reply',
    json:
      `{"connected_workers": {"${WORKER}": {"queues": [[20, "heavy-cpu"], [30, "low-cpu"], [10, "default"]], ` +
      '"hb": 775.788764092, "available_slots": 2}}, "connected_queues": ' +
      `{"heavy-cpu": [[20, "${WORKER}"]], "low-cpu": [[30, "${WORKER}"]], "default": [[10, "${WORKER}"]]}}`,
  },
  'admin-router-show-schedulers-reply': {
    kind: 'admin-reply',
    json: '{"connected_schedulers": {"f383810d-1896-40e5-98fe-463e6463aa96": {"hb": 773.908462777}}}',
  },
};

type Decoder = (frames: readonly Uint8Array[]) => EmqpCommand | EmqpMalformed;

const DECODERS: Record<string, readonly Decoder[]> = {
  'worker->broker': [decodeEmqpAtBroker],
  'scheduler->broker': [decodeEmqpAtBroker],
  'client->broker': [decodeEmqpAtBroker],
  'broker->worker': [decodeEmqpAtWorker],
  'broker->scheduler': [decodeEmqpAtScheduler],
  'broker->client': [decodeEmqpAtClient, decodeEmqpAtScheduler],
  'publisher->pubsub': [decodeEmqpAtPubSub, decodeEmqpAtBroker],
  'admin->broker': [decodeEmqpAtAdminPort],
  'broker->admin': [decodeEmqpAtAdmin],
  any: [decodeEmqpAtBroker, decodeEmqpAtWorker, decodeEmqpAtScheduler],
};

const vectors = loadVectors('emqp');
const named = (name: string) => vectors.find((vector) => vector.name === name)!.frames;

describe('golden vectors', () => {
  test('every vector has an expectation and every expectation a vector', () => {
    expect(Object.keys(EXPECTED).sort()).toEqual(vectors.map((vector) => vector.name).sort());
  });

  test.each(vectors)('$name at $direction', ({ name, direction, frames }) => {
    const decoders = DECODERS[direction];
    expect(decoders).toBeDefined();
    for (const decode of decoders ?? []) {
      const decoded = decode(frames);
      expect(decoded).toEqual({ id: new TextDecoder().decode(frames[3]), ...EXPECTED[name] });
      if (decoded.kind !== 'malformed') expect(toHex(encodeEmqp(decoded))).toEqual(toHex(frames));
    }
  });

  test.each(vectors.filter(({ name }) => name.startsWith('request-')))('headers of $name', ({ frames }) => {
    const { invalid, ...headers } = decodeEmqpHeaders(frames[5]!);
    expect(invalid).toBe(0);
    expect(toHex([encodeEmqpHeaders(headers)])).toEqual(toHex([frames[5]!]));
  });

  test.each([
    ['request-forwarded', 'request-reply-requested'],
    ['request-unknown-queue-forwarded', 'request-unknown-queue'],
    ['schedule-interval-forwarded', 'schedule-interval'],
  ])('%s is what the client sent, byte for byte', (forwarded, sent) => {
    expect(toHex(named(forwarded))).toEqual(toHex(named(sent)));
  });

  test('SCHEDULE and UNSCHEDULE of one job name the same job', () => {
    const [one, other] = [emqpJobText(named('schedule-interval')[7]!), emqpJobText(named('unschedule')[7]!)];
    expect(one).toBe(other);
    expect(createHash('sha1').update(one!).digest('hex')).toMatch(/^[0-9a-f]{40}$/);
  });
});
