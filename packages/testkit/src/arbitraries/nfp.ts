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

const status = {
  status: fc.oneof(fc.constantFrom(200, 201, 202, 300, 400, 404), fc.integer({ min: 0, max: 999 })),
};
const statusText = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('', 'OK', '\u00ff\u0000') },
);

/** Omits the text of a command without one, as decoders do. */
function withText<Command extends { statusText: string | undefined }>(command: fc.Arbitrary<Command>) {
  return command.map(({ statusText: text, ...rest }) => (text === undefined ? rest : { ...rest, statusText: text }));
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
  withText(
    fc.record({
      kind: kind('worker-answer'),
      form,
      command: answer,
      client: routingId,
      uuid: nfpName,
      ...status,
      statusText,
      body: body(),
    }),
  ),
  withText(
    fc.record({
      kind: kind('worker-table-answer'),
      form,
      command: answer,
      service: nfpName,
      uuid: nfpName,
      ...status,
      statusText,
      body: body(),
    }),
  ),
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
    service: fc.oneof(fc.constant(''), nfpName),
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
  withText(
    fc.record({
      kind: kind('client-answer'),
      form,
      header,
      command: fc.constantFrom('response' as const, 'event' as const, 'stream' as const),
      service: fc.oneof(fc.constant(''), nfpName),
      uuid: fc.oneof(fc.constant(''), nfpName),
      ...status,
      statusText,
      body: body(),
    }),
  ),
  withText(
    fc.record({
      kind: kind('client-answer'),
      form,
      header,
      command: kind('mmi'),
      service: fc.constantFrom(...ownServices),
      uuid: nfpName,
      ...status,
      statusText,
      body: body(),
    }),
  ),
);

/** What a client receives. */
export const nfpToClient = fc.oneof(
  { weight: 1, arbitrary: nfpBrokerOpen },
  {
    weight: 4,
    arbitrary: withText(
      fc.record({
        kind: kind('client-answer'),
        form,
        header,
        command: answer,
        service: fc.oneof(fc.constant(''), nfpName),
        uuid: fc.oneof(fc.constant(''), nfpName),
        ...status,
        statusText,
        body: body(),
      }),
    ),
  },
);

/** What a broker receives. */
export const nfpToBroker = fc.oneof(nfpFromClient, nfpFromWorker);

/** Every command. */
export const nfpCommand = fc.oneof(nfpToBroker, nfpToWorker, nfpToClient);
