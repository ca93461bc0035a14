/** Majordomo 0.2 and 0.1 in proj-worker. */
import type { Service } from '@proj/frames/service';
import { MdpWorker } from '@proj/worker';
import type { MdpWorkerOptions } from '@proj/worker';
import type { Implementation } from '../handlers/implementation.js';
import { commonOptions, offersByService } from '../protocol.js';
import type { Protocol } from '../protocol.js';

/** The Majordomo part of proj-worker. */
export const mdp: Protocol = {
  endpoints: ['tcp://127.0.0.1:5555'],
  offers(settings, surroundings) {
    const options = {
      ...commonOptions(settings),
      endpoints: settings.connect ?? [...mdp.endpoints],
      version: settings.protocol === 'mdp01' ? '0.1' : '0.2',
      transport: surroundings.transport,
    } as const;
    return offersByService(settings, surroundings, (service, implementation) =>
      construct(service, implementation, options),
    );
  },
};

function construct(
  service: string,
  implementation: Implementation,
  options: Omit<MdpWorkerOptions, 'service' | 'handler'>,
): Pick<MdpWorker, 'on' | 'start' | 'drain' | 'stats'> {
  if (implementation.kind === 'frames') return new MdpWorker({ ...options, service, handler: implementation.handle });
  const { define, handle } = implementation;
  return new MdpWorker<Service>({
    ...options,
    service: define(service),
    handler: ({ input }) => handle(input as never),
  });
}
