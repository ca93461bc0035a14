/** Bytes of real peers: what each recorded message means, and that we write the same bytes for the same meaning. */
import { loadVectors, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import {
  decodeNfpAtBroker,
  decodeNfpAtClient,
  decodeNfpAtWorker,
  decodeNfpDispatch,
  decodeNfpOpenInfo,
  decodeNfpTask,
  encodeNfp,
  parseNfpTarget,
} from './index.js';
import type { NfpAnswer, NfpCall, NfpCommandForm, NfpHeader, NfpMalformedReason } from './index.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const form = 'ascii';

const fromWorker = (kind: 'worker-ready' | 'worker-keepalive', service: string) => ({ kind, form, service });
const workerAnswer = (command: NfpAnswer, client: string, uuid: string, status: number) => ({
  kind: 'worker-answer',
  form,
  command,
  client: bytes(client),
  uuid,
  status,
});
const toWorker = (kind: 'broker-keepalive' | 'broker-disconnect', header: NfpHeader, service: string) => ({
  kind,
  form,
  header,
  service,
});
const workerCall = (command: NfpCall, header: NfpHeader, client: string, uuid: string) => ({
  kind: 'worker-call',
  form,
  header,
  command,
  client: bytes(client),
  uuid,
});
const clientCall = (
  command: NfpCall,
  service: string,
  target: string,
  uuid: string,
  written: NfpCommandForm = form,
) => ({
  kind: 'client-call',
  form: written,
  command,
  service,
  target,
  uuid,
});
const clientAnswer = (command: NfpAnswer, header: NfpHeader, service: string, uuid: string, status: number) => ({
  kind: 'client-answer',
  form,
  header,
  command,
  service,
  uuid,
  status,
});
const bad = (reason: NfpMalformedReason) => ({ kind: 'malformed', reason, side: 'unknown' });

/** How a decoder of the receiving role reads each vector, without its body. A vector that is not listed fails. */
const MEANING: Record<string, { readonly kind: string; readonly [field: string]: unknown }> = {
  '0.12.7/ready': fromWorker('worker-ready', 'sample'),
  '0.12.7/disconnect-broker-on-shutdown': toWorker('broker-disconnect', 'NFPW01', 'filesharing'),
  '0.12.7/post-client': clientCall('post', 'sample', 'all', '00000000000000000000000000000001'),
  '0.12.7/post-broker-202-dispatched': clientAnswer(
    'response',
    'NFPC01',
    'sample',
    '00000000000000000000000000000001',
    202,
  ),
  '0.12.7/post-worker-ack': workerAnswer(
    'response',
    'cli1-8e6dbc22af244dae9226891ffdde73ec',
    '00000000000000000000000000000001',
    202,
  ),
  '0.12.7/post-worker-ack-relayed': clientAnswer(
    'response',
    'NFPC01',
    'sample',
    '00000000000000000000000000000001',
    202,
  ),
  '0.12.7/post-target-json-list': clientCall(
    'post',
    'sample',
    '["sample-w1", "sample-w2"]',
    '5179f2eea63243059cdf5f9923606035',
  ),
  '0.12.7/post-no-worker-400': clientAnswer('response', 'NFPC01', 'sample', '97331fc58fbb4bddaa2458eff52b0fe9', 400),
  '0.12.7/get-client': clientCall('get', 'sample', 'all', '00000000000000000000000000000001'),
  '0.12.7/get-worker-200': workerAnswer(
    'response',
    'cli1-8e6dbc22af244dae9226891ffdde73ec',
    '00000000000000000000000000000001',
    200,
  ),
  '0.12.7/get-relayed-300-pending': clientAnswer(
    'response',
    'NFPC01',
    'sample',
    '00000000000000000000000000000002',
    300,
  ),
  '0.12.7/get-unknown-uuid': clientAnswer('response', 'NFPC01', 'sample', 'ffffffffffffffffffffffffffffffff', 400),
  '0.12.7/delete-client': clientCall('delete', 'sample', 'all', '00000000000000000000000000000001'),
  '0.12.7/open-client-7-frames': { kind: 'client-open', form: 'ascii' },
  '0.12.7/event-relayed': clientAnswer('event', 'NFPC01', 'sample', 'a78ace1e3ec84a0fa86978c1b6c13567', 200),
  '0.12.7/unsupported-command-reply': bad('short'),
  '0.12.7/mmi-show_broker-request': clientCall('get', 'mmi.service.broker', 'all', '439cf693b5f747408853e988ee8e6968'),
  '0.12.7/mmi-show_clients-response': clientAnswer(
    'response',
    'NFPC01',
    'mmi.service.broker',
    'fc1d4c70aa194e2fa26e12ad1ca55854',
    200,
  ),
  '0.12.7/mmi-show_services-response': clientAnswer(
    'response',
    'NFPC01',
    'mmi.service.broker',
    '18e461c9f8e34ccab4ebf3ce61637a04',
    200,
  ),
  '0.12.7/mmi-show_broker_version-response': clientAnswer(
    'response',
    'NFPC01',
    'mmi.service.broker',
    '2bac6c74c1094869a8e6a293da24856f',
    200,
  ),
  '0.12.7/sid-get_inventory-request': clientCall(
    'get',
    'sid.service.broker',
    'all',
    'd02a21e580bf4bf2a539fe83ee5ed50a',
  ),
  '0.12.7/sid-get_inventory-unknown': clientAnswer(
    'response',
    'NFPC01',
    'sid.service.broker',
    'b6ad9cc86ca84bae89cc0bebde1287b6',
    200,
  ),
  '0.12.7/fss-list_files-request': clientCall('get', 'fss.service.broker', 'all', '01a04ab1b9b74517ace7f724bcaadbc2'),
  '0.12.7/fss-list_files-response': clientAnswer(
    'response',
    'NFPC01',
    'fss.service.broker',
    '01a04ab1b9b74517ace7f724bcaadbc2',
    200,
  ),
  '0.12.7/fss-file_details-response': clientAnswer(
    'response',
    'NFPC01',
    'fss.service.broker',
    '9dd344bea9874f06921f8304cf0c0674',
    200,
  ),
  '0.12.7/fss-walk-response': clientAnswer(
    'response',
    'NFPC01',
    'fss.service.broker',
    '5c2afefd67f64b8781d3cf1e4c138d13',
    200,
  ),
  '0.12.7/fss-fetch_file-response': clientAnswer(
    'response',
    'NFPC01',
    'fss.service.broker',
    'f83c3e55cd964146a6b2b719e0438357',
    200,
  ),
  '0.12.7/fss-not-found-folder': clientAnswer(
    'response',
    'NFPC01',
    'fss.service.broker',
    'e9cc6e7f180d474eb88083aefbcef9eb',
    200,
  ),
  '0.14.0/ready': fromWorker('worker-ready', 'sample'),
  '0.14.0/keepalive-worker': fromWorker('worker-keepalive', 'sample'),
  '0.14.0/disconnect-broker-on-shutdown': toWorker('broker-disconnect', 'NFPW01', 'filesharing'),
  '0.14.0/post-client': clientCall('post', 'sample', 'all', '00000000000000000000000000000001'),
  '0.14.0/post-worker': workerCall(
    'post',
    'NFPW01',
    'cli1-fadd248799004b28b58e326f2778bf29',
    '00000000000000000000000000000001',
  ),
  '0.14.0/post-worker-ack': workerAnswer(
    'response',
    'cli1-fadd248799004b28b58e326f2778bf29',
    '00000000000000000000000000000001',
    202,
  ),
  '0.14.0/get-client': clientCall('get', 'sample', 'all', '00000000000000000000000000000001'),
  '0.14.0/get-worker': workerCall(
    'get',
    'NFPW01',
    'cli1-fadd248799004b28b58e326f2778bf29',
    '00000000000000000000000000000001',
  ),
  '0.14.0/get-relayed-200': clientAnswer('response', 'NFPC01', 'sample', '00000000000000000000000000000001', 200),
  '0.14.0/get-unknown-uuid': clientAnswer('response', 'NFPC01', 'sample', 'ffffffffffffffffffffffffffffffff', 404),
  '0.14.0/delete-client': clientCall('delete', 'sample', 'all', '00000000000000000000000000000001'),
  '0.14.0/open-client-7-frames': { kind: 'client-open', form: 'ascii' },
  '0.14.0/event-worker': workerAnswer(
    'event',
    'cli1-fadd248799004b28b58e326f2778bf29',
    'b9cdd1eb5d944803a26092892621e334',
    200,
  ),
  '0.14.0/unsupported-command-reply': bad('short'),
  '0.14.0/mmi-show_broker-request': clientCall('get', 'mmi.service.broker', 'all', 'f3538fee5c734ee3b0719405fafa4384'),
  '0.14.0/mmi-show_broker-response': clientAnswer(
    'response',
    'NFPC01',
    'mmi.service.broker',
    'f3538fee5c734ee3b0719405fafa4384',
    200,
  ),
  '0.14.0/mmi-show_workers-request': clientCall('get', 'mmi.service.broker', 'all', 'eaca9ecc674e4bd3b8f901883abc36df'),
  '0.14.0/mmi-show_clients-response': clientAnswer(
    'response',
    'NFPC01',
    'mmi.service.broker',
    'dacf7201e706407fb062d41026540fc2',
    200,
  ),
  '0.14.0/mmi-show_services-response': clientAnswer(
    'response',
    'NFPC01',
    'mmi.service.broker',
    '0f7e3e462c624323aa50380b993a04e7',
    200,
  ),
  '0.14.0/mmi-show_broker_version-response': clientAnswer(
    'response',
    'NFPC01',
    'mmi.service.broker',
    '7f5242bb4cb84516aea2376e727b308f',
    200,
  ),
  '0.14.0/sid-get_inventory-unknown': clientAnswer(
    'response',
    'NFPC01',
    'sid.service.broker',
    'faf3942702fc4050a841de7071983232',
    200,
  ),
  '0.14.0/fss-list_files-request': clientCall('get', 'fss.service.broker', 'all', '39b7c4f1f89d4b3997bbf60ce3225d87'),
  '0.14.0/fss-list_files-response': clientAnswer(
    'response',
    'NFPC01',
    'fss.service.broker',
    '39b7c4f1f89d4b3997bbf60ce3225d87',
    200,
  ),
  '0.14.0/fss-file_details-request': clientCall('get', 'fss.service.broker', 'all', 'b2133aa3a42e437abc403cccbc0c0c47'),
  '0.14.0/fss-file_details-response': clientAnswer(
    'response',
    'NFPC01',
    'fss.service.broker',
    'b2133aa3a42e437abc403cccbc0c0c47',
    200,
  ),
  '0.14.0/fss-fetch_file-request': clientCall('get', 'fss.service.broker', 'any', '9f1ec52ecfdf4c08968b3c905772eb49'),
  '0.14.0/fss-fetch_file-response': clientAnswer(
    'response',
    'NFPC01',
    'fss.service.broker',
    '9f1ec52ecfdf4c08968b3c905772eb49',
    200,
  ),
  '0.14.0/fss-not-found-folder': clientAnswer(
    'response',
    'NFPC01',
    'fss.service.broker',
    '283d4f7ae2964ee3a0a43b7c13a3169a',
    200,
  ),
  '0.20.6/ready': fromWorker('worker-ready', 'filesharing'),
  '0.20.6/keepalive-broker': toWorker('broker-keepalive', 'NFPB01', 'filesharing'),
  '0.20.6/keepalive-worker': fromWorker('worker-keepalive', 'filesharing'),
  '0.20.6/disconnect-broker-on-shutdown': toWorker('broker-disconnect', 'NFPB01', 'filesharing'),
  '0.20.6/post-broker-202-dispatched': clientAnswer(
    'response',
    'NFPB01',
    'sample',
    '97a1dec8919e42c79326edbbff595e50',
    202,
  ),
  '0.20.6/post-worker': workerCall('post', 'NFPB01', 'cli1', '97a1dec8919e42c79326edbbff595e50'),
  '0.20.6/post-worker-ack': workerAnswer('response', 'cli1', '97a1dec8919e42c79326edbbff595e50', 201),
  '0.20.6/post-worker-ack-relayed': clientAnswer(
    'response',
    'NFPB01',
    'sample',
    '97a1dec8919e42c79326edbbff595e50',
    201,
  ),
  '0.20.6/post-target-json-list': clientCall('post', 'filesharing', '["fs-1"]', '67a67854f7fa48e397220b9184422c51'),
  '0.20.6/get-worker': workerCall('get', 'NFPB01', 'cli1', '97a1dec8919e42c79326edbbff595e50'),
  '0.20.6/get-worker-200': workerAnswer('response', 'cli1', '55d3a4a637e64fd8bd704f21e47bd12f', 200),
  '0.20.6/get-relayed-200': clientAnswer('response', 'NFPB01', 'sample', '55d3a4a637e64fd8bd704f21e47bd12f', 200),
  '0.20.6/get-relayed-102-waiting-input': clientAnswer(
    'response',
    'NFPB01',
    'sample',
    'a9bd6712cf0e4d188482cfed037cbe38',
    102,
  ),
  '0.20.6/get-unknown-uuid': clientAnswer('response', 'NFPB01', 'sample', 'ffffffffffffffffffffffffffffffff', 404),
  '0.20.6/delete-client': clientCall('delete', 'sample', 'all', '00000000000000000000000000000001'),
  '0.20.6/open-client-7-frames': { kind: 'client-open', form: 'ascii' },
  '0.20.6/event-worker': workerAnswer('event', 'cli1', '97a1dec8919e42c79326edbbff595e50', 200),
  '0.20.6/event-relayed': clientAnswer('event', 'NFPB01', 'sample', '97a1dec8919e42c79326edbbff595e50', 200),
  '0.20.6/mmi-show_broker-request': clientCall('mmi', 'mmi.service.broker', 'all', '60ff0334304f46bcaab88412ad5ef5f7'),
  '0.20.6/mmi-show_broker-response-mmi': clientAnswer(
    'mmi',
    'NFPB01',
    'mmi.service.broker',
    '60ff0334304f46bcaab88412ad5ef5f7',
    200,
  ),
  '0.20.6/mmi-show_workers-request': clientCall('mmi', 'mmi.service.broker', 'all', '64047ed094324e06988d38642c9f8eb9'),
  '0.20.6/mmi-show_workers-response': clientAnswer(
    'response',
    'NFPB01',
    'mmi.service.broker',
    '64047ed094324e06988d38642c9f8eb9',
    200,
  ),
  '0.20.6/mmi-show_clients-response': clientAnswer(
    'response',
    'NFPB01',
    'mmi.service.broker',
    'f7ac9214388942bfb0fa2fbae4584057',
    200,
  ),
  '0.20.6/mmi-show_services-response': clientAnswer(
    'response',
    'NFPB01',
    'mmi.service.broker',
    '9e0a25a34a5a492195977ccbfaeb6ba4',
    200,
  ),
  '0.20.6/mmi-show_broker_version-response': clientAnswer(
    'response',
    'NFPB01',
    'mmi.service.broker',
    '8adac6f6874c42349cc045a564e60ac5',
    200,
  ),
  '0.20.6/sid-get_inventory-request': clientCall(
    'mmi',
    'sid.service.broker',
    'all',
    'a7326e7a091e4bad84c29a12687e16b3',
  ),
  '0.20.6/sid-get_inventory-response': clientAnswer(
    'response',
    'NFPB01',
    'sid.service.broker',
    'a7326e7a091e4bad84c29a12687e16b3',
    200,
  ),
  '0.20.6/sid-get_inventory-response-mmi': clientAnswer(
    'mmi',
    'NFPB01',
    'sid.service.broker',
    'a7326e7a091e4bad84c29a12687e16b3',
    200,
  ),
  '0.20.6/sid-get_inventory-unknown': clientAnswer(
    'response',
    'NFPB01',
    'sid.service.broker',
    'c0217668e2af406a980a0652819e0ca8',
    200,
  ),
  '0.20.6/filesharing-fetch_file-post': clientCall(
    'post',
    'filesharing',
    '["fs-1"]',
    '67a67854f7fa48e397220b9184422c51',
  ),
  '0.20.6/stream-worker': workerAnswer('stream', 'cli1', '67a67854f7fa48e397220b9184422c51', 200),
  '0.20.6/put-client': clientCall('put', 'filesharing', '["fs-1"]', '9f3911b2556d47d79c3fcd48a07d0b10'),
  '0.20.6/put-client-input-response': clientCall('put', 'sample', '["sample-w1"]', 'a9bd6712cf0e4d188482cfed037cbe38'),
  '0.20.6/event-input_request-relayed': clientAnswer(
    'event',
    'NFPB01',
    'sample',
    'a9bd6712cf0e4d188482cfed037cbe38',
    200,
  ),
  'seed/open-client': { kind: 'client-open', form: 'ascii' },
  'seed/open-broker': { kind: 'broker-open', form: 'ascii', header: 'NFPB01' },
  'seed/delete-worker': workerCall('delete', 'NFPB01', 'cli1', '00000000000000000000000000000001'),
  'seed/post-one-byte-command': clientCall('post', 'sample', 'all', 'u1', 'byte'),
};

/** Frames that belong to the body. The OPEN with seven frames was sent by hand; everything after its command is body to us. */
const BODY_FRAMES: Record<string, number> = {
  '0.12.7/open-client-7-frames': 4,
  '0.14.0/open-client-7-frames': 4,
  '0.20.6/open-client-7-frames': 4,
};

const DECODERS: Record<string, (frames: readonly Uint8Array[]) => { readonly kind: string }> = {
  'client->broker': decodeNfpAtBroker,
  'worker->broker': decodeNfpAtBroker,
  'broker->client': decodeNfpAtClient,
  'broker->worker': decodeNfpAtWorker,
};

const vectors = loadVectors('nfp');

describe('golden vectors', () => {
  test('every vector has an expectation and every expectation a vector', () => {
    expect(Object.keys(MEANING).sort()).toEqual(vectors.map((vector) => vector.name).sort());
  });

  test.each(vectors)('$name at $direction', ({ name, direction, frames }) => {
    const decoded = DECODERS[direction]?.(frames) as ReturnType<typeof decodeNfpAtBroker>;
    const { body, ...meaning } = { body: undefined, ...decoded };
    expect(meaning).toEqual(MEANING[name]);
    if (body === undefined) return;
    const bare = decoded.kind === ('broker-disconnect' as string);
    expect(body).toEqual(bare ? [] : frames.slice(-(BODY_FRAMES[name] ?? 1)));
  });

  const readOnly = new Set(['disconnect-broker-on-shutdown', 'unsupported-command-reply']);
  test.each(vectors.filter(({ name }) => !readOnly.has(name.split('/')[1] as string)))(
    '$name is written with the same bytes',
    ({ direction, frames }) => {
      const decoded = DECODERS[direction]?.(frames) as ReturnType<typeof decodeNfpAtBroker>;
      expect(decoded.kind).not.toBe('malformed');
      if (decoded.kind !== 'malformed') expect(toHex(encodeNfp(decoded))).toEqual(toHex(frames));
    },
  );

  test.each(['0.12.7', '0.14.0', '0.20.6'])(
    'DISCONNECT of the broker of %s is understood and written in order',
    (release) => {
      const { frames } = vectors.find(({ name }) => name === `${release}/disconnect-broker-on-shutdown`)!;
      const decoded = decodeNfpAtWorker(frames);
      expect(decoded).toMatchObject({ kind: 'broker-disconnect', service: 'filesharing', body: [] });
      if (decoded.kind !== 'broker-disconnect') return;
      const [empty, header, service, command] = toHex(frames);
      expect(toHex(encodeNfp(decoded))).toEqual([empty, header, command, service]);
    },
  );
});

describe('bodies of golden vectors', () => {
  const calls = vectors.flatMap(({ name, frames }) => {
    const decoded = decodeNfpAtBroker(frames);
    return decoded.kind === 'client-call' ? [{ name, decoded }] : [];
  });
  const answers = vectors.flatMap(({ name, frames }) => {
    const decoded = decodeNfpAtClient(frames);
    return decoded.kind === 'client-answer' ? [{ name, decoded }] : [];
  });

  test.each(calls.filter(({ name }) => /(post|get|request)/.test(name) && !/one-byte/.test(name)))(
    '$name is a task',
    ({ decoded }) => {
      expect(decodeNfpTask(decoded.body)).toMatchObject({ task: expect.any(String) as string });
    },
  );

  test.each(answers)('$name is the broker’s if it says so', ({ name, decoded }) => {
    const dispatch = decodeNfpDispatch(decoded.body);
    expect(dispatch?.status).toBe(name.endsWith('202-dispatched') ? 'DISPATCHED' : undefined);
    if (dispatch !== undefined) expect(dispatch).toMatchObject({ uuid: decoded.uuid, service: decoded.service });
  });

  test.each(calls)('$name has a target', ({ decoded }) => {
    expect(parseNfpTarget(decoded.target)).toBeDefined();
  });

  test('OPEN with an empty object says nothing, which is legal', () => {
    const { frames } = vectors.find(({ name }) => name === 'seed/open-client')!;
    const decoded = decodeNfpAtBroker(frames);
    expect(decoded.kind === 'client-open' && decodeNfpOpenInfo(decoded.body)).toBeUndefined();
  });
});
