/** Paranoid Pirate in proj-worker. */
import type { Service } from '@proj/frames/service';
import { PppWorker } from '@proj/worker';
import type { PppWorkerOptions } from '@proj/worker';
import type { Implementation } from '../handlers/implementation.js';
import { commonOptions, offersByService } from '../protocol.js';
import type { Protocol } from '../protocol.js';

/** The PPP part of proj-worker, where a service only chooses the handler. */
export const ppp: Protocol = {
  endpoints: ['tcp://127.0.0.1:5557'],
  offers(settings, surroundings) {
    const { bind, connect } = settings;
    const options = {
      ...commonOptions(settings),
      ...(bind === undefined ? { endpoints: connect ?? [...ppp.endpoints] } : { bind }),
      transport: surroundings.transport,
    };
    return offersByService(settings, surroundings, (service, implementation) =>
      construct(service, implementation, options),
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
