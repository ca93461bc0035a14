/** Paranoid Pirate in proj-worker. */
import { bindEndpoints } from '@proj/appkit';
import type { Service } from '@proj/frames/service';
import { PppWorker } from '@proj/worker';
import type { PppWorkerOptions } from '@proj/worker';
import { pppWorkerOptions } from '@proj/worker/ppp';
import * as z from 'zod';
import type { Implementation } from '../handlers/implementation.js';
import { commonOptions, offersByService, usualIn } from '../protocol.js';
import type { Protocol } from '../protocol.js';

const options = z.strictObject({
  bind: bindEndpoints()
    .optional()
    .describe('ppp: endpoints to bind instead of --connect, one per unit of --concurrency, for a queue that connects'),
});

/** The PPP part of proj-worker, where a service only chooses the handler. */
export const ppp: Protocol<typeof options> = {
  title: 'Paranoid Pirate',
  usual: usualIn(['tcp://127.0.0.1:5557'], pppWorkerOptions.in.shape),
  options,
  examples: [
    { what: 'Paranoid Pirate, where the service only chooses the handler', line: '--protocol ppp --service sha256' },
  ],
  *refusals({ bind, connect, service }, isChosen) {
    if (bind !== undefined && !isChosen) yield ['bind', 'needs --protocol ppp: other workers connect'];
    if (bind !== undefined && connect !== undefined) yield ['bind', 'must not be given together with --connect'];
    if (isChosen && service.length !== 1)
      yield ['service', 'must be a single name with --protocol ppp, which has no services and would mix them up'];
  },
  offers(settings, surroundings) {
    const { bind, connect = [...ppp.usual.endpoints] } = settings;
    const common = {
      ...commonOptions(settings),
      ...(bind === undefined ? { endpoints: connect } : { bind }),
      transport: surroundings.transport,
    };
    return offersByService(settings, surroundings, (service, implementation) =>
      construct(service, implementation, common),
    );
  },
};

function construct(
  service: string,
  implementation: Implementation,
  options: Omit<PppWorkerOptions, 'service' | 'handler'>,
): Pick<PppWorker, 'on' | 'start' | 'drain' | 'stats'> {
  if (implementation.kind === 'frames') return new PppWorker({ ...options, handler: implementation.handle });
  const { define, handle } = implementation;
  return new PppWorker<Service>({
    ...options,
    service: define(service),
    handler: ({ input }) => handle(input as never),
  });
}
