/** Majordomo commands. Repeats the shapes of `@proj/frames/mdp`, because testkit depends on no package. */
import fc from 'fast-check';
import { body, routingId } from './frames.js';

const version = fc.constantFrom('0.1' as const, '0.2' as const);
const only02 = fc.constant('0.2' as const);
const kind = <Kind extends string>(name: Kind) => fc.constant(name);

/** A valid service name: mostly short, from 1 to 255 characters. */
export const mdpServiceName = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('echo', 'sum', 'mmi.service', ' ', '~') },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.integer({ min: 0x20, max: 0x7e }), { minLength: 1, maxLength: 255, size: 'max' })
      .map((codes) => String.fromCharCode(...codes)),
  },
);

/** What a client sends. */
export const mdpClientRequest = fc.record({
  kind: kind('client-request'),
  version,
  service: mdpServiceName,
  body: body(),
});

/** What a client receives. */
export const mdpToClient = fc.oneof(
  fc.record({ kind: kind('client-partial'), version: only02, service: mdpServiceName, body: body() }),
  fc.record({ kind: kind('client-final'), version, service: mdpServiceName, body: body() }),
);

const bothWays = fc.record({ kind: fc.constantFrom('heartbeat' as const, 'disconnect' as const), version });

/** What a worker receives. */
export const mdpToWorker = fc.oneof(
  fc.record({ kind: kind('worker-request'), version, client: routingId, body: body() }),
  bothWays,
);

/** What a broker receives from workers. */
export const mdpFromWorker = fc.oneof(
  fc.record({ kind: kind('worker-ready'), version, service: mdpServiceName }),
  fc.record({ kind: kind('worker-partial'), version: only02, client: routingId, body: body() }),
  fc.record({ kind: kind('worker-final'), version, client: routingId, body: body() }),
  bothWays,
);

/** What a broker receives. */
export const mdpToBroker = fc.oneof(mdpClientRequest, mdpFromWorker);

/** Every command. */
export const mdpCommand = fc.oneof(mdpToBroker, mdpToClient, mdpToWorker);
