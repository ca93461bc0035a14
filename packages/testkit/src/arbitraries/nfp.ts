/** NFP commands. Repeats the shapes of `@proj/frames/nfp`, because testkit depends on no package. */
import fc from 'fast-check';
import { body, routingId } from './frames.js';

const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const form = fc.constantFrom('ascii' as const, 'byte' as const);
const header = fc.constantFrom('NFPB01' as const, 'NFPC01' as const, 'NFPW01' as const);
const call = fc.constantFrom('post' as const, 'get' as const, 'delete' as const, 'put' as const, 'mmi' as const);
const answer = fc.constantFrom('response' as const, 'event' as const, 'stream' as const, 'mmi' as const);
const perhapsBody = fc.oneof(fc.constant([]), body());

const printable = fc
  .array(fc.integer({ min: 0x20, max: 0x7e }), { minLength: 1, maxLength: 255, size: 'max' })
  .map((codes) => String.fromCharCode(...codes));

/** A valid service, worker name or uuid: mostly short, from 1 to 255 bytes, sometimes beyond ASCII. */
export const nfpName = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('sample', 'mmi.service.broker', '0x03', 'é', '網', '\ufeffx', ' ') },
  { weight: 2, arbitrary: printable },
);

/** A valid target. */
export const nfpTarget = fc.oneof(
  fc.constantFrom('', 'all', 'any', '["w1", "w2"]', 'w1,w2', '[broken', '\n'),
  fc.string({ maxLength: 12, unit: 'grapheme' }),
);

const status = fc.oneof(fc.constantFrom(200, 201, 202, 300, 400, 404), fc.integer({ min: 0, max: 999 }));
const statusText = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('', 'OK', '\u00ff\u0000') },
);
const nameOrEmpty = fc.oneof(fc.constant(''), nfpName);

/** An answer with these fields. Like decoders, it omits the text of a status without one. */
function answered<Fields extends object>(fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> }) {
  const ends = fc.record({ form, status, statusText, body: body() });
  return fc.tuple(fc.record(fields), ends).map(([own, { statusText: text, ...rest }]) => ({
    ...own,
    ...rest,
    ...(text === undefined ? {} : { statusText: text }),
  }));
}

/** What a client sends. */
export const nfpFromClient = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: kind('client-open'), form, body: body() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kind('client-call'),
      form,
      command: call,
      service: nfpName,
      target: nfpTarget,
      uuid: nfpName,
      body: body(),
    }),
  },
);

/** What a worker sends. */
export const nfpFromWorker = fc.oneof(
  fc.record({ kind: kind('worker-open'), form, body: body() }),
  fc.record({ kind: fc.constantFrom('worker-ready' as const, 'worker-keepalive' as const), form, service: nfpName }),
  fc.record({ kind: kind('worker-disconnect'), form, service: nfpName, body: perhapsBody }),
  answered({ kind: kind('worker-answer'), command: answer, client: routingId, uuid: nfpName }),
  answered({ kind: kind('worker-table-answer'), command: answer, service: nfpName, uuid: nfpName }),
);

const nfpBrokerOpen = fc.record({ kind: kind('broker-open'), form, header, body: body() });

const ownServices = ['mmi.service.broker', 'sid.service.broker', 'fss.service.broker'] as const;

/** What a worker receives. An MMI is an answer if it names one of the broker's own services, and otherwise a call. */
export const nfpToWorker = fc.oneof(
  nfpBrokerOpen,
  fc.record({ kind: kind('broker-keepalive'), form, header, service: nfpName }),
  fc.record({
    kind: kind('broker-disconnect'),
    form,
    header,
    service: nameOrEmpty,
    body: perhapsBody,
  }),
  fc.record({
    kind: kind('worker-call'),
    form,
    header,
    command: call,
    client: routingId,
    uuid: nfpName,
    body: body(),
  }),
  fc.record({
    kind: kind('worker-table-call'),
    form,
    header,
    command: call,
    service: nfpName.filter((name) => !ownServices.some((own) => own === name)),
    target: nfpTarget.filter((target) => target !== ''),
    uuid: nfpName,
    body: body(),
  }),
  answered({
    kind: kind('client-answer'),
    header,
    command: fc.constantFrom('response' as const, 'event' as const, 'stream' as const),
    service: nameOrEmpty,
    uuid: nameOrEmpty,
  }),
  answered({
    kind: kind('client-answer'),
    header,
    command: kind('mmi'),
    service: fc.constantFrom(...ownServices),
    uuid: nfpName,
  }),
);

/** What a client receives. */
export const nfpToClient = fc.oneof(
  { weight: 1, arbitrary: nfpBrokerOpen },
  {
    weight: 4,
    arbitrary: answered({
      kind: kind('client-answer'),
      header,
      command: answer,
      service: nameOrEmpty,
      uuid: nameOrEmpty,
    }),
  },
);

/** What a broker receives. */
export const nfpToBroker = fc.oneof(nfpFromClient, nfpFromWorker);

/** Every command. */
export const nfpCommand = fc.oneof(nfpToBroker, nfpToWorker, nfpToClient);
