/** Bytes of real peers: what each recorded message means, and that we write the same bytes for the same meaning. */
import { framesOf, loadVectors, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { decodeMdpAtBroker, decodeMdpAtClient, decodeMdpAtWorker, decodeMmiReply, encodeMdp } from './index.js';
import type { MdpCommand, MdpMalformedReason, MmiReply } from './index.js';

const request = (version: '0.1' | '0.2', service: string, ...body: string[]): MdpCommand => ({
  kind: 'client-request',
  version,
  service,
  body: framesOf(...body),
});
const final = (version: '0.1' | '0.2', service: string, ...body: string[]): MdpCommand => ({
  kind: 'client-final',
  version,
  service,
  body: framesOf(...body),
});
const atWorker = (client: string, ...body: string[]): MdpCommand => ({
  kind: 'worker-request',
  version: '0.2',
  client: framesOf(client)[0]!,
  body: framesOf(...body),
});
const fromWorker = (
  kind: 'worker-partial' | 'worker-final',
  version: '0.1' | '0.2',
  client: string,
  ...body: string[]
): MdpCommand => ({ kind, version, client: framesOf(client)[0]!, body: framesOf(...body) }) as MdpCommand;
const bad = (side: 'client' | 'worker' | 'unknown', reason: MdpMalformedReason) =>
  ({ kind: 'malformed', reason, side }) as const;
const UNKNOWN = bad('unknown', 'unknown-header');

/** How a strict decoder of the receiving role reads each vector. A vector that is not listed fails. */
const STRICT: Record<string, MdpCommand | ReturnType<typeof bad>> = {
  mdp01_client_reply: final('0.1', 'echo', 'Hello', 'two'),
  mdp01_worker_ready: { kind: 'worker-ready', version: '0.1', service: 'echo' },
  // The Guide's worker keeps one address; for us, as for every broker, its second one is body.
  mdp01_worker_reply_two_addresses: fromWorker('worker-final', '0.1', 'hopA', 'hopB', '', 'Hello'),
  mdp01_worker_heartbeat: { kind: 'heartbeat', version: '0.1' },
  mdp01_broker_heartbeat: { kind: 'heartbeat', version: '0.1' },
  mdp01_worker_disconnect: { kind: 'disconnect', version: '0.1' },
  mdp01_broker_disconnect: { kind: 'disconnect', version: '0.1' },
  mdp02_client_request: request('0.2', 'echo', 'Hello'),
  mdp02_client_partial: { kind: 'client-partial', version: '0.2', service: 'echo', body: framesOf('P1') },
  mdp02_client_final: final('0.2', 'echo', 'F1'),
  mdp02_client_final_two_frames: final('0.2', 'echo', 'F1', 'F2'),
  mdp02_worker_ready: { kind: 'worker-ready', version: '0.2', service: 'echo' },
  mdp02_worker_request: atWorker('CLI01', 'Hello', 'two'),
  mdp02_worker_partial: fromWorker('worker-partial', '0.2', 'CLI1', 'P1'),
  mdp02_worker_final: fromWorker('worker-final', '0.2', 'CLI1', 'Hello'),
  mdp02_worker_heartbeat: { kind: 'heartbeat', version: '0.2' },
  mdp02_broker_heartbeat: { kind: 'heartbeat', version: '0.2' },
  mdp02_worker_disconnect: { kind: 'disconnect', version: '0.2' },

  mmi01_service_request: request('0.1', 'mmi.service', 'echo'),
  mmi01_service_200: final('0.1', 'mmi.service', '200'),
  mmi01_service_404: final('0.1', 'mmi.service', '404'),
  mmi01_service_two_body_frames: final('0.1', 'mmi.service', 'echo', '404'),
  // Valid; the broker must answer that the name is reserved.
  mmi01_ready_reserved: { kind: 'worker-ready', version: '0.1', service: 'mmi.evil' },
  mmi02_service_200: final('0.2', 'mmi.service', '200'),
  mmi02_service_404: final('0.2', 'mmi.service', '404'),
  mmi02_unknown_501: final('0.2', 'mmi.nosuch', '501'),

  tsp_request: request('0.1', 'titanic.request', 'echo', 'Hello world'),
  tsp_reply_300: final('0.1', 'titanic.reply', '300'),
  tsp_reply_200: final('0.1', 'titanic.reply', '200', 'Hello', 'world'),
  tsp_reply_400: final('0.1', 'titanic.reply', '400'),
  tsp_close: request('0.1', 'titanic.close', '0123456789ABCDEF0123456789ABCDEF'),
  tsp_close_200: final('0.1', 'titanic.close', '200'),

  majortomo_client_request: bad('client', 'leading-empty'),
  majortomo_client_partial: bad('client', 'leading-empty'),
  majortomo_client_final: bad('client', 'leading-empty'),
  majortomo_worker_ready: bad('worker', 'leading-empty'),
  majortomo_worker_request: bad('worker', 'leading-empty'),
  majortomo_worker_partial: bad('worker', 'leading-empty'),
  majortomo_worker_final: bad('worker', 'leading-empty'),
  majortomo_disconnect: bad('worker', 'leading-empty'),
  majordomo_zproto_client_request: UNKNOWN,
  majordomo_zproto_client_partial: UNKNOWN,
  majordomo_zproto_client_final: UNKNOWN,
  majordomo_zproto_worker_request: UNKNOWN,
  majordomo_zproto_heartbeat: UNKNOWN,
  majordomo_zproto_broker_disconnect: UNKNOWN,
  libmdp0x_client_request: UNKNOWN,
  libmdp0x_client_report: UNKNOWN,
  libmdp0x_client_nak: UNKNOWN,
  libmdp0x_worker_ready: UNKNOWN,
  libmdp0x_worker_report: UNKNOWN,
  libmdp0x_heartbeat: UNKNOWN,
  majordomo_tag02_client_reply: bad('client', 'leading-empty'),
  majordomo_tag02_worker_ready: bad('worker', 'leading-empty'),
  majordomo_tag02_worker_request: bad('worker', 'leading-empty'),
  majordomo_tag02_worker_final: bad('worker', 'leading-empty'),
  majordomo_tag02_worker_heartbeat: bad('worker', 'leading-empty'),
  // The name frame is missing, so the first body frame is in its place: a client drops it as another service's.
  rustydomo_client_final: final('0.2', 'World', ''),
  pigato_worker_ready: UNKNOWN,
  pigato_ready_ack: UNKNOWN,
  pigato_client_request: UNKNOWN,
  pigato_worker_request: UNKNOWN,
};

/** How a broker with `acceptLeadingEmpty` reads the messages that a strict one refuses for their first frame. */
const TOLERANT: Record<string, MdpCommand | ReturnType<typeof bad>> = {
  majortomo_client_request: bad('client', 'wrong-direction'),
  majortomo_worker_ready: { kind: 'worker-ready', version: '0.2', leadingEmpty: true, service: 'echo' },
  majortomo_worker_partial: {
    ...fromWorker('worker-partial', '0.2', 'CLI1', 'Hello', 'two'),
    leadingEmpty: true,
  },
  majortomo_worker_final: { ...fromWorker('worker-final', '0.2', 'CLI1', 'Hello', 'two'), leadingEmpty: true },
  majortomo_disconnect: { kind: 'disconnect', version: '0.2', leadingEmpty: true },
  // The numbers of 0.1 under the header of 0.2 mean something else; no dialect is emulated beyond the empty frame.
  majordomo_tag02_worker_ready: { kind: 'worker-ready', version: '0.2', leadingEmpty: true, service: 'echo' },
  majordomo_tag02_worker_final: { ...fromWorker('worker-partial', '0.2', 'CLI1', 'Hello'), leadingEmpty: true },
  majordomo_tag02_worker_heartbeat: bad('worker', 'envelope'),
};

/** What the answers of 8/MMI say, by the service that gave them. */
const MMI_ANSWERS: Record<string, MmiReply<never> | undefined> = {
  mmi01_service_200: { code: '200', entries: [] },
  mmi01_service_404: { code: '404', entries: [] },
  // The Guide's broker echoes the argument in front of the code: no code in the first frame, no answer.
  mmi01_service_two_body_frames: undefined,
  mmi02_service_200: { code: '200', entries: [] },
  mmi02_service_404: { code: '404', entries: [] },
  mmi02_unknown_501: { code: '501', entries: [] },
};

const DECODERS: Record<
  string,
  readonly ((
    frames: readonly Uint8Array[],
  ) => ReturnType<typeof decodeMdpAtBroker | typeof decodeMdpAtClient | typeof decodeMdpAtWorker>)[]
> = {
  'client->broker': [decodeMdpAtBroker],
  'worker->broker': [decodeMdpAtBroker],
  'broker->client': [decodeMdpAtClient],
  'broker->worker': [decodeMdpAtWorker],
  both: [decodeMdpAtBroker, decodeMdpAtWorker],
};

const vectors = loadVectors('mdp');

describe('golden vectors', () => {
  test('every vector has an expectation and every expectation a vector', () => {
    expect(Object.keys(STRICT).sort()).toEqual(vectors.map((vector) => vector.name).sort());
  });

  test.each(vectors)('$name at $direction', ({ name, direction, frames }) => {
    const decoders = DECODERS[direction];
    expect(decoders).toBeDefined();
    for (const decode of decoders ?? []) {
      const decoded = decode(frames);
      expect(decoded).toEqual(STRICT[name]);
      if (decoded.kind !== 'malformed') expect(toHex(encodeMdp(decoded))).toEqual(toHex(frames));
    }
  });

  test.each(Object.entries(TOLERANT))('%s at a broker that accepts a leading empty frame', (name, expected) => {
    const frames = vectors.find((vector) => vector.name === name)?.frames ?? [];
    const decoded = decodeMdpAtBroker(frames, { acceptLeadingEmpty: true });
    expect(decoded).toEqual(expected);
    if (decoded.kind !== 'malformed') expect(toHex(encodeMdp(decoded))).toEqual(toHex(frames));
  });

  test.each(Object.entries(MMI_ANSWERS))('%s as an answer of mmi.service', (name, expected) => {
    const decoded = decodeMdpAtClient(vectors.find((vector) => vector.name === name)?.frames ?? []);
    expect(decoded.kind).toBe('client-final');
    if (decoded.kind === 'client-final') expect(decodeMmiReply('mmi.service', decoded.body)).toEqual(expected);
  });
});
