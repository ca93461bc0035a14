/** Paranoid Pirate commands. Repeats the shapes of `@proj/frames/ppp`, because testkit depends on no package. */
import fc from 'fast-check';
import { body, routingId } from './frames.js';

const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const addresses = fc.array(routingId, { minLength: 1, maxLength: 4 });
const hops = fc.array(routingId, { maxLength: 3 });
/** A message that may go without an address stack: no frame is empty, and it is not a single control byte. */
const bare = fc
  .array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 4 })
  .filter((content) => content.length > 1 || content[0]?.length !== 1 || (content[0][0] ?? 0) > 2);

/** What a queue or dispatcher receives from workers. */
export const pppToQueue = fc.oneof(
  fc.record({ kind: fc.constantFrom('ready' as const, 'heartbeat' as const) }),
  fc.record({ kind: kind('reply'), addresses, content: body() }),
);

/** What a worker receives. */
export const pppToWorker = fc.oneof(
  fc.record({ kind: kind('heartbeat') }),
  fc.record({ kind: kind('request'), addresses: fc.array(routingId, { maxLength: 4 }), content: body() }),
  fc.record({ kind: kind('request'), addresses: fc.constant(undefined), content: bare }),
);

/** What a queue receives on its frontend. */
export const pppClientRequest = fc.oneof(
  fc.record({ kind: kind('client-request'), hops, content: body() }),
  fc.record({ kind: kind('client-request'), hops: fc.constant(undefined), content: bare }),
);

/** What a client receives. */
export const pppClientReply = fc.record({ kind: kind('client-reply'), hops, content: body() });

/** Every command. */
export const pppCommand = fc.oneof(pppToQueue, pppToWorker, pppClientRequest, pppClientReply);
